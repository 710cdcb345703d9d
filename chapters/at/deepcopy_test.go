package main

import "k8s.io/apimachinery/pkg/runtime"

// What a client sends and receives is a runtime.Object. TestKind compares copies and originals.
var _, _ runtime.Object = &At{}, &AtList{}
