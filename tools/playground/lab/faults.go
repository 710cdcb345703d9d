package lab

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/kit/testkit"
)

// switches are the faults that stay on until turned off.
var switches = []string{"quota", "webhook", "lose", "hold", "slow", "busy"}

// slowness is the extra time of each response of a slow server.
const slowness = time.Second

func init() {
	commands["reset"] = command{do: reset}
	for _, name := range switches {
		commands[name] = command{words: []word{oneOf("on", "off")}, do: func(p *Playground, args []string) (string, error) {
			p.turn(name, args[0] == "on")
			return name + " is " + args[0], nil
		}}
	}
	commands["cut"] = command{do: func(p *Playground, _ []string) (string, error) {
		p.cut()
		return "Cut the watches.", nil
	}}
	commands["forget"] = command{do: func(p *Playground, _ []string) (string, error) {
		// A reconnecting watch must have missed a compacted event, so add one. Cut last: a watch may
		// reconnect at once.
		p.api.Add("/api/v1/namespaces/default/events/playground-"+strconv.Itoa(p.api.Version()), &unstructured.Unstructured{Object: map[string]any{}})
		p.api.Compact()
		p.cut()
		return "Cut the watches; the API server has no events from before.", nil
	}}
	commands["kill"] = command{do: func(p *Playground, _ []string) (string, error) {
		all := p.running()
		if len(all) == 0 {
			return "", refusal("No controller is left to kill.")
		}
		p.mu.Lock()
		killed := cmp.Or(p.shown, all[0])
		p.mu.Unlock()
		p.bury(killed)
		return "Killed " + killed.name + ".", nil
	}}
	commands["stop"] = command{do: (*Playground).stop}
	commands["start"] = command{do: func(p *Playground, _ []string) (string, error) {
		if len(p.running()) >= 2 {
			return "", refusal("Two controllers are enough for one tab.")
		}
		p.start()
		return "Started a controller.", nil
	}}
}

// reset turns all faults off, and leaves an empty cluster with one new controller.
func reset(p *Playground, _ []string) (string, error) {
	for _, name := range switches {
		p.turn(name, false)
	}
	for _, resource := range []string{"foos", "deployments"} {
		for _, path := range p.api.Paths(resource) {
			p.api.Remove(path)
		}
	}
	p.anew(noBug)
	return "The cluster is empty again.", nil
}

// stop ends every process, and deletes the Lease as on a clean exit.
func (p *Playground) stop([]string) (string, error) {
	for _, r := range p.running() {
		p.bury(r)
	}
	_, _ = p.send(http.MethodDelete, lease, "", "")
	return "Stopped the controller.", nil
}

func (p *Playground) cut() {
	for _, resource := range []string{"foos", "deployments", "projects"} {
		p.api.CutWatches(resource)
	}
}

func (p *Playground) turn(name string, on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on[name] == on {
		return
	}
	p.on[name] = on
	switch {
	case name == "lose" && on:
		p.api.OnWrite(func(int, *http.Request) testkit.Fault { return testkit.LoseAnswer })
	case name == "lose":
		p.api.OnWrite(nil)
	case name == "hold" && on:
		p.release, p.heldSince = p.api.HoldWatches("deployments"), p.api.Version()
	case name == "hold":
		p.release()
	}
}

// badLuck applies the active faults to a request of the program, and reports whether it wrote the
// response.
func (p *Playground) badLuck(w http.ResponseWriter, r *http.Request) bool {
	target := testkit.TargetOf(r.URL.Path)
	if target.Resource == "leases" || target.Resource == "events" {
		return false
	}
	if p.isOn("slow") {
		select {
		case <-time.After(slowness):
		case <-r.Context().Done():
			return true
		}
	}
	resource := schema.GroupResource{Group: target.Group, Resource: target.Resource}
	written := target.Resource == "deployments" && slices.Contains([]string{http.MethodPost, http.MethodPut}, r.Method)
	if written && r.Method == http.MethodPut && p.isOn("busy") && !p.interfered.Swap(true) {
		p.writing.Lock()
		p.api.Edit(r.URL.Path, func(object *unstructured.Unstructured) {
			object.SetAnnotations(map[string]string{"playground/busy": time.Now().String()})
		})
		p.noteWrite(somebody, http.MethodPatch, r.URL.Path, http.StatusOK, nil)
		p.writing.Unlock()
	} else if written {
		p.interfered.Store(false)
	}
	switch {
	case written && r.Method == http.MethodPost && p.isOn("quota"):
		p.refuse(w, r, apierrors.NewForbidden(resource, "", errors.New("exceeded quota: playground, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1")))
	case written && p.isOn("webhook"):
		p.refuse(w, r, apierrors.NewInternalError(errors.New(`failed calling webhook "playground.example.com": Post "https://playground.default.svc:443/": dial tcp: connect: connection refused`)))
	default:
		return false
	}
	return true
}
