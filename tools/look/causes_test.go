//go:build bare

package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/internal/run/subprocess"
	"example.com/byhand/kit/testkit"
	"example.com/byhand/tools/look/proxy"
)

const deadline = 2 * time.Minute

// clients returns a client of each kind, and a function that deletes all objects of both.
func clients(config *rest.Config) (foos clientset.FooInterface, deployments appsclient.DeploymentInterface, clear func()) {
	foos, deployments = clientset.NewForConfigOrDie(config).SamplecontrollerV1alpha1().Foos("default"), kubernetes.NewForConfigOrDie(config).AppsV1().Deployments("default")
	return foos, deployments, func() {
		_ = foos.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
		_ = deployments.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})
	}
}

// acts are the requests of other clients for a Foo and its Deployment. The second plays the Deployment
// controller.
var acts = []struct{ verb, path, body string }{
	{http.MethodPost, "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos", `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":"NAME"},"spec":{"deploymentName":"NAME","replicas":1}}`},
	{http.MethodPatch, "/apis/apps/v1/namespaces/default/deployments/NAME/status", `{"status":{"replicas":1,"readyReplicas":1,"availableReplicas":1}}`},
	{http.MethodPatch, "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/NAME", `{"spec":{"replicas":3}}`},
	{http.MethodPatch, "/apis/apps/v1/namespaces/default/deployments/NAME", `{"spec":{"replicas":7}}`},
	{http.MethodDelete, "/apis/apps/v1/namespaces/default/deployments/NAME", ``},
	{http.MethodPatch, "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos/NAME", `{"spec":{"deploymentName":"NAME-renamed"}}`},
}

// disturb performs the first sorts of the acts, for each Foo. After each it waits until the
// Deployments match the Foos. It calls undo before the last act, to end the fault: otherwise they might never match.
func disturb(t *testing.T, config *rest.Config, foos, sorts int, undo func()) {
	t.Helper()
	ctx, server := t.Context(), kubernetes.NewForConfigOrDie(config).RESTClient()
	client, deployments, clear := clients(config)
	t.Cleanup(clear)
	for n, act := range acts[:sorts] {
		if n == sorts-1 {
			undo()
		}
		contentType := map[string]types.PatchType{http.MethodPatch: types.MergePatchType}[act.verb] // else JSON
		for i := range foos {
			named := strings.NewReplacer("NAME", fmt.Sprint("foo-", i))
			if err := server.Verb(act.verb).AbsPath(named.Replace(act.path)).SetHeader("Content-Type", string(contentType)).Body([]byte(named.Replace(act.body))).Do(ctx).Error(); err != nil {
				t.Fatal(err)
			}
		}
		if err := wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, deadline, true, func(ctx context.Context) (bool, error) {
			all, err := client.List(ctx, metav1.ListOptions{})
			made, err2 := deployments.List(ctx, metav1.ListOptions{})
			if err := cmp.Or(err, err2); err != nil {
				return false, err
			}
			want, got := sets.New[string](), sets.New[string]()
			for _, foo := range all.Items {
				want.Insert(fmt.Sprintf("%s %d %d", foo.Spec.DeploymentName, *foo.Spec.Replicas, foo.Status.AvailableReplicas))
			}
			for _, d := range made.Items {
				got.Insert(fmt.Sprintf("%s %d %d", d.Name, *d.Spec.Replicas, d.Status.AvailableReplicas))
			}
			return want.Equal(got), nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// faults configure a second proxy, between look's proxy and the API server, before the acts begin. A
// fault that repeats ends with ctx.
var faults = map[string]func(ctx context.Context, p *testkit.Proxy){
	"none": func(context.Context, *testkit.Proxy) {},
	"writes are refused": func(_ context.Context, p *testkit.Proxy) { // every seventh
		p.OnWrite(func(n int, _ *http.Request) testkit.Fault {
			return map[bool]testkit.Fault{true: testkit.Refuse, false: testkit.Pass}[n%7 == 0]
		})
	},
	"Foos come late": func(ctx context.Context, p *testkit.Proxy) { // by up to a second
		go wait.UntilWithContext(ctx, func(context.Context) {
			defer p.HoldWatches("foos")()
			time.Sleep(time.Second)
		}, 2*time.Second)
	},
}

// recorded reads the writes in a recording, and returns the known causes by request, in order. look
// stores the cause in the response. The program stores it in the reconcile that sent the write.
func recorded(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	steps, err := trace.ReadRecording(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	bySeq, all := map[int64]trace.Step{}, map[string][]string{}
	for _, step := range steps {
		bySeq[step.Seq] = step
		cause := step.Cause
		if step.What == trace.Sent {
			cause = bySeq[step.CauseSeq].Cause
		}
		if step.Request == nil || step.Request.Method == http.MethodGet || cause == "" {
			continue
		}
		// The reconcile reads the stores, so events received shortly before the write count as well.
		for seq := step.CauseSeq - 50; step.What == trace.Sent && seq < step.Seq; seq++ {
			if s := bySeq[seq]; s.What == trace.Received && s.For == step.For {
				cause += "; " + heard + s.Kind + " " + path.Base(s.Key)
			}
		}
		key := step.Request.Method + " " + step.Request.Path + " " + step.Key
		all[key] = append(all[key], cause)
	}
	return all
}

const (
	overDelay = "the delay is over"
	heard     = "heard: "
)

var (
	// outside and inside convert a cause of look and of the program to the same words, such as "Foo a
	// changed".
	outside = strings.NewReplacer("because ", "", " default/", " ", " was ", " ")
	inside  = strings.NewReplacer("our own write: ", "of its own write: ", " updated", " changed", " tombstone", " deleted", " in the first list", " added")
	object  = regexp.MustCompile(`(\S+) default/(\S+) was `)
)

// isOne reports whether look's cause is among the causes that the program names.
func isOne(cause, named string) bool {
	if strings.HasPrefix(cause, "again, ") {
		return strings.Contains(named, overDelay)
	}
	event, _, _ := strings.Cut(outside.Replace(cause), ", ")
	return slices.Contains(strings.Split(inside.Replace(named), "; "), event)
}

// wasHeard reports whether the program had just received an event of the object in look's cause.
func wasHeard(cause, named string) bool {
	is := object.FindStringSubmatch(cause)
	return is != nil && strings.Contains(named+";", heard+is[1]+" "+is[2]+";")
}

// At least 96 % of look's causes must be among the causes that the program prints with --trace=json,
// and 98 % including the explained differences.
func TestCauses(t *testing.T) {
	config, program := cluster(t), build(t, "../..")
	var all counts
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		t.Run(fault, func(t *testing.T) {
			c := causesUnder(t, config, fault, program)
			t.Logf("%s: %s", fault, c)
			all = counts{all.writes + c.writes, all.agreed + c.agreed, all.explained + c.explained}
		})
	}
	if t.Logf("together: %s", all); all.writes < 900 || all.agreed*100 < 96*all.writes || (all.agreed+all.explained)*100 < 98*all.writes {
		t.Errorf("%s; want 96 %% of 900 to agree, and 98 %% with those explained", all)
	}
}

func build(t *testing.T, folder string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	if output, err := exec.Command("go", "build", "-o", program, folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program
}

// counts are the writes, the agreeing causes, and the explained differences. A difference is explained
// if the write had waited for a delay, or an event triggered it before its delay was over. It is also
// explained if the reconcile began because of another event, and read the data of this one.
type counts struct{ writes, agreed, explained int }

func (c counts) String() string {
	return fmt.Sprintf("%d of %d agree, %d more are explained", c.agreed, c.writes, c.explained)
}

// cluster returns the configuration of the test's API server.
func cluster(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil || os.Getenv("KUBECONFIG") == "" {
		t.Fatalf("this test needs a cluster of etcd and kube-apiserver alone, see tools/look/README.md: %v", err)
	}
	config.QPS = -1
	return config
}

func causesUnder(t *testing.T, config *rest.Config, fault, program string) (c counts) {
	faulty, err := testkit.NewProxy(config)
	if err != nil {
		t.Fatal(err)
	}
	defer faulty.Close()
	p, err := proxy.New(t.Context(), &rest.Config{Host: faulty.URL, QPS: -1}, proxy.Options{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	var record bytes.Buffer
	p.Print(observer.JSON, &record)
	controller := subprocess.Run(t, exec.Command(program, "--trace=json", "--kubeconfig", p.Kubeconfig), deadline)
	controller.WaitFor("workers start")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	faults[fault](ctx, faulty)
	disturb(t, config, 30, 6, func() {
		cancel()
		faulty.OnWrite(nil)
		faulty.Intercept(nil)
	})
	controller.Stop()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	seen := recorded(t, record.Bytes())
	known := recorded(t, bytes.Join(regexp.MustCompile(`(?m)^\{.*\n`).FindAll([]byte(controller.Output()), -1), nil))
	for key, causes := range seen {
		if len(known[key]) != len(causes) {
			t.Errorf("%s: %d times from outside, %d from inside", key, len(causes), len(known[key]))
			continue
		}
		for i, cause := range causes {
			c.writes++
			switch named := known[key][i]; {
			case isOne(cause, named):
				c.agreed++
			case strings.HasPrefix(named, overDelay), strings.HasPrefix(cause, "again, "), wasHeard(cause, named):
				c.explained++
			default:
				t.Logf("%s: %s; from inside: %s", key, cause, named)
			}
		}
	}
	return c
}
