package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// permission is one permission of a rule. Each of its words may be *.
type permission struct{ verb, group, resource string }

// covers reports whether a word of a rule covers one that a request needs.
func covers(given, needed string) bool { return given == "*" || given == needed }

// readRole reads the permissions in a file of Roles and ClusterRoles.
func readRole(file string) (given []permission, err error) {
	text, err := os.ReadFile(file)
	for document := range strings.SplitSeq(string(text), "\n---") {
		var one rbacv1.ClusterRole // a Role has the same rules
		err = cmp.Or(err, yaml.Unmarshal([]byte(document), &one))
		for _, rule := range one.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						given = append(given, permission{verb, group, resource})
					}
				}
			}
		}
	}
	if len(given) == 0 {
		err = cmp.Or(err, errors.New("there is no rule in it"))
	}
	if err != nil {
		return nil, fmt.Errorf("--role %s: %w: give the YAML file of a Role or a ClusterRole", file, err)
	}
	return given, nil
}

// use removes the permissions that a request needed from the unused ones; response may be nil.
func (p *Proxy) use(x *exchange, response *http.Response) {
	if x.resource == "" {
		return
	}
	needed := path.Join(x.Target.Resource, x.Target.Subresource)
	isMade := response != nil && response.StatusCode == http.StatusCreated
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unused = slices.DeleteFunc(p.unused, func(r permission) bool {
		isVerb := covers(r.verb, x.Verb()) || isMade && covers(r.verb, "create") // by a PUT or a PATCH, too
		return isVerb && covers(r.group, x.Target.Group) && covers(r.resource, needed)
	})
}
