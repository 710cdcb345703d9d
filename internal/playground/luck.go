package playground

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/internal/testkit"
)

// watched are the resources whose watches can be cut.
var watched = []string{"foos", "deployments", "projects"}

// slowness is how long each answer of a slow server takes longer.
const slowness = time.Second

func init() {
	for _, name := range []string{"quota", "webhook", "lose", "hold", "slow", "busy"} {
		commands[name] = command{words: []word{oneOf("on", "off")}, do: func(p *Playground, args []string) (both, error) {
			p.turn(name, args[0] == "on")
			return both{name + " is " + args[0], name + map[string]string{"on": " 已打开", "off": " 已关闭"}[args[0]]}, nil
		}}
	}
	commands["cut"] = command{do: func(p *Playground, _ []string) (both, error) {
		p.cut()
		return both{"The watches are cut.", "watch 已切断。"}, nil
	}}
	commands["forget"] = command{do: func(p *Playground, _ []string) (both, error) {
		// A watch that comes back must have missed something that is forgotten.
		p.cut()
		p.api.Add("/api/v1/namespaces/default/events/playground-"+strconv.Itoa(p.api.Version()), &unstructured.Unstructured{Object: map[string]any{}})
		p.api.Compact()
		return both{"The watches are cut, and the server knows no change before now.", "watch 已切断，服务器不再知道此刻之前的变化。"}, nil
	}}
	commands["kill"] = command{do: func(p *Playground, _ []string) (both, error) {
		all := p.running()
		if len(all) == 0 {
			return both{}, both{"No controller is left to kill.", "没有可杀的控制器。"}
		}
		p.bury(all[0])
		return both{all[0].name + " is killed.", all[0].name + " 已被杀掉。"}, nil
	}}
	commands["start"] = command{do: func(p *Playground, _ []string) (both, error) {
		if len(p.running()) >= 2 {
			return both{}, both{"Two controllers are enough for one tab.", "一个标签页里两个控制器就够了。"}
		}
		p.start()
		return both{"One more controller is started.", "又启动了一个控制器。"}, nil
	}}
}

func (p *Playground) cut() {
	for _, resource := range watched {
		p.api.CutWatches(resource)
	}
}

// turn turns a switch on or off.
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
		p.release = p.api.HoldWatches("deployments")
	case name == "hold":
		p.release()
	}
}

// badLuck answers a request of the program in the server's place, if a switch says so.
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
	switch {
	case written && r.Method == http.MethodPost && p.isOn("quota"):
		testkit.WriteError(w, apierrors.NewForbidden(resource, "", errors.New("exceeded quota: playground, requested: count/deployments.apps=1, used: count/deployments.apps=1, limited: count/deployments.apps=1")))
	case written && p.isOn("webhook"):
		testkit.WriteError(w, apierrors.NewInternalError(errors.New(`failed calling webhook "playground.example.com": Post "https://playground.default.svc:443/": dial tcp: connect: connection refused`)))
	default:
		return false
	}
	return true
}
