package chaptertest

import "example.com/byhand/internal/testkit/crd"

// Definition, ReadDefinition and CompareSchema are the core's.
type Definition = crd.Definition

var (
	ReadDefinition = crd.Read
	CompareSchema  = crd.Compare
)
