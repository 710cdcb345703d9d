package look

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/internal/observer"
	"example.com/byhand/internal/trace"
	"example.com/byhand/kit/testkit"
)

// lines is what the story has printed. It is safe for concurrent use.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// behind returns a Glass before an API server in memory, what it tells, and the configuration of a
// program behind it.
func behind(t *testing.T) (s *testkit.APIServer, g *Glass, told *lines, config *rest.Config) {
	t.Helper()
	s = testkit.NewAPIServer()
	g, told, config = before(t, s)
	return s, g, told, config
}

// before returns a Glass before any server.
func before(t *testing.T, handler http.Handler) (g *Glass, told *lines, config *rest.Config) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	told = &lines{more: make(chan struct{}, 1)}
	g, err := New(&rest.Config{Host: server.URL}, Options{Address: "127.0.0.1:0", Story: told})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	if config, err = clientcmd.BuildConfigFromFlags("", g.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return g, told, config
}

// wait waits until a line was told, by a regular expression, and returns what was told until then.
func (l *lines) wait(t *testing.T, line string) string {
	t.Helper()
	is := regexp.MustCompile(line)
	for timeout := time.After(time.Minute); ; {
		text := l.String()
		if is.MatchString(text) {
			return text
		}
		select {
		case <-l.more:
		case <-timeout:
			t.Fatalf("nothing tells %q:\n%s", line, text)
		}
	}
}

// What came and what went is told, with the change, its writer and its cause.
func TestStory(t *testing.T) {
	s, _, told, config := behind(t)
	ctx, client, kube := t.Context(), clientset.NewForConfigOrDie(config), kubernetes.NewForConfigOrDie(config)
	user := clientset.NewForConfigOrDie(s.Config()).SamplecontrollerV1alpha1().Foos("default")
	watching, err := client.SamplecontrollerV1alpha1().Foos("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	told.wait(t, regexp.QuoteMeta("watches  foos.samplecontroller.k8s.io in default"))

	foo, err := user.Create(ctx, &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: v1alpha1.FooSpec{DeploymentName: "a"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-watching.ResultChan()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, v1alpha1.SchemeGroupVersion.WithKind("Foo"))}}}
	created, err := kube.AppsV1().Deployments("default").Create(ctx, deployment, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told.wait(t, regexp.QuoteMeta("deployments → 201  (because Foo default/a was added, "))

	foo.Spec.Replicas = new(int32(3))
	if foo, err = user.Update(ctx, foo, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	<-watching.ResultChan()
	created.Spec.Replicas = new(int32(3))
	if _, err = kube.AppsV1().Deployments("default").Update(ctx, created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	told.wait(t, regexp.QuoteMeta("changed  Foo default/a: spec.replicas none → 3"))
	told.wait(t, regexp.QuoteMeta("PUT /apis/apps/v1/namespaces/default/deployments/a → 200: spec.replicas 1 → 3  (because Foo default/a was changed, "))

	// The same once more changes nothing, and is not its own event.
	foo.Status.AvailableReplicas = 3
	for i := range 2 {
		if foo, err = client.SamplecontrollerV1alpha1().Foos("default").UpdateStatus(ctx, foo, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			<-watching.ResultChan()
		}
	}
	told.wait(t, regexp.QuoteMeta("foos/a/status → 200: status.availableReplicas none → 3  (because Foo default/a was changed, "))
	told.wait(t, regexp.QuoteMeta("foos/a/status → 200: nothing changed  (because of its own write: Foo default/a was changed, "))
	if strings.Contains(told.String(), "changed  Foo default/a: status") {
		t.Errorf("its own write is told as somebody else's:\n%s", told)
	}
}

// Who has no token is refused, and only this machine can reach the Glass. Its kubeconfig is of one
// user, and goes with it.
func TestSafe(t *testing.T) {
	_, g, _, config := behind(t)
	info, err := os.Stat(g.Kubeconfig)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the kubeconfig: %v, %v; want mode 0600", info, err)
	}
	config.BearerToken = "another"
	if _, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("another token is accepted")
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(g.Kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig is left: %v", err)
	}
	for _, address := range []string{"0.0.0.0:0", ":0", "10.1.2.3:0"} {
		if g, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{Address: address}); err == nil {
			t.Errorf("it listens on %s", address)
			_ = g.Close()
		}
	}
}

// Nothing of a Secret's data is told, kept, recorded or reported.
func TestSecrets(t *testing.T) {
	_, g, told, config := behind(t)
	var record, report bytes.Buffer
	var form observer.Flag
	if err := form.Set("json"); err != nil {
		t.Fatal(err)
	}
	g.Print(form, &record)
	ctx, secrets := t.Context(), kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default")
	watching, err := secrets.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watching.Stop()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"last-applied": "marked", "long": strings.Repeat("marked", 100)}},
		Data: map[string][]byte{"key": []byte("marked")}, StringData: map[string]string{"other": "marked"}}
	if secret, err = secrets.Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	<-watching.ResultChan()
	secret.Data["key"] = []byte("marked, too")
	if _, err = secrets.Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	<-watching.ResultChan()
	if _, err = secrets.Update(ctx, secret, metav1.UpdateOptions{}); err == nil {
		t.Error("a conflict is none")
	}
	told.wait(t, regexp.QuoteMeta("PUT /api/v1/namespaces/default/secrets/a → 409"))
	tables := fmt.Sprint(g.Tables(ctx))
	_ = g.Close() // All is told.
	if err := g.Report(&report); err != nil || !strings.Contains(record.String(), "secrets/a") || !strings.Contains(report.String(), "own-conflict") {
		t.Errorf("the record or the report is not whole: %v\n%s\n%s", err, &record, &report)
	}
	kept := string(g.world.known("secrets", "default/a").fields)
	for _, secret := range []string{"marked", "bWFya2Vk", "Bearer", g.token} {
		for _, text := range []string{told.String(), kept, record.String(), report.String(), tables} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is told, kept, recorded or reported:\n%s", secret, text)
			}
		}
	}
}

// The token of a ServiceAccount is in an answer that is about it, and no part of it.
func TestToken(t *testing.T) {
	s := newScript(t)
	account := "/api/v1/namespaces/default/serviceaccounts"
	event, _ := s.watches(0, account+"?watch=1")
	event(1, "ADDED", thing("a", "default", 1, "", ""))
	s.sends(2, "POST", account+"/a/token", `{}`, 201, thing("a", "default", 0, `,"status":{"token":"marked"}`, ""))
	event(3, "MODIFIED", thing("a", "default", 2, "", ""))
	if strings.Contains(s.told.String()+string(s.world.known("serviceaccounts", "default/a").fields), "marked") {
		t.Errorf("the token is told or kept:\n%s", s.told)
	}
}

// A list that is told again says what has changed and what was deleted while nobody watched.
func TestToldAgain(t *testing.T) {
	s := newScript(t)
	end := `{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}`
	for i, objects := range [][]string{{thing("a", "default", 1, "", ""), thing("b", "default", 2, "", "")}, {thing("a", "default", 3, `,"spec":{"n":1}`, "")}} {
		event, x := s.watches(1000*i, some+"?watch=1&sendInitialEvents=true")
		for _, object := range objects {
			event(1000*i+1, "ADDED", object)
		}
		event(1000*i+2, "BOOKMARK", end)
		s.tells(1000*i+900, x, trace.Ended, http.StatusOK, "")
	}
	s.told.wait(t, `changed  Widget default/a: spec.n none → 1\n`)
	s.told.wait(t, `deleted  Widget default/b, while nobody watched\n`)
}

// An API server that goes away is told once.
func TestLost(t *testing.T) {
	told := &lines{more: make(chan struct{}, 1)}
	g, err := New(&rest.Config{Host: "http://127.0.0.1:1"}, Options{Address: "127.0.0.1:0", Story: told})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", g.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := kubernetes.NewForConfigOrDie(config).CoreV1().RESTClient().Get().Resource("pods").MaxRetries(0).Do(t.Context()).Error(); err == nil {
			t.Error("there is an answer")
		}
	}
	_ = g.Close()
	if n := strings.Count(told.String(), "no answer from the API server: dial tcp 127.0.0.1:1: connect: connection refused. Is it still running?"); n != 1 {
		t.Errorf("told %d times, want once:\n%s", n, told)
	}
}

// A write has one cause: what came since the one of the same write before it.
func TestCause(t *testing.T) {
	w := newWorld()
	h := w.happened(&object{})
	put := func(ms int, failed, want string) {
		t.Helper()
		put := &write{note: note{exchange: &exchange{method: http.MethodPut, path: "/a", began: at(ms)}}, now: &object{}}
		put.failed = failed
		got := put.explain(h, w)
		if !strings.HasPrefix(got, want) {
			t.Errorf("after %d ms: %s, want %s", ms, got, want)
		}
		h.sent[put.key()] = put
	}
	add := func(ms int, kind, what string, echo bool) {
		object := &object{}
		object.Kind, object.Name = kind, "a"
		h.add(happening{at: at(ms), what: what, echo: echo, object: object})
	}
	put(0, "", "cause not seen: a resync, or a timer?")
	add(10, "Foo", "was added", false)
	put(11, "409 Conflict", "because Foo a was added, 1ms before")
	put(20, "", "again, 9ms after 409 Conflict")
	add(21, "Foo", "was changed", true)
	put(200, "", "because of its own write: Foo a was changed, 179ms before")
	put(300, "", "cause not seen: a resync, or a timer?")
	add(400, "Foo", "was changed", true)
	add(401, "Deployment", "was changed", false)
	put(402, "", "because Deployment a was changed")
	add(501, "Deployment", "was changed", false)
	put(500, "", "cause not seen: a resync, or a timer?") // What comes later is no cause.
}
