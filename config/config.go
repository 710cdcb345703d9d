// Package config holds the CustomResourceDefinitions, for Go programs.
package config

import "embed"

// CRDs holds crd/, one file a kind.
//
//go:embed crd/*.yaml
var CRDs embed.FS
