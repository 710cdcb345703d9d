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

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// right is what a request needs, or a rule gives. In a rule each may be *.
type right struct{ verb, group, resource string }

// covers reports whether a right of a rule gives one that is needed.
func (r right) covers(needed right) bool {
	return (r.verb == "*" || r.verb == needed.verb) && (r.group == "*" || r.group == needed.group) && (r.resource == "*" || r.resource == needed.resource)
}

// readRole reads the rights that the Roles and ClusterRoles in a file give. Without one nothing is given.
func readRole(file string) (given []right, err error) {
	if file == "" {
		return nil, nil
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
						given = append(given, right{verb, group, resource})
					}
				}
			}
		}
	}
	if errors.Is(err, io.EOF) && len(given) == 0 {
		err = errors.New("there is no rule in it")
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("--role %s: %w: give the YAML file of a Role or a ClusterRole", file, err)
	}
	return given, nil
}

// use notes what a request needed; response is nil if there is none.
func (g *Glass) use(x *exchange, response *http.Response) {
	if x.resource == "" {
		return
	}
	needed := []string{x.Verb()}
	if response != nil && response.StatusCode == http.StatusCreated { // by a PUT or a PATCH, too
		needed = append(needed, "create")
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, verb := range needed {
		g.unused = slices.DeleteFunc(g.unused, func(given right) bool {
			return given.covers(right{verb, x.Target.Group, path.Join(x.Target.Resource, x.Target.Subresource)})
		})
	}
}
