package look

import (
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
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("--role: %w: give the YAML file of a Role or a ClusterRole", err)
	}
	defer f.Close()
	r, documents := &role{used: map[right]bool{}}, yaml.NewYAMLOrJSONDecoder(f, 4<<10)
	for {
		var one rbacv1.ClusterRole // a Role has the same rules
		if err := documents.Decode(&one); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("--role %s: %w: give the YAML file of a Role or a ClusterRole", file, err)
		}
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
	if len(r.given) == 0 {
		return nil, fmt.Errorf("--role %s: there is no rule in it: give the YAML file of a Role or a ClusterRole", file)
	}
	return r, nil
}

// verbs are those of requests for one object.
var verbs = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete"}

// use notes what a request needed; response is nil if there is none.
func (r *role) use(x *exchange, response *http.Response) {
	if r == nil || x.Resource == "" {
		return
	}
	needed := []string{verbs[x.method]}
	switch {
	case x.watch:
		needed = []string{"watch"}
	case x.list:
		needed = []string{"list"}
	case x.method == http.MethodDelete && x.Name == "":
		needed = []string{"deletecollection"}
	case response != nil && response.StatusCode == http.StatusCreated: // by a PUT or a PATCH, too
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
			all = append(all, given.String())
		}
	}
	return all
}

func (r right) String() string {
	return fmt.Sprintf("%s %s in the API group %s", r.verb, r.resource, cmp.Or(r.group, `""`))
}
