package carry

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"net/http"
	"runtime"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	officialv1alpha1 "k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	official "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
)

// call writes a status through httpClient, in the way of one form.
type call func(ctx context.Context, config *rest.Config, httpClient *http.Client) error

func byHand(ctx context.Context, config *rest.Config, httpClient *http.Client) error {
	c, err := clientset.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "example-foo"}}
	_, err = c.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	return err
}

func generated(ctx context.Context, config *rest.Config, httpClient *http.Client) error {
	c, err := official.NewForConfigAndClient(config, httpClient)
	if err != nil {
		return err
	}
	foo := &officialv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "example-foo"}}
	_, err = c.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, foo, metav1.UpdateOptions{})
	return err
}

func framework(ctx context.Context, config *rest.Config, httpClient *http.Client) error {
	// Else it complains after half a minute that nobody gave it a logger.
	log.SetLogger(klog.Background())
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(v1alpha1.SchemeGroupVersion.WithKind("Foo"), meta.RESTScopeNamespace)
	c, err := client.New(config, client.Options{Scheme: clientset.Scheme, Mapper: mapper, HTTPClient: httpClient})
	if err != nil {
		return err
	}
	return c.Status().Update(ctx, &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example-foo"}})
}

// path is what lies between a typed client and net/http.
type path struct {
	functions []string // the caller first
	lines     int
}

// errCaught ends the call: the request goes nowhere.
var errCaught = errors.New("caught")

// stack is an http.RoundTripper that keeps the stack of the request.
type stack []runtime.Frame

// RoundTrip implements http.RoundTripper.
func (s *stack) RoundTrip(*http.Request) (*http.Response, error) {
	pcs := make([]uintptr, 256)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for {
		frame, more := frames.Next()
		*s = append(*s, frame)
		if !more {
			return nil, errCaught
		}
	}
}

// wire makes the form's call and returns the library's functions between the call and
// net/http.
func (f form) wire(ctx context.Context) (path, error) {
	var caught stack
	config := &rest.Config{Host: "http://127.0.0.1", QPS: -1}
	if err := f.call(ctx, config, &http.Client{Transport: &caught}); !errors.Is(err, errCaught) {
		return path{}, fmt.Errorf("write a status as %s does: %v, want the error of its transport", f.peer, err)
	}
	// From this package down to net/http.
	slices.Reverse(caught)
	var p path
	counted := map[string]bool{}
	for _, frame := range caught {
		pkg := packageOf(frame.Function)
		switch {
		case pkg == "net/http":
			return p, nil
		case !strings.Contains(pkg, ".") || f.isOwn(pkg) || pkg == packageOf(here()):
			continue
		}
		name, lines, err := enclosing(frame)
		if err != nil {
			return path{}, err
		}
		if !counted[name] {
			counted[name] = true
			p.functions = append(p.functions, name)
			p.lines += lines
		}
	}
	return path{}, fmt.Errorf("%s writes a status without net/http", f.peer)
}

func (f form) isOwn(pkg string) bool {
	return slices.ContainsFunc(f.own, func(module string) bool { return pkg == module || strings.HasPrefix(pkg, module+"/") })
}

// here returns the name of its caller.
func here() string {
	pc, _, _, _ := runtime.Caller(1)
	return runtime.FuncForPC(pc).Name()
}

// packageOf returns the import path in a function's name: up to the first dot behind
// the last slash that is not inside type arguments.
func packageOf(function string) string {
	function, _, _ = strings.Cut(function, "[")
	slash := strings.LastIndex(function, "/") + 1
	name, _, _ := strings.Cut(function[slash:], ".")
	return function[:slash] + name
}

// enclosing returns the declared function in which a frame is, with its length. A
// function literal belongs to the function that holds it.
func enclosing(frame runtime.Frame) (name string, lines int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, frame.File, nil, parser.SkipObjectResolution)
	if err != nil {
		return "", 0, fmt.Errorf("source of %s: %w", frame.Function, err)
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		first, last := files.Position(function.Pos()).Line, files.Position(function.End()).Line
		if frame.Line < first || last < frame.Line {
			continue
		}
		name = function.Name.Name
		if function.Recv != nil {
			name = "(" + types.ExprString(function.Recv.List[0].Type) + ")." + name
		}
		return packageOf(frame.Function) + "." + name, last - first + 1, nil
	}
	return "", 0, fmt.Errorf("no function at %s:%d", frame.File, frame.Line)
}
