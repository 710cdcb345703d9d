package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// parts is the number of scripts that the playground's program is divided into. Each moves the progress
// bar.
const parts = 24

// script bundles the scripts of tools/playground/web and of the page of make run. From disk a browser
// loads no ES module and starts no Worker, so the Worker's code is a string in the bundle.
func (b *builder) script(root string) ([]byte, error) {
	goRoot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	folder := filepath.Join(root, "tools", "playground", "web")
	worker := ""
	for _, file := range []string{filepath.Join(strings.TrimSpace(string(goRoot)), "lib", "wasm", "wasm_exec.js"), filepath.Join(folder, "worker.js")} {
		code, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		worker += string(code)
	}
	defined := map[string]string{"parts": fmt.Sprint(parts)}
	for name, value := range map[string]any{"workerCode": worker, "readingPath": slices.Sorted(maps.Keys(b.found))} {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		defined[name] = string(text)
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: root,
		EntryPoints:   []string{filepath.Join(folder, "main.js")},
		Define:        defined,
		Plugins:       []api.Plugin{swapped(filepath.Join(folder, "feed.js"))},
		Bundle:        true,
		Format:        api.FormatIIFE,
		Charset:       api.CharsetUTF8,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
	}
	return result.OutputFiles[0].Contents, nil
}

// program builds the playground's program, prints its size, and returns it as scripts, gzip in base64.
// From disk a browser can load only scripts.
func program(root string) (map[string][]byte, error) {
	folder, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "tab.wasm")
	workspace, err := slim(root, folder)
	if err != nil {
		return nil, err
	}
	// -l: without inlining the program is a seventh smaller.
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l", "-o", file, "./tools/playground/lab/tab")
	build.Dir, build.Stderr = root, os.Stderr
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOWORK="+workspace)
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
	// Writes to a bytes.Buffer cannot fail.
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

// ofGroup matches generated code of client-go for one API group, by the name of a group version: a
// line, a method or a part of one. The program needs five of some 60; leaving out the rest saves two
// fifths of its size.
var (
	ofGroup = regexp.MustCompile(`(?m)^.*\b[a-z]+v\d\w*(\.| "k8s).*\n(\treturn c\..*\n}\n|\tif err != nil {\n\t\treturn nil, err\n\t}\n)?`)
	needed  = regexp.MustCompile(`\b(appsv1|autoscalingv1|coordinationv1|corev1|eventsv1)\b`)
)

// slim copies client-go into the folder without the API groups that the program does not use. It
// returns a go.work that builds root with the copy.
func slim(root, folder string) (workspace string, err error) {
	list := exec.Command("go", "list", "-m", "-f", "{{.GoVersion}}\n{{.Dir}}", "example.com/byhand", "k8s.io/client-go")
	list.Dir = root
	listed, err := list.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", list, err)
	}
	lines := strings.Split(string(listed), "\n")
	version, original, copied := lines[0], lines[3], filepath.Join(folder, "client-go")
	if err := os.CopyFS(copied, os.DirFS(original)); err != nil {
		return "", err
	}
	for _, name := range []string{"clientset.go", "scheme/register.go"} {
		file := filepath.Join(copied, "kubernetes", name)
		code, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		code = ofGroup.ReplaceAllFunc(code, func(part []byte) []byte {
			if needed.Match(part) {
				return part
			}
			return nil
		})
		if err := os.WriteFile(file, code, 0o644); err != nil {
			return "", err
		}
	}
	workspace = filepath.Join(folder, "go.work")
	return workspace, errors.Join(
		// Coordinated leader election has informers for all groups.
		os.Remove(filepath.Join(copied, "tools", "leaderelection", "leasecandidate.go")),
		os.WriteFile(workspace, fmt.Appendf(nil, "go %s\nuse %q\nreplace k8s.io/client-go => %q\n", version, root, copied), 0o644))
}

// writePlayground renders the first page.
func (b *builder) writePlayground() error {
	stage, err := stage(b.files)
	if err != nil {
		return err
	}
	lead, err := b.lead()
	if err != nil {
		return err
	}
	return b.put("playground", page{builder: b, At: home, Title: "How a Kubernetes controller really works", Stage: stage, Lead: lead,
		Description: "A real Kubernetes controller runs in this browser tab, with an API server in memory. Delete a Deployment, and see how the controller creates it again."})
}

// playground is tools/playground/lessons.json.
type playground struct {
	// A lesson sets a state up, asks, acts once, and shows the result after the picture has played the
	// step with the headline Ends.
	Lessons []struct {
		Title, Say, Setup, Question string
		Answers                     []string
		Right                       int
		Button, Act, Ends           string
		Seen, Keep, Why, Code       string
	}
	// Luck and Fault show a bug: the faults to turn on, and the commands. Now describes it to the
	// visitor.
	Bugs            []struct{ Name, What, Scenario, Code, Luck, Fault, Now string }
	Actions, Faults []struct {
		Do, Send, Button, What string
		Stays                  bool // until it is turned off
	}
}

func readPlayground(files fs.FS) (p playground, err error) {
	const file = "tools/playground/lessons.json"
	content, err := fs.ReadFile(files, file)
	if err != nil {
		return p, err
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// swapped replaces the page's feed.js.
func swapped(feed string) api.Plugin {
	return api.Plugin{Name: "feed", Setup: func(b api.PluginBuild) {
		b.OnResolve(api.OnResolveOptions{Filter: `^\./feed\.js$`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: feed}, nil
		})
	}}
}

const pageFolder = "internal/observe/page/static/"

var (
	noscript = regexp.MustCompile(`(?s)<noscript>.*?</noscript>`)
	body     = regexp.MustCompile(`(?s)</header>(.*)</body>`)
)

// stage returns the page below its header: the picture, the controls, the panel and the tables.
func stage(files fs.FS) (template.HTML, error) {
	page, err := fs.ReadFile(files, pageFolder+"index.html")
	if err != nil {
		return "", err
	}
	found := body.FindSubmatch(page)
	if found == nil {
		return "", errors.New(pageFolder + "index.html has no header, or no end")
	}
	// The document already has a <main>.
	part := strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(found[1]))
	return template.HTML(noscript.ReplaceAllString(part, "")), nil
}
