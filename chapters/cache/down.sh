# make chapter-down runs this before it deletes the CRDs: some samples are Secrets.
kubectl delete --ignore-not-found -f chapters/cache/config/samples/secrets.yaml
