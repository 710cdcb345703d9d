// Command site writes the project's site: the controller in a browser tab, the documents, and the
// sources. These come in the order of the README's reading path, with their comments next to the code.
// See make site.
//
// The site is static files with relative links. They open from disk and from any web server, also in a
// subfolder, and load nothing from other hosts.
//
// It is a separate module, so that its Markdown and script libraries are not in the main go.mod. These
// are goldmark, and esbuild, since a browser loads no ES module from disk.
//
// # Basics
//
//   - site.go: the pages: the README, and the files that documents link.
//   - source.go, highlight.go: a source file as comments and code.
//   - markdown.go, links.go: a document of the repository as a page.
//   - playground.go: the first page, from tools/playground/lessons.json and the page of package
//     internal/observe/page, with the program itself in the tab (tools/playground/lab).
//
// # Limitations
//
//   - A file has a page if a document with a page links it. Translations, such as
//     docs/zh-CN/README.md, are documents, too.
//   - Nothing is deleted: old pages stay in the folder.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "../..", "the `folder` of the repository")
	out := flag.String("out", "", "the `folder` to write")
	source := flag.String("source", "", "`URL` below which others can read the repository's files; without it, files without a page are not links")
	url := flag.String("url", "", "`URL` at which the site stands; without it, a preview of a link may lack its picture")
	flag.Parse()
	if err := run(*root, *out, *source, *url); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out, source, url string) error {
	if out == "" {
		return fmt.Errorf("into which folder? -out FOLDER")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	files, err := build(root, os.DirFS(root), source, url)
	if err != nil {
		return err
	}
	scripts, err := program(root)
	if err != nil {
		return err
	}
	maps.Copy(files, scripts)
	for name, content := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d files; open %s\n", len(files), filepath.Join(out, "index.html"))
	return nil
}
