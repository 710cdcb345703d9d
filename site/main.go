// Command site writes the project's site: the picture with a recorded run, the sources
// in the order of the README's reading path, comment beside code, and what the README
// and the results say. See make site.
//
// What it writes are static files with relative links. They open from disk, and from
// any web space, in a folder of it as well, and ask no other host for anything.
//
// It is a module of its own, so that what reads Markdown and joins scripts is not in the
// go.mod that people read: goldmark, and esbuild, since a browser that opens a file from
// disk loads no ES module.
//
// # Basics
//
//   - site.go: which pages there are, in which languages.
//   - route.go: the reading path, followed through the README.
//   - source.go, highlight.go: a source file as comments and code.
//   - markdown.go, links.go: a document of the repository as a page.
//   - picture.go: the page of package internal/page, with a recording for a server.
//   - words.go: the site's own sentences, in each language.
//
// # Caveats
//
//   - A language is written if its README is there: README.zh-CN.md for Chinese. It has
//     the sections of README.md in the same order. Any other document may have a
//     translation beside it, too; without one it stays English, as the sources do.
//   - Nothing is deleted: a page that is no longer written stays in the folder.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "the `folder` of the repository")
	out := flag.String("out", "", "the `folder` to write")
	source := flag.String("source", "", "`URL` below which others can read the repository's files; without it, what has no page here is no link")
	flag.Parse()
	if err := run(*root, *out, *source); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out, source string) error {
	if out == "" {
		return fmt.Errorf("into which folder? -out FOLDER")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	files, err := build(root, os.DirFS(root), source)
	if err != nil {
		return err
	}
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
