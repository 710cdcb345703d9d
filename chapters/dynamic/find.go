package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

func (p *program) discover(ctx context.Context) (Mapper, error) {
	resources, stale, err := Discover(ctx, p.client.rest)
	if len(stale) > 0 {
		p.steps.Printf("warning: %v: the servers of these versions do not respond, so their resources are missing", stale)
	}
	return Mapper{Resources: resources, Stale: stale}, err
}

// find returns the resources that the word means on this server, and logs the steps. It fails
// if the resources do not support the name, a flag or the verb.
func (p *program) find(ctx context.Context, verb string) ([]Resource, error) {
	mapper, err := p.discover(ctx)
	if err != nil {
		return nil, err
	}
	found, others, err := mapper.Find(p.word)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range found {
		scope := "cluster-scoped"
		if r.Namespaced {
			scope = "in a namespace"
		}
		p.steps.Printf("%s → kind %s → resource %s, %s", p.word, r.GVK, r.GVR, scope)
		names = append(names, r.GVR.GroupResource().String())
		if !slices.Contains(r.Verbs, verb) {
			return nil, fmt.Errorf("%s has no verb %s, only %s", r.GVR.GroupResource(), verb, strings.Join(r.Verbs, ", "))
		}
	}
	for _, r := range others {
		p.steps.Printf("warning: %s also exists in group %s, which the server lists later: to get that, use %s", p.word, r.GVR.Group, r.GVR.GroupResource())
	}
	switch {
	case len(found) > 1 && (p.name != "" || p.watch):
		return nil, fmt.Errorf("%s is a category: a name and -w need one resource, use one of %s", p.word, strings.Join(names, ", "))
	case len(found) == 1 && !found[0].Namespaced && p.namespace != "":
		return nil, fmt.Errorf("%s are cluster-scoped: omit -n %s", names[0], p.namespace)
	}
	return found, nil
}

// namespaceFor returns the namespace to request: none for cluster-scoped resources and for -A.
func (p *program) namespaceFor(r Resource) string {
	if !r.Namespaced || p.allNamespaces {
		return ""
	}
	return cmp.Or(p.namespace, p.contextNamespace)
}
