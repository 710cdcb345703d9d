# make chapter-down runs this before it deletes the CRDs. The program takes away what it has
# registered when it ends. If it was killed, it could not: the API server asks a port where
# nothing answers, and refuses every Pizza that is created or changed. To remove a finalizer
# is a change, too, so a Pizza with one could not be deleted, and neither could its
# namespace, nor the CRD.
set -e
kubectl delete --ignore-not-found mutatingwebhookconfiguration/byhand-admission validatingwebhookconfiguration/byhand-admission
kubectl delete --ignore-not-found -f chapters/admission/config/places
