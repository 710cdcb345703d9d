package look

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// right is what a request needs, or a rule gives. In a rule each may be *.
type right struct{ verb, group, resource string }

// role is what a program may do, as a Role or a ClusterRole says, and what it did. It is safe for
// concurrent use; nil is a role that nobody has given.
type role struct {
	given []right
	mu    sync.Mutex
	used  map[right]bool
}

// readRole reads the rules of all the roles in a file.
func readRole(file string) (*role, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	r, documents := &role{used: map[right]bool{}}, yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4<<10)
	for err == nil {
		var one rbacv1.ClusterRole // a Role has the same rules
		err = documents.Decode(&one)
		for _, rule := range one.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						r.given = append(r.given, right{verb, group, resource})
					}
				}
			}
		}
	}
	if errors.Is(err, io.EOF) && len(r.given) > 0 {
		return r, nil
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("there is no rule in it")
	}
	return nil, fmt.Errorf("--role %s: %w: give the YAML file of a Role or a ClusterRole", file, err)
}

// use notes what a request needed; response is nil if there is none.
func (r *role) use(x *exchange, response *http.Response) {
	if r == nil || x.Resource == "" {
		return
	}
	needed := []string{x.verb()}
	if response != nil && response.StatusCode == http.StatusCreated { // by a PUT or a PATCH, too
		needed = append(needed, "create")
	}
	resource, _, _ := strings.Cut(x.Resource+"/"+x.Subresource, "/proxy/")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, verb := range needed {
		r.used[right{verb, x.Group, strings.TrimSuffix(resource, "/")}] = true
	}
}

// gives reports whether a right of a rule covers one that was used.
func (r right) gives(used right) bool {
	return (r.verb == "*" || r.verb == used.verb) && (r.group == "*" || r.group == used.group) && (r.resource == "*" || r.resource == used.resource)
}

// unused says which rights no request has used. A right that no request asks for by its nature, such
// as that of a subresource finalizers, is not looked at.
func (r *role) unused() (all []string) {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, given := range r.given {
		isUsed := slices.ContainsFunc(slices.Collect(maps.Keys(r.used)), given.gives)
		if !isUsed && !strings.HasSuffix(given.resource, "/finalizers") {
			all = append(all, fmt.Sprintf("%s %s in the API group %s", given.verb, given.resource, cmp.Or(given.group, `""`)))
		}
	}
	return all
}
