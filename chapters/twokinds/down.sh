# make chapter-down runs this before it deletes the CRDs, and with them each Team and each Foo.
kubectl delete --ignore-not-found -f chapters/twokinds/config/secret.yaml
