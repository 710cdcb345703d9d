package court

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/judge/script"
)

// told is the script that a user tells, for a program about any kind. What is right the judge learns
// from runs without a fault.
type told struct {
	*script.Script
	// controller is the command, if it does not stand in the script.
	controller string
	// namespaced are the resources whose objects are in a namespace.
	namespaced map[schema.GroupResource]bool

	// seen are the resources that the program has asked for, and managers the names by which it writes.
	seen, managers sync.Map
	// sent are the objects that the program has created, as it sent them, by name.
	sent sync.Map
	// orphans says of the path of an object that the program has deleted if that leaves what it has made.
	orphans sync.Map
	// generated are the resources whose objects have another name each time.
	generated map[string]bool
	// users are the resources of the user's objects.
	users map[schema.GroupVersionResource]bool
	// ends are those of the steps without a fault, and masked is what of that is another one each time.
	ends   []end
	masked map[string]bool
}

// end is what is stored after a step, what the program has made of that, and what it has written in the step.
type end struct {
	stored script.Snapshot
	made   []*stored
	writes []request
}

// agent is the name of the program for the API server, where it gives itself none.
const agent = "judged"

// part is a script in one stage.
type part struct {
	kubeconfig string // of kubectl
	step       int    // the one that was played last
	began      time.Time
	dying      string // the version at which an object of the user was being deleted
}

// readScript reads a script and checks what it allows.
func readScript(file string) (*told, error) {
	s, err := script.Read(file)
	if err != nil {
		return nil, err
	}
	t := &told{Script: s, users: map[schema.GroupVersionResource]bool{}, generated: map[string]bool{}, masked: map[string]bool{}, namespaced: map[schema.GroupResource]bool{}}
	names := []string{faultFree}
	for _, sc := range t.scenarios() {
		names = append(names, sc.name)
	}
	for _, line := range s.Allow {
		if name, _, _ := strings.Cut(line.Text, " "); !slices.Contains(names, name) {
			return nil, s.Wrong(line.At, "allow begins with a scenario, which is one of %s", strings.Join(names, ", "))
		}
	}
	return t, nil
}

// meet finds out which resources are in namespaces.
func (t *told) meet(kube discovery.ServerResourcesInterface) {
	lists := must(kube.ServerPreferredNamespacedResources())
	for resource := range must(discovery.GroupVersionResources(lists)) {
		t.namespaced[resource.GroupResource()] = true
	}
}

// hear notes what a request of the program says about it, before it is passed on: which objects it creates or applies, as it
// sends them, and which it deletes and leaves what they have made (propagationPolicy: Orphan), be it said in JSON or in protobuf.
func (t *told) hear(r *http.Request) {
	target := testkit.TargetOf(r.URL.Path)
	r.Header.Set("User-Agent", agent)
	creates := (r.Method == http.MethodPost || r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType)) && target.Subresource == ""
	body := readBody(r)
	var sent object
	if creates && yaml.Unmarshal(body, &sent) == nil { // If not, the API server says what is wrong with it.
		t.sent.Store(target.Resource, sent)
		t.sent.Store(target.Resource+" "+(&unstructured.Unstructured{Object: sent}).GetName(), sent)
	}
	if orphan := metav1.DeletePropagationOrphan; r.Method == http.MethodDelete {
		t.orphans.Store(r.URL.Path, bytes.Contains(body, []byte(orphan)) || r.URL.Query().Get("propagationPolicy") == string(orphan))
	}
	t.managers.Store(cmp.Or(r.URL.Query().Get("fieldManager"), agent), true)
	if !t.namespaced[schema.GroupResource{Group: target.Group, Resource: target.Resource}] || slices.Contains([]string{"events", "leases"}, target.Resource) {
		return
	}
	t.seen.Store(schema.GroupVersionResource{Group: target.Group, Version: target.Version, Resource: target.Resource}, true)
}

// resources are those that the program has asked for.
func (t *told) resources() (all []schema.GroupVersionResource) {
	t.seen.Range(func(resource, _ any) bool {
		all = append(all, resource.(schema.GroupVersionResource))
		return true
	})
	return all
}

// names are those of resources.
func names(resources []schema.GroupVersionResource) (all []string) {
	for _, resource := range resources {
		all = append(all, resource.Resource)
	}
	slices.Sort(all)
	return all
}

// isProgram reports whether the program writes by this name.
func (t *told) isProgram(manager string) bool {
	_, is := t.managers.Load(manager)
	return is
}

// isKept reports whether this manager's fields are compared: the program's, and those of kubectl and the judge, which
// play the user.
func (t *told) isKept(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || manager == "judge" || t.isProgram(manager)
}

// openScript writes a kubeconfig for kubectl that leads past the proxy, into the namespace of the stage.
func (s *stage) openScript(dir string) {
	s.history = newHistory()
	config := must(clientcmd.LoadFromFile(s.plane.Kubeconfig))
	for _, c := range config.Contexts {
		c.Namespace = s.namespace
	}
	s.part = &part{kubeconfig: filepath.Join(dir, "kubectl"), step: -1}
	check(clientcmd.WriteToFile(*config, s.part.kubeconfig))
}

// plays plays a step of the script.
func plays(i int) step {
	return func(s *stage) {
		t := s.judge.told
		s.part.step, s.part.began = i, time.Now()
		ctx, cancel := context.WithTimeoutCause(s.ctx, time.Minute, errors.New("it has not ended after a minute; kubectl delete waits for finalizers, unless it has --wait=false"))
		defer cancel()
		c := exec.CommandContext(ctx, "sh", "-c", t.Steps[i].Text)
		c.Dir, c.WaitDelay = filepath.Dir(t.File), time.Second
		c.Env = append(os.Environ(), "KUBECONFIG="+s.part.kubeconfig, "KUBECACHEDIR="+filepath.Join(s.judge.dir, "cache"),
			"PATH="+s.plane.Home+string(filepath.ListSeparator)+os.Getenv("PATH"))
		if output, err := c.CombinedOutput(); err != nil {
			check(notJudged(fmt.Sprintf("%s: %v\n%s", s.lastStep(), cmp.Or(context.Cause(ctx), err), bytes.TrimSpace(output))))
		}
	}
}

// lastStep is the step that was played last, in words.
func (s *stage) lastStep() string {
	t, i := s.judge.told, s.part.step
	return fmt.Sprintf("step %s (%s:%d)", t.Steps[i].Name, t.File, t.Steps[i].At)
}

// stored is one object that the API server has, and its name in a snapshot: "deployments a".
type stored struct {
	*unstructured.Unstructured
	resource schema.GroupVersionResource
	name     string
}

// isUsers reports whether it is the user's.
func (o *stored) isUsers() bool {
	return script.Made(o.Unstructured, func(manager string) bool { return strings.HasPrefix(manager, "kubectl") })
}

// isMade reports whether an object is the program's. Of a kind of which it creates none it only changes what others have made.
func (t *told) isMade(o *stored) bool {
	return !o.isUsers() && t.sentFor(o) != nil && script.Made(o.Unstructured, t.isProgram)
}

// look returns what is stored of the resources that the program has asked for, without what only others than it
// and the user have written. Where the program had nothing to write, what it writes without a fault is there all the same.
func (s *stage) look() (_ script.Snapshot, objects []*stored) {
	t := s.judge.told
	now, usual := script.Snapshot{}, script.Snapshot{}
	if i := s.part.step; i >= 0 && i < len(t.ends) {
		usual = t.ends[i].stored
	}
	words := []string{s.namespace, "NAMESPACE"}
	for _, resource := range t.resources() {
		for _, item := range must(s.client(resource).List(s.ctx, metav1.ListOptions{})).Items {
			o := &stored{&item, resource, resource.Resource + " " + item.GetName()}
			if script.Made(o.Unstructured, t.isKept) {
				objects, words = append(objects, o), append(words, string(o.GetUID()), "UID-OF-"+o.GetName())
			} else if usual[o.name] != "" {
				now.Add(o.name, o.Unstructured, func(string) bool { return true })
			}
		}
	}
	maps.DeleteFunc(now, func(name, _ string) bool { return usual[name] == "" })
	for _, o := range objects {
		if begins := o.GetName(); t.generated[o.resource.Resource] && t.isMade(o) {
			o.name = o.resource.Resource + " " + generatedFrom(o, objects)
			words = append(words, begins, "GENERATED")
		}
		now.Add(o.name, o.Unstructured, t.isKept)
	}
	return now.Renamed(strings.NewReplacer(words...)), objects
}

// generatedFrom is a name for an object that has another one each time: what it begins with.
func generatedFrom(o *stored, objects []*stored) string {
	begins := o.GetGenerateName()
	for _, users := range objects {
		if name := users.GetName() + "-"; users.isUsers() && strings.HasPrefix(o.GetName(), name) && len(name) > len(begins) {
			begins = name
		}
	}
	return begins + "*"
}

// client is for the objects of a resource in the namespace of the stage.
func (s *stage) client(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return s.dynamic.Resource(resource).Namespace(s.namespace)
}

// keeps waits until all is stored as after the step that was played last, without a fault: P1, P4, P6.
func keeps(s *stage) { s.keepsWithin(s.bound) }

// keepsWithin is keeps with a bound of its own.
func (s *stage) keepsWithin(bound time.Duration) {
	t := s.judge.told
	var all []script.Difference
	s.within(bound, func() bool {
		now, _ := s.look()
		all = now.Against(t.ends[s.part.step].stored, func(name string) bool { return t.masked[name] || t.Allows(s.scenario.name+" "+name) })
		return len(all) == 0
	}, func() finding { return s.differs(bound, all) })
}

// differs says that what is stored is not what it is without a fault.
func (s *stage) differs(bound time.Duration, all []script.Difference) finding {
	p, l := P6, different
	var lines, allow []string
	for _, d := range all {
		lines, allow = append(lines, "  "+d.String()), append(allow, s.scenario.name+" "+d.Name)
		if d.IsObject() && d.Was == "" {
			p, l = P4, leftOver
		} else if d.IsObject() && d.Is == "" && p == P6 {
			p, l = P1, absent
		}
	}
	f := found(p, l, time.Now(), "%s after %s:\n%s", bound, s.lastStep(), strings.Join(lines[:min(len(lines), mostLines)], "\n"))
	f.allow = allow
	return f
}

// mostLines is how many lines of one sort a finding has.
const mostLines = 12

// word adds to a finding how it is seen again, and how to say that it is meant so. It returns false if that was said.
func (t *told) word(sc *scenario, f *finding) bool {
	if len(f.allow) == 0 {
		f.allow = []string{sc.name + " " + (f.property & (sc.judged | P7)).String()}
	}
	f.allow = slices.DeleteFunc(f.allow, t.Allows)
	slices.Sort(f.allow)
	f.allow = slices.Compact(f.allow) // Several objects may have the same line.
	if len(f.allow) == 0 {
		return false
	}
	again := fmt.Sprintf("make judge SCRIPT=%s JUDGE='-scenario %s'", t.File, sc.name)
	if t.controller != "" {
		again += fmt.Sprintf(" CONTROLLER='%s'", t.controller)
	}
	f.text += fmt.Sprintf("\nSee it again: %s. If it is meant so, add to %s:\nallow:\n- %s",
		again, filepath.Base(t.File), strings.Join(f.allow[:min(len(f.allow), mostLines)], "\n- "))
	return true
}
