package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	playgroundPage = "playground.html"
	// parts is in how many scripts the program of the playground comes: each one that is
	// there moves the progress bar.
	parts = 12
)

// playground is the script of the playground's page: the same as that of the picture, with a
// feed that goes over from the recording to the program in the tab.
func (b *builder) playground(root string) ([]byte, error) {
	// From disk a browser starts no Worker from a file, so its code is a text here.
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	worker := ""
	for _, file := range []string{filepath.Join(strings.TrimSpace(string(goRoot)), "lib", "wasm", "wasm_exec.js"), filepath.Join(root, "site", "playground", "worker.js")} {
		code, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		worker += string(code)
	}
	text, err := json.Marshal(worker)
	if err != nil {
		return nil, err
	}
	return b.script(root, "playground", map[string]string{"workerCode": string(text), "parts": fmt.Sprint(parts)})
}

// program builds the program of the playground and returns its scripts, gzip in base64. From
// disk a browser reads nothing but scripts. It prints the size.
func program(root string) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "tab.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "./internal/playground/tab")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	fmt.Println("Building the playground's program, the first time a minute or two")
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w", build, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	// A buffer takes everything.
	_, _ = w.Write(content)
	_ = w.Close()
	fmt.Printf("The playground's program: %.1f MB, gzipped %.1f MB\n", float64(len(content))/1e6, float64(packed.Len())/1e6)
	scripts := map[string][]byte{}
	each := (packed.Len() + parts - 1) / parts
	for i := range parts {
		scripts[fmt.Sprintf("playground/part%d.js", i)] = []byte(`byhandPart("` + base64.StdEncoding.EncodeToString(packed.Next(each)) + "\")\n")
	}
	return scripts, nil
}

// writePlayground renders the page of the playground.
func (b *builder) writePlayground() error {
	stage, err := stage(b.files)
	if err != nil {
		return err
	}
	return b.put("playground", page{builder: b, At: playgroundPage, Title: "The playground", Lang: "en", Stage: stage})
}

// inBoth is a text in both languages. The page shows one.
func inBoth(en, zh string) template.HTML {
	return template.HTML(fmt.Sprintf(`<span lang="en">%s</span><span lang="zh-CN">%s</span>`, en, zh))
}

// swapped puts another file in the place of the page's feed.js.
func swapped(feed string) api.Plugin {
	return api.Plugin{Name: "feed", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\./feed\.js$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: feed}, nil
		})
	}}
}
