// The project's site, made from its sources: see main.go.
module example.com/byhand/tools/site

go 1.26.0

require (
	github.com/evanw/esbuild v0.28.2
	github.com/yuin/goldmark v1.8.7
)

require golang.org/x/sys v0.0.0-20220715151400-c0bba94af5f8 // indirect
