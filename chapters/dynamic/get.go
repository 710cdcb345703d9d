package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
)

// get prints the objects for a word, or the one with a name: word → resources → requests →
// Unstructureds → rows.
func (p *program) get(ctx context.Context) error {
	verb := "list"
	switch {
	case p.watch:
		verb = "watch"
	case p.name != "":
		verb = "get"
	}
	resources, err := p.find(ctx, verb)
	if err != nil {
		return err
	}
	switch verb {
	case "watch":
		return p.getAndWatch(ctx, resources[0])
	case "get":
		object, err := p.client.Get(ctx, resources[0].GVR, p.namespaceFor(resources[0]), p.name)
		if err != nil {
			return err
		}
		return p.show(*object)
	}
	var all []unstructured.Unstructured
	for _, r := range resources {
		list, err := p.client.List(ctx, r.GVR, p.namespaceFor(r), metav1.ListOptions{})
		if err != nil {
			return err
		}
		all = append(all, list.Items...)
	}
	return p.show(all...)
}

// getAndWatch lists the existing objects, and watches from the list's version, so that it
// misses no change.
func (p *program) getAndWatch(ctx context.Context, r Resource) error {
	opts := metav1.ListOptions{}
	if p.name != "" {
		opts.FieldSelector = fields.OneTermEqualSelector("metadata.name", p.name).String()
	}
	namespace := p.namespaceFor(r)
	list, err := p.client.List(ctx, r.GVR, namespace, opts)
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		if err := p.showEvent(watch.Added, object); err != nil {
			return err
		}
	}
	opts.ResourceVersion = list.GetResourceVersion()
	events, err := p.client.Watch(ctx, r.GVR, namespace, opts)
	if err != nil {
		return err
	}
	defer events.Stop()
	p.steps.Printf("ready: watching %s (Ctrl-C stops)", r.GVR.GroupResource())
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			// The only other type is Status, for which the codec has a Go type. Usually its code is
			// 410: the server no longer has the version to watch from. An informer would relist.
			return fmt.Errorf("the watch has ended, start it again: %w", apierrors.FromObject(event.Object))
		}
		if err := p.showEvent(event.Type, *object); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		p.steps.Println("the server has ended the watch: start it again")
	}
	return nil
}

func (p *program) show(objects ...unstructured.Unstructured) error {
	rows := [][]string{{"KIND", "NAMESPACE", "NAME", "GENERATION", "CREATED"}}
	for _, object := range objects {
		cells, err := row(object)
		if err != nil {
			return err
		}
		rows = append(rows, cells)
	}
	return printRows(p.stdout, rows...)
}

func (p *program) showEvent(kind watch.EventType, object unstructured.Unstructured) error {
	cells, err := row(object)
	if err != nil {
		return err
	}
	return printRows(p.stdout, slices.Concat([]string{string(kind)}, cells))
}

// row reads the fields that all kinds share.
//
// An Unstructured is an object without a Go type: a map from field names to JSON values. Only
// these Go types are allowed:
//
//	JSON      Go
//	null      nil
//	true      bool
//	"a"       string
//	1         int64    no dot, no exponent, and it fits; 1 and 1.0 differ
//	1.0, 1e3  float64
//	[]        []any
//	{}        map[string]any
//
// An int or a []string is printed and sent the same way. But the next DeepCopyJSON of the
// object panics.
//
// The functions of package unstructured that read a path have three results: the value,
// whether it exists, and an error if it has a different type. If you ignore the error, you read 0
// where the object has "3".
func row(object unstructured.Unstructured) ([]string, error) {
	var cells []string
	for _, path := range [][]string{{"kind"}, {"metadata", "namespace"}, {"metadata", "name"}} {
		cell, _, err := unstructured.NestedString(object.Object, path...)
		if err != nil {
			return nil, err
		}
		cells = append(cells, cmp.Or(cell, "-"))
	}
	// Some kinds have no generation. Printing 0 would look like one.
	generation, found, err := unstructured.NestedInt64(object.Object, "metadata", "generation")
	if err != nil {
		return nil, err
	}
	cell := "-"
	if found {
		cell = strconv.FormatInt(generation, 10)
	}
	created, _, err := unstructured.NestedString(object.Object, "metadata", "creationTimestamp")
	return append(cells, cell, created), err
}

// apiResources prints the server's words, in its order.
func (p *program) apiResources(ctx context.Context) error {
	mapper, err := p.discover(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND", "CATEGORIES"}}
	for _, r := range mapper.matching(func(Resource) bool { return true }) {
		rows = append(rows, []string{
			r.GVR.Resource, strings.Join(r.ShortNames, ","), r.GVK.GroupVersion().String(),
			strconv.FormatBool(r.Namespaced), r.GVK.Kind, strings.Join(r.Categories, ","),
		})
	}
	return printRows(p.stdout, rows...)
}

func printRows(out io.Writer, rows ...[]string) error {
	table := tabwriter.NewWriter(out, 10, 0, 3, ' ', 0)
	for _, cells := range rows {
		for i, cell := range cells {
			// A name may have control characters, which affect the terminal.
			cells[i] = strings.Trim(strconv.Quote(cell), `"`)
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	}
	return table.Flush()
}
