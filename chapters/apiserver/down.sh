# make chapter-down runs this. The program takes its APIService away when it ends. One that
# was killed leaves it, and then no namespace of the cluster can be deleted: the namespace
# controller cannot know what is in it.
set -e
kubectl delete apiservice --ignore-not-found v1beta1.aggregated.restaurant.programming-kubernetes.info
kubectl delete service --ignore-not-found -n default aggregated-restaurant
