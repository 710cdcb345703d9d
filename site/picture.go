package main

import (
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const pageFolder = "internal/page/static/"

// script is the code of the page that make run serves, in one file: from disk a browser
// loads no ES module. folder has a main.js around it and what stands in the place of feed.js,
// which asks a server for the steps. defined are the values of names.
func (b *builder) script(root, folder string, defined map[string]string) ([]byte, error) {
	known, err := json.Marshal(slices.Sorted(maps.Keys(b.found)))
	if err != nil {
		return nil, err
	}
	defined["readingPath"] = string(known)
	folder = filepath.Join(root, "site", folder)
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   []string{filepath.Join(folder, "main.js")},
		Define:        defined,
		Plugins:       []api.Plugin{swapped(filepath.Join(folder, "feed.js"))},
		Loader:        map[string]api.Loader{".json": api.LoaderText},
		Bundle:        true,
		Format:        api.FormatIIFE,
		Charset:       api.CharsetUTF8,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	return result.OutputFiles[0].Contents, nil
}

var (
	noscript = regexp.MustCompile(`(?s)<noscript>.*?</noscript>`)
	body     = regexp.MustCompile(`(?s)</header>(.*)</body>`)
)

// stage is what the page shows below its head: the picture, the controls, the panel and
// the tables.
func stage(files fs.FS) (template.HTML, error) {
	page, err := fs.ReadFile(files, pageFolder+"index.html")
	if err != nil {
		return "", err
	}
	found := body.FindSubmatch(page)
	if found == nil {
		return "", errors.New(pageFolder + "index.html has no header, or no end")
	}
	// It becomes a part of another document, which has a <main> of its own.
	part := strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(found[1]))
	return template.HTML(noscript.ReplaceAllString(part, "")), nil
}
