//go:build bare

package e2e

import (
	"flag"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

var (
	foos    = flag.Int("foos", 2000, "how many Foos")
	workers = flag.Int("workers", 16, "how many workers")
	rounds  = flag.Int("rounds", 5, "how many pairs of floor and controller")
	idle    = flag.Duration("idle", 65*time.Second, "how long to watch for writes afterwards")
)

// TestColdStart starts the program on many Foos that have nothing yet, on etcd and
// kube-apiserver alone, and counts at the API server what it writes: one POST and
// one status PUT per Foo, no 409, and afterwards nothing. It fails on a count,
// never on a time. Beside each run stands the floor: a bare loop that does the
// same two writes per Foo with as many workers, no cache and no queue.
func TestColdStart(t *testing.T) {
	var rates, floors, ratios []float64
	for round := range *rounds {
		floor := bareLoop(t)
		rate := coldStart(t, round == *rounds-1)
		floors, rates, ratios = append(floors, floor), append(rates, rate), append(ratios, rate/floor)
		t.Logf("round %d: floor %.0f Foos/s, controller %.0f Foos/s, ratio %.2f", round+1, floor, rate, rate/floor)
	}
	t.Logf("%d Foos, %d workers, %d CPUs: floor %.0f Foos/s, controller %.0f Foos/s, ratio %.2f (medians of %d rounds; ratios %.2f to %.2f)",
		*foos, *workers, runtime.NumCPU(), median(floors), median(rates), median(ratios), *rounds, slices.Min(ratios), slices.Max(ratios))
}

// coldStart returns the Foos per second from the start of the process to the last
// status.
func coldStart(t *testing.T, watchIdle bool) float64 {
	s := newServer(t)
	s.createFoos()
	before := s.writes()

	begin := time.Now()
	// Two resyncs fall into the time in which nothing may be written.
	resync := max(*idle/3, time.Second).String()
	program := start(t, nil, "--namespace", s.namespace, "--workers", strconv.Itoa(*workers), "--resync", resync)
	want := fmt.Sprintf("%d Foos", *foos)
	program.waitFor(want)
	var rate float64
	var done, read int
	s.eventually("every Foo has a status", func() error {
		// Only what is new: on two CPUs the one who measures must not compete.
		news := program.outputFrom(read)
		news = news[:strings.LastIndexByte(news, '\n')+1]
		read += len(news)
		if done += strings.Count(news, "/status → 200"); done < *foos {
			return fmt.Errorf("%d of %d have one", done, *foos)
		}
		rate = float64(*foos) / time.Since(begin).Seconds()
		return nil
	})
	if watchIdle {
		// Nothing can be waited for: the claim is that nothing happens.
		t.Logf("watching for writes for %s", *idle)
		time.Sleep(*idle)
	}
	program.stop()

	wrote := s.writes().minus(before)
	expected := counts{"POST deployments": *foos, "PUT foos/status": *foos}
	if fmt.Sprint(wrote) != fmt.Sprint(expected) {
		t.Errorf("the API server counts %v, want %v", wrote, expected)
	}
	return rate
}

// bareLoop returns the Foos per second of the fewest requests that do the job.
func bareLoop(t *testing.T) float64 {
	s := newServer(t)
	all := s.createFoos()
	begin := time.Now()
	s.parallel(func(i int) error {
		foo, labels := all[i], map[string]string{"foo": "foo"}
		deployment := &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: foo.Spec.DeploymentName, OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(foo, v1alpha1.SchemeGroupVersion.WithKind("Foo"))}},
			Spec: appsv1.DeploymentSpec{Replicas: foo.Spec.Replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}}}},
		}
		if _, err := s.kube.AppsV1().Deployments(s.namespace).Create(t.Context(), deployment, metav1.CreateOptions{}); err != nil {
			return err
		}
		foo.Status.ObservedGeneration = foo.Generation
		for _, conditionType := range []string{v1alpha1.FooReady, v1alpha1.FooProgressing} {
			foo.Status.Conditions = append(foo.Status.Conditions, metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse,
				ObservedGeneration: foo.Generation, LastTransitionTime: metav1.Now(), Reason: v1alpha1.ReasonWaitingForReplicas, Message: "0 of 1 replicas are available"})
		}
		_, err := s.client.SamplecontrollerV1alpha1().Foos(s.namespace).UpdateStatus(t.Context(), foo, metav1.UpdateOptions{})
		return err
	})
	return float64(*foos) / time.Since(begin).Seconds()
}

// createFoos creates the many Foos, and gives whoever waits for them more time.
func (s *server) createFoos() []*v1alpha1.Foo {
	deadline = max(deadline, time.Duration(*foos)*50*time.Millisecond)
	all := make([]*v1alpha1.Foo, *foos)
	s.parallel(func(i int) (err error) {
		name := fmt.Sprintf("foo-%05d", i)
		foo := &v1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec(name, 1)}
		all[i], err = s.client.SamplecontrollerV1alpha1().Foos(s.namespace).Create(s.Context(), foo, metav1.CreateOptions{})
		return err
	})
	return all
}

// parallel calls do for each Foo's number, with as many goroutines as the
// controller has workers.
func (s *server) parallel(do func(i int) error) {
	var next atomic.Int64
	var running sync.WaitGroup
	for range *workers {
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < *foos; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					s.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
}

// counts is how many requests of a sort the API server has answered.
type counts map[string]int

func (c counts) minus(before counts) counts {
	difference := counts{}
	for what, n := range c {
		if n -= before[what]; n != 0 {
			difference[what] = n
		}
	}
	return difference
}

var requestTotal = regexp.MustCompile(`^apiserver_request_total\{(.*)\} (\S+)$`)

// writes reads from the API server's own metrics how many writes to Foos and
// Deployments it has answered; those that it refused are counted apart.
func (s *server) writes() counts {
	s.Helper()
	text, err := s.kube.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	total := counts{}
	for line := range strings.Lines(string(text)) {
		match := requestTotal.FindStringSubmatch(strings.TrimSpace(line))
		if match == nil {
			continue
		}
		label := map[string]string{}
		for pair := range strings.SplitSeq(match[1], ",") {
			name, value, _ := strings.Cut(pair, "=")
			label[name] = strings.Trim(value, `"`)
		}
		if verb := label["verb"]; (label["resource"] != "foos" && label["resource"] != "deployments") || verb == "GET" || verb == "LIST" || verb == "WATCH" {
			continue
		}
		what := label["verb"] + " " + label["resource"]
		if label["subresource"] != "" {
			what += "/" + label["subresource"]
		}
		if !strings.HasPrefix(label["code"], "2") {
			what += " refused with " + label["code"]
		}
		n, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			s.Fatal(err)
		}
		total[what] += int(n)
	}
	return total
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
