package look

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Table is what kubectl get prints of the objects of one kind.
type Table struct {
	Resource string `json:"resource"`
	metav1.Table
}

const (
	mostTables = 16
	mostRows   = "50" // of a table
	asTable    = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// collect notes that the program reads or writes objects of a collection.
func (g *Glass) collect(x *exchange) {
	// What is in an object's path after the collection's is its name and a subresource.
	path := strings.TrimSuffix(strings.TrimSuffix(x.Path, "/"+x.Target.Subresource), "/"+x.Target.Name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.collections) < mostTables && !slices.Contains(g.collections, path) {
		g.collections = append(g.collections, path)
	}
}

// Tables asks the API server for what the program reads or writes. What cannot be had is missing.
func (g *Glass) Tables(ctx context.Context) []Table {
	g.mu.Lock()
	collections := slices.Clone(g.collections)
	g.mu.Unlock()
	all := []Table{}
	for _, path := range collections {
		table := Table{Resource: path}
		body, err := g.server.Get().AbsPath(path).Param("limit", mostRows).Param("includeObject", string(metav1.IncludeNone)).SetHeader("Accept", asTable).DoRaw(ctx)
		if err == nil && json.Unmarshal(body, &table.Table) == nil {
			all = append(all, table)
		}
	}
	return all
}
