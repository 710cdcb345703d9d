# make chapter-down runs this before it deletes the CRDs. A killed program leaves its registration:
# then the API server calls a closed port, and rejects every Pizza that is created or changed.
# Removing a finalizer is a change, too, so a Pizza with one could not be deleted, nor its
# namespace, nor the CRD.
set -e
kubectl delete --ignore-not-found mutatingwebhookconfiguration/byhand-admission validatingwebhookconfiguration/byhand-admission
kubectl delete --ignore-not-found -f chapters/admission/config/places
