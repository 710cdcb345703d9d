package chaptertest

import "example.com/byhand/kit/crd"

// Definition, ReadDefinition and CompareSchema are the core's.
type Definition = crd.Definition

var (
	ReadDefinition = crd.Read
	CompareSchema  = crd.Compare
)
