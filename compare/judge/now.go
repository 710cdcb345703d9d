package main

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// wrong returns what is not as it must be now: P1 and P4. It is empty when everything has
// converged.
func (h *history) wrong() (all []finding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	foos, owned := map[types.UID]bool{}, map[types.UID][]*appsv1.Deployment{}
	for _, f := range h.foos {
		foos[f.uid] = true
	}
	deployments := sortedByName(h.deployments)
	for _, d := range deployments {
		if owner := controllerOf(d); owner != "" && d.DeletionTimestamp == nil {
			owned[owner] = append(owned[owner], d)
		}
	}
	for _, f := range sortedByName(h.foos) {
		switch {
		case f.deleting:
			all = append(all, found(P4, orphaned, now, "Foo %s was deleted and is still there.", f.name))
		case f.sane:
			all = append(all, h.wrongWith(f, owned[f.uid], now)...)
		}
	}
	for _, d := range deployments {
		owner := controllerOf(d)
		switch {
		case d.DeletionTimestamp != nil:
			all = append(all, found(0, nil, now, "Deployment %s is being deleted.", d.Name))
		case owner != "" && !foos[owner]:
			all = append(all, found(P4, orphaned, now, "The Foo that controls Deployment %s is gone, and the Deployment (revision %s) is still there.", d.Name, d.ResourceVersion))
		case owner == "" && !h.isForeign(d):
			all = append(all, found(P1|P4, uncontrolled, now, "Deployment %s has no owner reference to the Foo that it was made for (revision %s).", d.Name, d.ResourceVersion))
		}
	}
	return all
}

// wrongWith returns what is wrong with one Foo, which controls the Deployments owned.
func (h *history) wrongWith(f *foo, owned []*appsv1.Deployment, now time.Time) (all []finding) {
	add := func(p properties, l *lesson, format string, args ...any) {
		all = append(all, found(p, l, now, "Foo %s (generation %d) asks for Deployment %s. "+format, append([]any{f.name, f.generation, f.deploymentName}, args...)...))
	}
	var others []*appsv1.Deployment
	var available int64
	for _, d := range owned {
		if d.Name != f.deploymentName {
			others = append(others, d)
			available += int64(d.Status.AvailableReplicas)
		}
	}
	named := h.deployments[f.deploymentName]
	switch {
	case named == nil:
		add(P1, absent, "There is none.")
	case named.DeletionTimestamp != nil:
		add(0, nil, "It is being deleted.")
	case controllerOf(named) != f.uid:
		// The name is another's. What the Foo had before, it may keep.
		if f.available != 0 && f.available != available {
			add(P1, wrongStatus, "That is another's, and its own have %d available replicas; the status says %d.", available, f.available)
		}
	case f.replicas != nil && replicasOf(named) != *f.replicas:
		add(P1, wrongSpec, "It asks for %d replicas, the Deployment (revision %s) for %d.", *f.replicas, named.ResourceVersion, replicasOf(named))
	case !slices.Equal(images(h.first[named.UID]), images(named)):
		add(P1, drifted, "The program made it with the images %v; at revision %s it has %v.", images(h.first[named.UID]), named.ResourceVersion, images(named))
	case len(others) > 0:
		add(P4, leftOver, "It still controls Deployment %s, which it named before (revision %s).", others[0].Name, others[0].ResourceVersion)
	case h.unplayed:
	case named.Status.ObservedGeneration < named.Generation || int64(named.Status.AvailableReplicas) != replicasOf(named):
		add(0, nil, "%d of %d replicas are available.", named.Status.AvailableReplicas, replicasOf(named))
	case f.available != int64(named.Status.AvailableReplicas):
		add(P1, wrongStatus, "It has %d available replicas (revision %s); the status (revision %s) says %d.", named.Status.AvailableReplicas, named.ResourceVersion, f.resource, f.available)
	}
	return all
}

// isForeign reports whether a Deployment that no Foo controls is none that the program
// should have deleted: the judge made it, or a Foo controlled it and set it free.
func (h *history) isForeign(d *appsv1.Deployment) bool {
	first := h.first[d.UID]
	return h.mine[first.ResourceVersion] || controllerOf(first) != ""
}

func images(d *appsv1.Deployment) (all []string) {
	for _, c := range d.Spec.Template.Spec.Containers {
		all = append(all, c.Name+"="+c.Image)
	}
	return all
}

func sortedByName[T any](byName map[string]T) (all []T) {
	names := make([]string, 0, len(byName))
	for name := range byName {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, byName[name])
	}
	return all
}
