// Package config has the definitions of our kinds for the API server in memory. Everything else
// in this folder is for a real one.
package config

import "embed"

// CRDs are the files of crd.
//
//go:embed crd/*.yaml
var CRDs embed.FS
