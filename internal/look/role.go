package look

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// right is what a request needs, or a rule gives. In a rule each may be *.
type right struct{ verb, group, resource string }

// covers reports whether a right of a rule gives one that is needed.
func (r right) covers(needed right) bool {
	return (r.verb == "*" || r.verb == needed.verb) && (r.group == "*" || r.group == needed.group) && (r.resource == "*" || r.resource == needed.resource)
}

// role has the rights that a Role or a ClusterRole gives to a program, and that no request has needed
// yet. It is safe for concurrent use.
type role struct {
	mu     sync.Mutex
	unused []right
}

// readRole reads the rules of all the roles in a file. Without one nothing is given.
func readRole(file string) (*role, error) {
	r := &role{}
	if file == "" {
		return r, nil
	}
	text, err := os.ReadFile(file)
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4<<10)
	for err == nil {
		var one rbacv1.ClusterRole // a Role has the same rules
		err = documents.Decode(&one)
		for _, rule := range one.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						r.unused = append(r.unused, right{verb, group, resource})
					}
				}
			}
		}
	}
	if errors.Is(err, io.EOF) && len(r.unused) == 0 {
		err = errors.New("there is no rule in it")
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--role %s: %w: give the YAML file of a Role or a ClusterRole", file, err)
	}
	return r, nil
}

// use notes what a request needed; response is nil if there is none.
func (r *role) use(x *exchange, response *http.Response) {
	if x.Resource == "" {
		return
	}
	needed := []string{x.verb()}
	if response != nil && response.StatusCode == http.StatusCreated { // by a PUT or a PATCH, too
		needed = append(needed, "create")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, verb := range needed {
		r.unused = slices.DeleteFunc(r.unused, func(given right) bool {
			return given.covers(right{verb, x.Group, path.Join(x.Resource, x.Subresource)})
		})
	}
}
