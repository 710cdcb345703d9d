//go:build integration

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/chapters/internal/chaptertest"
	"example.com/byhand/internal/faults"
)

func (c *cluster) background() context.Context { return context.WithoutCancel(c.Context()) }

// The writes for one At, in their order.
var lifeOfAt = []string{"claim", "create", "note", "done", "release"}

// writeOf says for which of these Ats a write is, and which it is. It leaves the body as it
// was.
func writeOf(r *http.Request, ats ...string) (at, write string) {
	text, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(text))
	for _, name := range ats {
		// In the path, and in a Pod's name, however the Pod is encoded.
		if strings.Contains(r.URL.Path, "/"+name) || r.Method == http.MethodPost && bytes.Contains(text, []byte(name+"-")) {
			at = name
		}
	}
	var object struct {
		Status AtStatus `json:"status"`
	}
	switch err := json.Unmarshal(text, &object); {
	case r.Method == http.MethodPost:
		return at, "create"
	case r.Method == http.MethodPatch:
		return at, "release"
	case err == nil && object.Status.Phase == PhaseRunning && object.Status.PodUID == "":
		return at, "claim"
	case err == nil && object.Status.Phase == PhaseRunning:
		return at, "note"
	default:
		return at, "done"
	}
}

// TestKilled kills the program before and after each of the writes, of one At for each, and
// starts it again.
func TestKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	onePodEach := c.countPods()
	proxy, kubeconfig := c.proxy()
	var program, dead atomic.Pointer[chaptertest.Program]
	proxy.Kill = func() {
		p := program.Load()
		p.Kill()
		dead.Store(p)
	}
	plan, names := map[string]faults.Fault{}, []string(nil)
	for _, write := range lifeOfAt {
		for when, fault := range map[string]faults.Fault{"before": faults.KillBefore, "after": faults.KillAfter} {
			name := when + "-" + write
			plan[name+" "+write], names = fault, append(names, name)
			c.create(name, past)
		}
	}
	var mu sync.Mutex
	proxy.OnWrite(func(_ int, r *http.Request) faults.Fault {
		at, write := writeOf(r, names...)
		mu.Lock()
		defer mu.Unlock()
		fault := plan[at+" "+write]
		delete(plan, at+" "+write)
		return fault
	})
	start := func() { program.Store(c.Start("--kubeconfig", kubeconfig, "--namespace", c.Namespace)) }
	start()
	c.Eventually("every At is DONE", func() error {
		if program.Load() == dead.Load() {
			start()
		}
		return errors.Join(c.endPods(), c.released(PhaseDone))
	})
	mu.Lock()
	defer mu.Unlock()
	if len(plan) > 0 {
		t.Errorf("nothing was killed at %v", plan)
	}
	onePodEach(len(names))
}

// TestTwoPrograms runs the program twice at the same time.
func TestTwoPrograms(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	onePodEach := c.countPods()
	for range 2 {
		c.start(c.Kubeconfig)
	}
	const ats = 10
	soon := time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339)
	for i := range ats {
		c.create(fmt.Sprintf("at-%d", i), []string{past, soon}[i%2])
	}
	c.Eventually("every At is DONE", func() error { return errors.Join(c.endPods(), c.released(PhaseDone)) })
	onePodEach(ats)
}

// TestDeletedPods deletes the Pod of an At in each phase.
func TestDeletedPods(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	onePodEach := c.countPods()
	proxy, kubeconfig := c.proxy()
	var program *chaptertest.Program
	killed := make(chan struct{})
	proxy.Kill = func() {
		program.Kill()
		close(killed)
	}
	var once sync.Once
	proxy.OnWrite(func(_ int, r *http.Request) (fault faults.Fault) {
		if at, write := writeOf(r, "created"); at != "" && write == "note" {
			once.Do(func() { fault = faults.KillBefore })
		}
		return fault
	})
	program = c.start(kubeconfig)
	remove := func(pod string) {
		t.Helper()
		if err := c.pods.Delete(t.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"running", "done", "off"} {
		c.create(name, past)
	}
	remove(c.runs("running").Name)
	c.becomes("running", PhaseFailed, ReasonPodDeleted)
	done := c.runs("done").Name
	if err := c.end(done, corev1.PodSucceeded); err != nil {
		t.Fatal(err)
	}
	c.becomes("done", PhaseDone, "")
	remove(done)
	off := c.runs("off").Name

	// Between the creation of the Pod and the note of its UID. Now the program is off.
	created := c.create("created", past)
	c.Eventually("the program is killed", func() error {
		select {
		case <-killed:
			return nil
		default:
			return errors.New("it is not")
		}
	})
	remove(podName(created))
	remove(off)
	c.start(kubeconfig)
	c.becomes("created", PhaseFailed, ReasonPodDeleted)
	c.becomes("off", PhaseFailed, ReasonPodDeleted)
	c.becomes("done", PhaseDone, "")
	c.Eventually("the Pods go", func() error {
		pods, err := c.pods.List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are still there", len(pods.Items))
		}
		return err
	})
	onePodEach(4)
}

// TestDeletedAts deletes Ats whose Pods still run.
func TestDeletedAts(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	names := []string{"background", "foreground", "orphan", "background-off", "orphan-off"}
	pods := map[string]string{}
	program := c.start(c.Kubeconfig)
	for _, name := range names {
		c.create(name, past)
	}
	for _, name := range names {
		pods[name] = c.runs(name).Name
	}
	c.delete("background", metav1.DeletePropagationBackground)
	c.delete("foreground", metav1.DeletePropagationForeground)
	c.delete("orphan", metav1.DeletePropagationOrphan)
	goes := func(name string) {
		t.Helper()
		c.Eventually("the Pod of "+name+" goes", func() error {
			_, err := c.pods.Get(t.Context(), pods[name], metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("it is still there (%v)", err)
		})
	}
	staysFree := func(name string) {
		t.Helper()
		c.Eventually("the Pod of "+name+" is released", func() error {
			pod, err := c.pods.Get(t.Context(), pods[name], metav1.GetOptions{})
			if err == nil && (isTracked(pod) || pod.DeletionTimestamp != nil) {
				err = fmt.Errorf("finalizers %q, deleted %v", pod.Finalizers, pod.DeletionTimestamp)
			}
			return err
		})
	}
	goes("background")
	goes("foreground")
	staysFree("orphan")

	program.Kill()
	c.delete("background-off", metav1.DeletePropagationBackground)
	c.delete("orphan-off", metav1.DeletePropagationOrphan)
	c.Eventually("the garbage collector acts", func() error {
		deleted, err := c.pods.Get(t.Context(), pods["background-off"], metav1.GetOptions{})
		orphan, err2 := c.pods.Get(t.Context(), pods["orphan-off"], metav1.GetOptions{})
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if deleted.DeletionTimestamp == nil || len(orphan.OwnerReferences) > 0 {
			return errors.New("not yet")
		}
		return nil
	})
	c.start(c.Kubeconfig)
	goes("background-off")
	staysFree("orphan-off")
}

// TestNamespaceDeletion: what is in a namespace goes with it, and nothing hangs. The
// namespace itself follows after half of the Pods' grace period, whatever became of them.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(c.Kubeconfig)
	c.create("running", past)
	c.create("later", "9999-12-31T23:59:59Z")
	c.runs("running")
	if err := c.Kube.CoreV1().Namespaces().Delete(t.Context(), c.Namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the Ats and the Pods go", func() error {
		ats, err := c.client.Ats(c.Namespace).List(t.Context(), metav1.ListOptions{})
		pods, err2 := c.pods.List(t.Context(), metav1.ListOptions{})
		if err := errors.Join(err, err2); err != nil || len(ats.Items)+len(pods.Items) == 0 {
			return err
		}
		return fmt.Errorf("%d Ats and %d Pods are left", len(ats.Items), len(pods.Items))
	})
}

// TestQuotaOfNamespace: a quota refuses the Pod. The status says so, and the Pod is created
// when the quota allows it.
func TestQuotaOfNamespace(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	quotas := c.Kube.CoreV1().ResourceQuotas(c.Namespace)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
	if _, err := quotas.Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.Eventually("the quota counts", func() error {
		got, err := quotas.Get(t.Context(), "none", metav1.GetOptions{})
		if err == nil && len(got.Status.Hard) == 0 {
			err = errors.New("not yet")
		}
		return err
	})
	c.start(c.Kubeconfig)
	c.create("refused", past)
	c.becomes("refused", PhaseRunning, ReasonForbidden)
	if message := c.at("refused").Status.Message; !strings.Contains(message, "exceeded quota: none") {
		t.Errorf("message %q", message)
	}
	if err := quotas.Delete(t.Context(), "none", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.runs("refused")
	c.becomes("refused", PhaseRunning, "")
}

// TestSchedules: what the API server admits, and what becomes of it.
func TestSchedules(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start(c.Kubeconfig)
	post := func(spec string) error {
		body := `{"apiVersion":"cnat.programming-kubernetes.info/v1alpha1","kind":"At","metadata":{"generateName":"at-"},"spec":` + spec + `}`
		return c.client.rest.Post().Namespace(c.Namespace).Resource("ats").Body([]byte(body)).Do(t.Context()).Error()
	}
	const containers = `"containers":[{"name":"main","image":"busybox"}]`
	for spec, want := range map[string]string{
		`{"schedule":"2026-01-01t00:30:00z",` + containers + `}`:                                       "spec.schedule in body should match",
		`{"schedule":"2026-01-01T00:30:00x5Z",` + containers + `}`:                                     "spec.schedule in body should match",
		`{"schedule":"2026-01-01T00:30:00+99:99",` + containers + `}`:                                  "spec.schedule in body should match",
		`{"schedule":"2026-01-01T00:30:00",` + containers + `}`:                                        "spec.schedule in body should match",
		`{"schedule":"` + past + `","command":"echo YAY"}`:                                             `"spec.command" must not validate the schema (not)`,
		`{"schedule":"` + past + `","command":"echo YAY",` + containers + `}`:                          "spec.command",
		`{"schedule":"` + past + `","command":["echo"],` + containers + `}`:                            "spec.command",
		`{"schedule":"` + past + `","containers":[]}`:                                                  "spec.containers",
		`{"schedule":"` + past + `","containers":[{"name":"a","image":"b","command":"echo"}]}`:         "spec.containers[0].command",
		`{"schedule":"` + past + `","startingDeadlineSeconds":-1,` + containers + `}`:                  "spec.startingDeadlineSeconds",
		`{"schedule":"` + past + `","startingDeadlineSeconds":1.5,` + containers + `}`:                 "spec.startingDeadlineSeconds",
		`{"schedule":"` + past + `","containers":[{"name":"a","image":"b"},{"name":"a","image":"c"}]}`: "Duplicate value",
	} {
		if err := post(spec); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want Invalid with %q", spec, err, want)
		}
	}
	// Nor may a time be in the status that breaks the list of all Ats.
	c.create("later", "9999-12-31T23:59:59Z")
	for _, value := range []string{"2026-01-01t00:30:00z", "2026-01-01T00:30:00+99:99", "2026-02-30T00:00:00Z"} {
		err := c.client.rest.Patch("application/merge-patch+json").Namespace(c.Namespace).Resource("ats").Name("later").SubResource("status").
			Body(fmt.Appendf(nil, `{"status":{"startTime":%q}}`, value)).Do(t.Context()).Error()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.startTime") {
			t.Errorf("startTime %s: %v, want Invalid", value, err)
		}
	}

	c.create("no-day", "2026-02-30T00:00:00Z")
	c.becomes("no-day", PhaseFailed, ReasonInvalidSchedule)
	c.becomes("later", PhasePending, "")
	for _, schedule := range []string{time.Now().Add(time.Hour).Format(time.RFC3339), "9999-12-31T23:59:59Z", past} {
		if err := c.patch("later", `{"spec":{"schedule":"`+schedule+`"}}`); err != nil {
			t.Fatal(err)
		}
	}
	c.runs("later")
	err := c.patch("later", `{"spec":{"schedule":"9999-12-31T23:59:59Z"}}`)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec cannot be changed once the phase is no longer PENDING") {
		t.Errorf("a change of the spec while it runs: %v", err)
	}
	if err := c.patch("later", `{"metadata":{"labels":{"a":"b"}}}`); err != nil {
		t.Errorf("a change of the labels: %v", err)
	}
}

// TestRights: the program needs no more than config/rbac gives it.
func TestRights(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.Kubectl("apply", "-f", "config/rbac/role.yaml")
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "at"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "byhand-at"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: c.Namespace, Name: "default"}}}
	if _, err := c.Kube.RbacV1().RoleBindings(c.Namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	own := *c
	ownCluster := *c.Cluster
	own.Cluster = &ownCluster
	own.Config = rest.CopyConfig(c.Config)
	own.Config.Impersonate.UserName = "system:serviceaccount:" + c.Namespace + ":default"
	_, kubeconfig := own.proxy()
	program := c.start(kubeconfig)
	c.create("one", past)
	c.Eventually("it is DONE", func() error { return errors.Join(c.endPods(), c.released(PhaseDone)) })
	c.create("two", past)
	pod := c.runs("two").Name
	c.delete("two", metav1.DeletePropagationBackground)
	c.Eventually("the Pod goes", func() error {
		if _, err := c.pods.Get(t.Context(), pod, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is still there (%v)", err)
		}
		return nil
	})
	if output := program.Output(); strings.Contains(strings.ToLower(output), "forbidden") {
		t.Errorf("the account lacks a right:\n%s", output)
	}
}

// TestReadme runs the commands of README.md.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	// A kubeconfig with the test's namespace, so that kubectl needs no -n.
	config, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = c.Namespace
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	shell := func(command string) (string, error) {
		run := exec.Command("sh", "-c", command)
		run.Dir, run.Env = "../..", append(os.Environ(), "KUBECONFIG="+kubeconfig)
		output, err := run.CombinedOutput()
		return string(output), err
	}
	c.Kubectl("apply", "-f", "config/samples")
	program := c.start(kubeconfig)
	c.becomes("later", PhasePending, "")
	c.runs("example-at")

	says := map[string]string{
		"kubectl explain":             "RFC 3339",
		"kubectl get pods":            "Running",
		"kubectl patch at example-at": "spec cannot be changed once the phase is no longer PENDING",
		"kubectl wait at example-at":  "condition met",
		"kubectl delete pod":          "deleted",
		"kubectl wait at later --for=jsonpath='{.status.reason}'": "condition met",
	}
	for _, command := range chaptertest.Commands(t, "Try it") {
		output, err := shell(command)
		if refused := strings.HasPrefix(command, "kubectl patch at example-at"); (err != nil) != refused {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
		for begins, want := range says {
			if strings.HasPrefix(command, begins) && !strings.Contains(output, want) {
				t.Errorf("%s does not say %q:\n%s", command, want, output)
			}
		}
	}
	c.Eventually("the Pods follow", func() error {
		pods, err := c.pods.List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are still there", len(pods.Items))
		}
		return err
	})
	program.Signal(syscall.SIGTERM)
	if code := program.Exit(); code != 0 {
		t.Errorf("exit code %d after SIGTERM, want 0", code)
	}
}

// TestMistakesOfUse: each gets one line that says what to do, and exit code 1.
func TestMistakesOfUse(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"at: flag provided but not defined": {"--no-such-flag"},
		"at: usage: no arguments":           {"now"},
		"at: cannot read the kubeconfig":    {"--kubeconfig", "/nowhere"},
	} {
		p := chaptertest.Start(t, args...)
		if code := p.Exit(); code != 1 {
			t.Errorf("%q: exit code %d, want 1", args, code)
		}
		if output := strings.TrimSpace(p.Output()); !strings.HasPrefix(output, want) || strings.Contains(output, "\n") {
			t.Errorf("%q: %q, want one line that begins with %q", args, output, want)
		}
	}
}
