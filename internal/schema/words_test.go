package schema

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readingPath is what the README tells people to read, in its order.
var readingPath = slices.Concat(
	[]string{"README.md", "config/crd/foos.samplecontroller.k8s.io.yaml"},
	in("api/examples-gzh.com/v1alpha1", "doc.go", "types.go", "deepcopy.go", "register.go", "applyconfiguration/doc.go", "applyconfiguration/project.go"),
	in("api/samplecontroller.k8s.io/v1alpha1", "doc.go", "types.go", "deepcopy.go", "register.go", "applyconfiguration/doc.go", "applyconfiguration/foo.go"),
	in("clientset", "doc.go", "scheme.go", "clientset.go", "project.go", "foo.go", "fake/doc.go", "fake/clientset.go", "fake/project.go", "fake/foo.go"),
	in("informer", "doc.go", "foo.go", "informer.go", "project.go", "deployment.go"),
	in("controller", "doc.go", "handlers.go", "queue.go", "controller.go", "foo.go", "deployment.go", "status.go", "rename.go", "readyourwrites.go", "takeover.go", "priority.go"),
	[]string{"informer/progress.go", "main.go"},
)

func in(folder string, files ...string) (paths []string) {
	for _, file := range files {
		paths = append(paths, folder+"/"+file)
	}
	return paths
}

// words are those that a newcomer does not know: how each looks in a text, and where it is
// explained, in which words.
var words = []struct{ use, file, explained string }{
	// The objects.
	{`[Oo]bjects?`, "README.md", "An **object** is"},
	{`[Cc]ontrollers?`, "README.md", "A controller is a program"},
	{`[Cc]lusters?`, "README.md", "a cluster of machines"},
	{`namespaces?`, "README.md", "A **namespace** is"},
	{`kinds?`, "README.md", "The **kind** of an object is"},
	{`resources?`, "README.md", "A **resource** is"},
	{`groups?`, "README.md", "an API **group**"},
	{`versions?`, "README.md", "in a **version**"},
	{`spec`, "README.md", "The **spec** of an object says"},
	{`status`, "README.md", "Its **status** says"},
	{`[Rr]econciles?`, "README.md", "is a **reconcile**"},
	{`Pods?`, "README.md", "A **Pod** is"},
	{`[Nn]odes?`, "README.md", "a **node**, a machine"},
	{`[Rr]eplicas?`, "README.md", "**Replicas** are"},
	{`Deployments?`, "README.md", "A **Deployment** is"},
	{`CRDs?|CustomResourceDefinitions?`, "README.md", "A **CRD** (CustomResourceDefinition) is"},
	{`Foos?`, "README.md", "**Foo**, which asks for a Deployment"},
	{`Projects?`, "README.md", "**Project**, which nothing acts on"},
	{`control plane`, "README.md", "The **control plane** is"},
	{`kubectl`, "README.md", "**kubectl** is the command"},
	{`kubeconfigs?`, "README.md", "A **kubeconfig** is"},
	{`[Ll]abels?`, "README.md", "**Labels** and **annotations** are"},
	{`[Aa]nnotations?`, "README.md", "**Labels** and **annotations** are"},
	{`[Ss]electors?`, "README.md", "A **selector** finds"},
	{`UIDs?`, "README.md", "The **UID** of an object is"},
	{`owner references?`, "README.md", "An **owner reference** in an object names"},
	{`garbage collector`, "README.md", "The **garbage collector** is"},
	{`finalizers?`, "README.md", "A **finalizer** is"},
	{`deletionTimestamp`, "README.md", "stays, with a `deletionTimestamp`, until"},
	{`resourceVersions?`, "README.md", "The **resourceVersion** of an object is"},
	{`generations?`, "README.md", "The **generation** counts"},
	{`[Cc]onditions?`, "README.md", "A **condition** is"},
	{`events?`, "README.md", "An **event** is"},
	{`Events?`, "README.md", "An **Event** with a capital letter is"},
	{`quotas?`, "README.md", "A **quota** limits"},
	{`[Ww]ebhooks?`, "README.md", "A **webhook** is"},
	{`Leases?`, "README.md", "A **Lease** is"},
	// The parts.
	{`Reflectors?`, "README.md", "A Reflector lists all objects"},
	{`(a|each|the|next) watch`, "README.md", "the server sends each change: a watch"},
	{`FIFO`, "README.md", "a FIFO (first in, first out)"},
	{`[Rr]elists?`, "README.md", "lists again: a relist"},
	{`the store|Stores?`, "README.md", "**Store**: The objects in memory"},
	{`[Hh]andlers?`, "README.md", "**Handler**: Called after"},
	{`keys?`, "README.md", "the key of the Foo to reconcile, its namespace and name"},
	{`[Rr]esyncs?`, "README.md", "without a request: a resync"},
	{`[Ww]orkers?`, "README.md", "a worker, a goroutine that"},
	{`Conflict`, "README.md", "refuses it with 409 Conflict"},
	{`[Ii]nformers?`, "README.md", "together are an **informer**"},
	{`[Ii]ndexers?`, "README.md", "An **indexer** is"},
	{`level-triggered`, "README.md", "The reconcile is level-triggered: it compares"},
	// What one package needs.
	{`subresources?`, "config/crd/foos.samplecontroller.k8s.io.yaml", "A subresource is a URL"},
	{`[Aa]utoscalers?`, "config/crd/foos.samplecontroller.k8s.io.yaml", "An autoscaler (a program"},
	{`[Ss]chemes?`, "api/examples-gzh.com/v1alpha1/doc.go", "A scheme is a table"},
	{`custom resources?`, "api/examples-gzh.com/v1alpha1/types.go", "custom resource (an object of"},
	{`TypeMeta`, "api/examples-gzh.com/v1alpha1/types.go", "TypeMeta holds"},
	{`ObjectMeta`, "api/examples-gzh.com/v1alpha1/types.go", "ObjectMeta holds"},
	{`json:""`, "api/examples-gzh.com/v1alpha1/types.go", "The tag `json:\"\"` gives"},
	{`new\(\*\w+`, "api/samplecontroller.k8s.io/v1alpha1/deepcopy.go", "new(value) is a"},
	{`[Cc]odecs?`, "clientset/scheme.go", "encoders and decoders (codecs)"},
	{`feature gates?`, "clientset/scheme.go", "A feature gate is"},
	{`CBOR`, "clientset/scheme.go", "CBOR, a binary form"},
	{`NegotiatedSerializer`, "clientset/clientset.go", "The NegotiatedSerializer gives"},
	{`WithoutConversion`, "clientset/clientset.go", "WithoutConversion: a server converts"},
	{`[Ss]trategic merge patch`, "clientset/project.go", "A strategic merge patch, which"},
	{`reactors?`, "clientset/fake/doc.go", "reactors (PrependReactor;"},
	{`[Ss]treaming list`, "informer/doc.go", "a streaming list: a watch that begins"},
	{`bookmarks?`, "informer/doc.go", "a bookmark, an event that"},
	{`tombstones?`, "informer/doc.go", "(a tombstone), by value"},
	{`[Ll]isters?`, "informer/doc.go", "A lister is"},
	{`SharedInformerFactory`, "informer/doc.go", "It makes one informer per kind and shares"},
	{`managedFields`, "informer/informer.go", "managedFields record who"},
	{`optimistic locking`, "controller/deployment.go", "That is optimistic locking"},
	{`equality\.Semantic`, "controller/status.go", "reflect.DeepEqual, except that"},
	{`isInInitialList`, "controller/priority.go", "isInInitialList true for each object"},
}

// Each word is explained where the reading path first uses it, or before: in the same
// paragraph at the latest.
func TestWordsAreExplained(t *testing.T) {
	type paragraph struct{ file, text string }
	var paragraphs []paragraph
	for _, file := range readingPath {
		for _, text := range paragraphsOf(file, contents(t, file)) {
			paragraphs = append(paragraphs, paragraph{file, text})
		}
	}
	for _, word := range words {
		use := regexp.MustCompile(`\b(` + word.use + `)(\W|$)`)
		first := slices.IndexFunc(paragraphs, func(p paragraph) bool {
			if p.file == "README.md" {
				p.text = names.ReplaceAllString(p.text, "")
			}
			return use.MatchString(p.text)
		})
		explained := slices.IndexFunc(paragraphs, func(p paragraph) bool {
			return p.file == word.file && strings.Contains(p.text, word.explained)
		})
		switch {
		case first < 0:
			t.Errorf("nothing on the reading path uses %s: remove its row", word.use)
		case explained < 0:
			t.Errorf("%s does not explain %s: it has no %q", word.file, word.use, word.explained)
		case explained > first:
			t.Errorf("%s is explained in %s, but used before that in %s:\n%s", word.use, word.file, paragraphs[first].file, paragraphs[first].text)
		}
	}
}

var (
	fence = regexp.MustCompile("(?ms)^```.*?^```$")
	// names are files and flags in the README, and where its links lead.
	names = regexp.MustCompile("`[^`]*`|\\]\\([^)]*\\)")
	// endOfLine is what stands between two lines of a comment, too.
	endOfLine = regexp.MustCompile(`\n\s*(//|#)?[ \t]*`)
	blankLine = regexp.MustCompile(`\n[ \t]*(//|#)?[ \t]*\n`)
)

// paragraphsOf returns the paragraphs of a file, each as one line. In the README, whose
// blocks of code are left out, they are the lines.
func paragraphsOf(file, text string) []string {
	if file == "README.md" {
		return strings.Split(fence.ReplaceAllString(text, ""), "\n")
	}
	paragraphs := blankLine.Split(text, -1)
	for i, p := range paragraphs {
		paragraphs[i] = endOfLine.ReplaceAllString(p, " ")
	}
	return paragraphs
}

// Each file of the path's packages is on the path.
func TestReadingPathIsComplete(t *testing.T) {
	for _, folder := range []string{"api", "clientset", "informer", "controller"} {
		err := fs.WalkDir(os.DirFS("../.."), folder, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !slices.Contains(readingPath, path) {
				t.Errorf("%s is not in readingPath: add it where the README's order has it", path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var (
	part     = regexp.MustCompile(`(?s)name: '([^']+)',\n.*?about: \[\n(.*?)    \],`)
	sentence = regexp.MustCompile(`(?m)^      '(.*)',$`)
)

// The page says of each part what the README says, word for word.
func TestPageSaysWhatReadmeSays(t *testing.T) {
	_, readme, _ := strings.Cut(contents(t, "README.md"), "\n**The parts of the picture below**\n")
	readme, _, _ = strings.Cut(readme, "\n## ")
	parts := part.FindAllStringSubmatch(contents(t, "internal/page/static/parts.js"), -1)
	if items := strings.Count(readme, "\n- "); len(parts) != items {
		t.Errorf("parts.js has %d parts, the README has %d", len(parts), items)
	}
	for _, p := range parts {
		var about []string
		for _, s := range sentence.FindAllStringSubmatch(p[2], -1) {
			about = append(about, s[1])
		}
		if item := "\n- **" + p[1] + "**: " + strings.Join(about, " ") + "\n"; !strings.Contains(readme, item) {
			t.Errorf("README.md does not say what the page says:%s", item)
		}
	}
}

func contents(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
