# make chapter-down runs this. The program removes its APIService when it exits. If it was killed,
# the APIService remains, and no namespace of the cluster can be deleted: the namespace controller
# cannot list its content.
set -e
kubectl delete apiservice --ignore-not-found v1beta1.aggregated.restaurant.programming-kubernetes.info
kubectl delete service --ignore-not-found -n default aggregated-restaurant
