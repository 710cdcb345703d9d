# make chapter-down runs this before it deletes the CRDs: the samples are not all of their kinds.
kubectl delete --ignore-not-found -f chapters/cache/config/samples/secrets.yaml
