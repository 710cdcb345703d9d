package main

import (
	"encoding/json"
	"errors"
	"html/template"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const pageFolder = "internal/page/static/"

// script is the code of the page that make run serves, in one file: from disk a browser
// loads no ES module. In the place of feed.js, which asks a server for the steps, stands
// one that has the recording. files are those that have a page here.
func script(root string, files []string) ([]byte, error) {
	known, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	recorded := api.Plugin{Name: "recorded", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\./feed\.js$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: filepath.Join(root, "site", "picture", "feed.js")}, nil
		})
	}}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   []string{"site/picture/main.js"},
		Define:        map[string]string{"readingPath": string(known)},
		Plugins:       []api.Plugin{recorded},
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
