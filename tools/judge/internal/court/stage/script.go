package stage

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
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
	"example.com/byhand/tools/judge/internal/court/verdict"
	"example.com/byhand/tools/judge/script"
)

// ReadBody reads the body of a request, and restores it so that the request can be forwarded.
func ReadBody(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // The program is gone.
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// Told is a user's script for a controller of any kind, with the results of runs without a fault.
type Told struct {
	*script.Script
	// Kind replaces the commands of the steps in memory. It is nil on a control plane.
	Kind *Kind
	// Controller is the command, if it is not the script's.
	Controller string
	// Namespaced has the resources whose objects are in a namespace.
	Namespaced map[schema.GroupResource]bool

	// Seen has the resources that the program has requested, and managers its field managers.
	Seen, managers sync.Map
	// sent has the objects that the program has created, as it sent them, by resource and name. The resource
	// alone has the last one.
	sent sync.Map
	// Orphans has, by path, whether the program's DELETE of an object orphans its dependents.
	Orphans sync.Map
	// Generated has the resources whose objects have a new name each time.
	Generated map[string]bool
	// Users has the resources of the user's objects.
	Users map[schema.GroupVersionResource]bool
	// Ends has the result of each step without a fault. Masked has the entries that differ between runs.
	Ends   []End
	Masked map[string]bool
	// History has the conditions that appear or disappear if the program starts late.
	History map[string]bool
	// Learned is the file for the learned result, or "".
	Learned string
}

// End is the result of a step: the stored objects, the program's objects among them, and its writes in the
// step.
type End struct {
	Stored script.Snapshot
	Made   []*Stored
	Writes []verdict.Request
}

// agent is the field manager of a program that sets none.
const agent = "judged"

// Part is the state of a script in one stage.
type Part struct {
	Kubeconfig string // of kubectl
	Step       int    // the last played step, or -1
	Began      time.Time
	Dying      string // the version at which an object of the user was being deleted
}

// meet finds the namespaced resources.
func (t *Told) meet(kube discovery.ServerResourcesInterface) {
	lists := Must(kube.ServerPreferredNamespacedResources())
	for resource := range Must(discovery.GroupVersionResources(lists)) {
		t.Namespaced[resource.GroupResource()] = true
	}
}

// hear records facts about the program from a request, before it is forwarded. It keeps the objects that the
// program creates or applies, and whether a DELETE orphans dependents (propagationPolicy: Orphan), in JSON or
// protobuf.
func (t *Told) hear(r *http.Request) {
	target := testkit.TargetOf(r.URL.Path)
	r.Header.Set("User-Agent", agent)
	creates := (r.Method == http.MethodPost || r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType)) && target.Subresource == ""
	body := ReadBody(r)
	var sent Object
	if creates && yaml.Unmarshal(body, &sent) == nil { // If not, the API server reports the error.
		t.sent.Store(target.Resource, sent)
		t.sent.Store(target.Resource+" "+(&unstructured.Unstructured{Object: sent}).GetName(), sent)
	}
	if orphan := metav1.DeletePropagationOrphan; r.Method == http.MethodDelete {
		t.Orphans.Store(r.URL.Path, bytes.Contains(body, []byte(orphan)) || r.URL.Query().Get("propagationPolicy") == string(orphan))
	}
	t.managers.Store(cmp.Or(r.URL.Query().Get("fieldManager"), agent), true)
	if !t.Namespaced[schema.GroupResource{Group: target.Group, Resource: target.Resource}] || slices.Contains([]string{"events", "leases"}, target.Resource) {
		return
	}
	t.Seen.Store(schema.GroupVersionResource{Group: target.Group, Version: target.Version, Resource: target.Resource}, true)
}

// Resources returns the resources that the program has requested.
func (t *Told) Resources() (all []schema.GroupVersionResource) {
	t.Seen.Range(func(resource, _ any) bool {
		all = append(all, resource.(schema.GroupVersionResource))
		return true
	})
	return all
}

// Names returns the sorted names of resources.
func Names(resources []schema.GroupVersionResource) (all []string) {
	for _, resource := range resources {
		all = append(all, resource.Resource)
	}
	slices.Sort(all)
	return all
}

// IsProgram reports whether a field manager is the program's.
func (t *Told) IsProgram(manager string) bool {
	_, is := t.managers.Load(manager)
	return is
}

// isKept reports whether this manager's fields are compared: the program's, and kubectl's and the judge's,
// which play the user. In memory only these write.
func (t *Told) isKept(manager string) bool {
	return manager == script.Unmanaged || strings.HasPrefix(manager, "kubectl") || manager == "judge" || t.IsProgram(manager)
}

// openScript begins a script.
func (s *Stage) openScript() {
	s.History, s.Part = verdict.NewHistory(), &Part{Step: -1}
	if t := s.Judge.Told; len(t.Namespaced) == 0 {
		t.meet(s.Kube.Discovery())
	}
}

// kubectl writes a kubeconfig for kubectl that bypasses the proxy and selects the stage's namespace.
func (s *Stage) kubectl(dir string) {
	config := Must(clientcmd.LoadFromFile(s.Plane.Kubeconfig))
	for _, c := range config.Contexts {
		c.Namespace = s.Namespace
	}
	s.Part.Kubeconfig = filepath.Join(dir, "kubectl")
	Check(clientcmd.WriteToFile(*config, s.Part.Kubeconfig))
}

// Stored is an object in the API server, and its name in a snapshot: "deployments a".
type Stored struct {
	*unstructured.Unstructured
	Resource schema.GroupVersionResource
	Name     string
}

// IsUsers reports whether the user has made the object: kubectl has written it, or in memory it has the kind.
func (t *Told) IsUsers(o *Stored) bool {
	if t.Kind != nil {
		return o.GetKind() == t.Kind.Kind
	}
	return script.Made(o.Unstructured, func(manager string) bool { return strings.HasPrefix(manager, "kubectl") })
}

// AllMade returns the program's objects after all steps.
func (t *Told) AllMade() (all []*Stored) {
	for _, end := range t.Ends {
		all = append(all, end.Made...)
	}
	return all
}

// IsMade reports whether an object is the program's. If the program creates none of a kind, it only changes
// other clients' objects.
func (t *Told) IsMade(o *Stored) bool {
	return !t.IsUsers(o) && t.SentFor(o) != nil && (t.Kind != nil || script.Made(o.Unstructured, t.IsProgram))
}

// Look returns the stored objects of the resources that the program has requested, with the values that it or
// the user has written. Values that the program writes without a fault are included even if it had no reason
// to write them now.
func (s *Stage) Look() (_ script.Snapshot, objects []*Stored) {
	t := s.Judge.Told
	now, usual := script.Snapshot{}, script.Snapshot{}
	if i := s.Part.Step; i >= 0 && i < len(t.Ends) {
		usual = t.Ends[i].Stored
	}
	words := []string{s.Namespace, "NAMESPACE"}
	for _, resource := range t.Resources() {
		for _, item := range Must(s.Client(resource).List(s.Ctx, metav1.ListOptions{})).Items {
			o := &Stored{&item, resource, resource.Resource + " " + item.GetName()}
			if script.Made(o.Unstructured, t.isKept) {
				objects, words = append(objects, o), append(words, string(o.GetUID()), "UID-OF-"+o.GetName())
			} else if usual[o.Name] != "" {
				now.Add(o.Name, o.Unstructured, func(string) bool { return true })
			}
		}
	}
	maps.DeleteFunc(now, func(name, _ string) bool { return usual[name] == "" })
	for _, o := range objects {
		if begins := o.GetName(); t.Generated[o.Resource.Resource] && t.IsMade(o) {
			o.Name = o.Resource.Resource + " " + t.generatedFrom(o, objects)
			words = append(words, begins, "GENERATED")
		}
		now.Add(o.Name, o.Unstructured, t.isKept)
	}
	return now.Renamed(strings.NewReplacer(words...)), objects
}

// generatedFrom returns a stable name for an object whose name changes every time: its prefix.
func (t *Told) generatedFrom(o *Stored, objects []*Stored) string {
	begins := o.GetGenerateName()
	for _, users := range objects {
		if name := users.GetName() + "-"; t.IsUsers(users) && strings.HasPrefix(o.GetName(), name) && len(name) > len(begins) {
			begins = name
		}
	}
	return begins + "*"
}

// Client returns a client for a resource in the stage's namespace.
func (s *Stage) Client(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return s.Dynamic.Resource(resource).Namespace(s.Namespace)
}

// MostLines limits the lines of one sort in a finding.
const MostLines = 12

// word adds to a finding how to reproduce it and how to allow it. It returns false if the script allows it
// already.
func (t *Told) word(sc *Scenario, f *verdict.Finding) bool {
	if t.Kind != nil {
		return true
	}
	if len(f.Allow) == 0 {
		f.Allow = []string{sc.Name + " " + (f.Property & (sc.Judged | verdict.P7)).String()}
	}
	f.Allow = slices.DeleteFunc(f.Allow, t.Allows)
	slices.Sort(f.Allow)
	f.Allow = slices.Compact(f.Allow) // Several objects may have the same line.
	if len(f.Allow) == 0 {
		return false
	}
	again := fmt.Sprintf("make judge SCRIPT=%s JUDGE='-scenario %s'", t.File, sc.Name)
	if t.Controller != "" {
		again += fmt.Sprintf(" CONTROLLER='%s'", t.Controller)
	}
	f.Text += fmt.Sprintf("\nReproduce it: %s. If this is intended, add to %s:\nallow:\n- %s",
		again, filepath.Base(t.File), strings.Join(f.Allow[:min(len(f.Allow), MostLines)], "\n- "))
	return true
}

// SentFor returns the object as the program has sent it to create it, or else the last one that it created of
// the resource.
func (t *Told) SentFor(o *Stored) Object {
	sent, exactly := t.sent.Load(o.Resource.Resource + " " + o.GetName())
	if !exactly {
		sent, _ = t.sent.Load(o.Resource.Resource)
	}
	created, _ := sent.(Object)
	return created
}
