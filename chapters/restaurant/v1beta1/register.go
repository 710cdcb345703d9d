package v1beta1

import "k8s.io/apimachinery/pkg/runtime/schema"

// GroupName is the API group of the CustomResourceDefinitions in
// chapters/restaurant/config/crd.
const GroupName = "restaurant.programming-kubernetes.info"

// SchemeGroupVersion is the group and version of every kind in this package.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1beta1"}
