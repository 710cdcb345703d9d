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

// ReadBody reads what is sent, and leaves it to be sent on.
func ReadBody(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // The program is gone.
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body
}

// Told is the script that a user tells, for a program about any kind. What is right the judge learns
// from runs without a fault.
type Told struct {
	*script.Script
	// Controller is the command, if it does not stand in the script.
	Controller string
	// Namespaced are the resources whose objects are in a namespace.
	Namespaced map[schema.GroupResource]bool

	// Seen are the resources that the program has asked for, and managers the names by which it writes.
	Seen, managers sync.Map
	// sent are the objects that the program has created, as it sent them, by name.
	sent sync.Map
	// Orphans says of the path of an object that the program has deleted if that leaves what it has made.
	Orphans sync.Map
	// Generated are the resources whose objects have another name each time.
	Generated map[string]bool
	// Users are the resources of the user's objects.
	Users map[schema.GroupVersionResource]bool
	// Ends are those of the steps without a fault, and masked is what of that is another one each time.
	Ends   []End
	Masked map[string]bool
	// History has the conditions that a run without a fault lacks, or has in addition, if it starts late.
	History map[string]bool
	// Learned is the file for what was learned, or "".
	Learned string
}

// End is what is stored after a step, what the program has made of that, and what it has written in the step.
type End struct {
	Stored script.Snapshot
	Made   []*Stored
	Writes []verdict.Request
}

// agent is the name of the program for the API server, where it gives itself none.
const agent = "judged"

// Part is a script in one stage.
type Part struct {
	Kubeconfig string // of kubectl
	Step       int    // the one that was played last
	Began      time.Time
	Dying      string // the version at which an object of the user was being deleted
}

// Meet finds out which resources are in namespaces.
func (t *Told) Meet(kube discovery.ServerResourcesInterface) {
	lists := Must(kube.ServerPreferredNamespacedResources())
	for resource := range Must(discovery.GroupVersionResources(lists)) {
		t.Namespaced[resource.GroupResource()] = true
	}
}

// hear notes what a request of the program says about it, before it is passed on: which objects it creates or applies, as it
// sends them, and which it deletes and leaves what they have made (propagationPolicy: Orphan), be it said in JSON or in protobuf.
func (t *Told) hear(r *http.Request) {
	target := testkit.TargetOf(r.URL.Path)
	r.Header.Set("User-Agent", agent)
	creates := (r.Method == http.MethodPost || r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType)) && target.Subresource == ""
	body := ReadBody(r)
	var sent Object
	if creates && yaml.Unmarshal(body, &sent) == nil { // If not, the API server says what is wrong with it.
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

// Resources are those that the program has asked for.
func (t *Told) Resources() (all []schema.GroupVersionResource) {
	t.Seen.Range(func(resource, _ any) bool {
		all = append(all, resource.(schema.GroupVersionResource))
		return true
	})
	return all
}

// Names are those of resources.
func Names(resources []schema.GroupVersionResource) (all []string) {
	for _, resource := range resources {
		all = append(all, resource.Resource)
	}
	slices.Sort(all)
	return all
}

// IsProgram reports whether the program writes by this name.
func (t *Told) IsProgram(manager string) bool {
	_, is := t.managers.Load(manager)
	return is
}

// isKept reports whether this manager's fields are compared: the program's, and those of kubectl and the judge, which
// play the user.
func (t *Told) isKept(manager string) bool {
	return strings.HasPrefix(manager, "kubectl") || manager == "judge" || t.IsProgram(manager)
}

// openScript writes a kubeconfig for kubectl that leads past the proxy, into the namespace of the stage.
func (s *Stage) openScript(dir string) {
	s.History = verdict.NewHistory()
	config := Must(clientcmd.LoadFromFile(s.Plane.Kubeconfig))
	for _, c := range config.Contexts {
		c.Namespace = s.Namespace
	}
	s.Part = &Part{Kubeconfig: filepath.Join(dir, "kubectl"), Step: -1}
	Check(clientcmd.WriteToFile(*config, s.Part.Kubeconfig))
}

// Stored is one object that the API server has, and its name in a snapshot: "deployments a".
type Stored struct {
	*unstructured.Unstructured
	Resource schema.GroupVersionResource
	Name     string
}

// IsUsers reports whether it is the user's.
func (o *Stored) IsUsers() bool {
	return script.Made(o.Unstructured, func(manager string) bool { return strings.HasPrefix(manager, "kubectl") })
}

// Makes reports whether the program makes objects.
func (t *Told) Makes() bool {
	return slices.ContainsFunc(t.Ends, func(end End) bool { return len(end.Made) > 0 })
}

// IsMade reports whether an object is the program's. Of a kind of which it creates none it only changes what others have made.
func (t *Told) IsMade(o *Stored) bool {
	return !o.IsUsers() && t.SentFor(o) != nil && script.Made(o.Unstructured, t.IsProgram)
}

// Look returns what is stored of the resources that the program has asked for, without what only others than it
// and the user have written. Where the program had nothing to write, what it writes without a fault is there all the same.
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
			o.Name = o.Resource.Resource + " " + generatedFrom(o, objects)
			words = append(words, begins, "GENERATED")
		}
		now.Add(o.Name, o.Unstructured, t.isKept)
	}
	return now.Renamed(strings.NewReplacer(words...)), objects
}

// generatedFrom is a name for an object that has another one each time: what it begins with.
func generatedFrom(o *Stored, objects []*Stored) string {
	begins := o.GetGenerateName()
	for _, users := range objects {
		if name := users.GetName() + "-"; users.IsUsers() && strings.HasPrefix(o.GetName(), name) && len(name) > len(begins) {
			begins = name
		}
	}
	return begins + "*"
}

// Client is for the objects of a resource in the namespace of the stage.
func (s *Stage) Client(resource schema.GroupVersionResource) dynamic.ResourceInterface {
	return s.Dynamic.Resource(resource).Namespace(s.Namespace)
}

// MostLines is how many lines of one sort a finding has.
const MostLines = 12

// word adds to a finding how it is seen again, and how to say that it is meant so. It returns false if that was said.
func (t *Told) word(sc *Scenario, f *verdict.Finding) bool {
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
	f.Text += fmt.Sprintf("\nSee it again: %s. If it is meant so, add to %s:\nallow:\n- %s",
		again, filepath.Base(t.File), strings.Join(f.Allow[:min(len(f.Allow), MostLines)], "\n- "))
	return true
}

// SentFor is what the program has sent to create an object.
func (t *Told) SentFor(o *Stored) Object {
	sent, exactly := t.sent.Load(o.Resource.Resource + " " + o.GetName())
	if !exactly {
		sent, _ = t.sent.Load(o.Resource.Resource)
	}
	created, _ := sent.(Object)
	return created
}
