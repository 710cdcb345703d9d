package proxy

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/internal/observe/observer"
	"example.com/byhand/internal/tests"
)

// reconciles calls reconcile with the Deployment at each event and each resync, until ctx is done.
func reconciles(ctx context.Context, config *rest.Config, reconcile func(appsclient.DeploymentInterface, *appsv1.Deployment)) {
	kube := kubernetes.NewForConfigOrDie(config)
	client := kube.AppsV1().Deployments("default")
	factory := informers.NewSharedInformerFactoryWithOptions(kube, time.Second, informers.WithNamespace("default"))
	call := func(object any) { reconcile(client, object.(*appsv1.Deployment).DeepCopy()) }
	_, _ = factory.Apps().V1().Deployments().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: call, UpdateFunc: func(_, object any) { call(object) }})
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
}

// scaledTo is a controller that wants a number of replicas, and ignores other writers.
func scaledTo(replicas int32) func(appsclient.DeploymentInterface, *appsv1.Deployment) {
	return func(client appsclient.DeploymentInterface, d *appsv1.Deployment) {
		if *d.Spec.Replicas != replicas {
			d.Spec.Replicas = &replicas
			d.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: fmt.Sprint("scaler-to-", replicas), Time: new(metav1.Now())}}
			_, _ = client.Update(context.Background(), d, metav1.UpdateOptions{})
		}
	}
}

// wait waits for a log line that matches a regular expression, and shows the log until then.
func wait(t *testing.T, log io.ReadCloser, line string) {
	t.Helper()
	defer log.Close()
	defer time.AfterFunc(time.Minute, func() { _ = log.Close() }).Stop()
	told := ""
	for lines := bufio.NewScanner(log); lines.Scan(); {
		told += lines.Text() + "\n"
		if regexp.MustCompile(line).MatchString(lines.Text()) {
			t.Log(told)
			return
		}
	}
	t.Errorf("nothing tells %q:\n%s", line, told)
}

// The log identifies each of six common faults. go test -v -run TestFaults shows it.
func TestFaults(t *testing.T) {
	stamps := 0
	for name, test := range map[string]struct {
		reconcile, other func(appsclient.DeploymentInterface, *appsv1.Deployment)
		qps              float32 // 0 means 100
		tells            string
	}{
		"a time stamp in an annotation": {reconcile: func(client appsclient.DeploymentInterface, d *appsv1.Deployment) {
			stamps++
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, "seen", fmt.Sprint("the clock says ", stamps))
			_, _ = client.Update(context.Background(), d, metav1.UpdateOptions{})
		}, tells: `finding  loop: PUT .*: metadata.annotations.seen "the clock says \d+" → "the clock says \d+"  \(because of its own write: Deployment default/a was changed, .* before\), 10 times in a row`},
		"the status each time": {reconcile: func(client appsclient.DeploymentInterface, d *appsv1.Deployment) {
			_, _ = client.UpdateStatus(context.Background(), d, metav1.UpdateOptions{})
		}, tells: `finding  no-op-write: PUT .*/a/status → 200: nothing changed  \(no cause seen: a timer, or a resync\?\)`},
		"the compared object has no defaults": {reconcile: func(client appsclient.DeploymentInterface, d *appsv1.Deployment) {
			// The API server has set defaults, which the variable want lacks.
			if want := deployment().Spec; !reflect.DeepEqual(want, d.Spec) {
				d.Spec = want
				_, _ = client.Update(context.Background(), d, metav1.UpdateOptions{})
			}
		}, tells: `finding  no-op-write: PUT .*/deployments/a → 200: nothing changed; the API server filled in spec\.replicas none → 1  \(no cause seen`},
		"two that fight": {reconcile: scaledTo(3), other: scaledTo(5),
			tells: `finding  fight: PUT .*: spec.replicas 5 → 3  \(because Deployment default/a was changed, .* before\), 3 times in a row; undone by scaler-to-5`},
		"a list without an order": {reconcile: func(client appsclient.DeploymentInterface, d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Env = nil
			for name := range map[string]bool{"A": true, "B": true, "C": true, "D": true, "E": true} {
				d.Spec.Template.Spec.Containers[0].Env = append(d.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: name})
			}
			_, _ = client.Update(context.Background(), d, metav1.UpdateOptions{})
		}, tells: `finding  loop: PUT .*: the same values in another order: spec.template.spec.containers\[0\].env\[\d\].name "." → ".", .*\(because of its own write: Deployment default/a was changed, .* before\)`},
		"five a second": {reconcile: func(client appsclient.DeploymentInterface, _ *appsv1.Deployment) {
			for range 20 {
				_, _ = client.Get(context.Background(), "a", metav1.GetOptions{})
			}
		}, qps: 5, tells: `finding  client-limit: 8 requests in 1\.\d+s, the last GET .*/deployments/a: one every 2..ms`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tests.NewAPIServer()
			p, config := before(t, s)
			config.QPS, config.Burst = cmp.Or(test.qps, 100), 1 // or a loop would log hundreds of lines
			log, out := io.Pipe()
			p.Print(observer.Flag{}, out)
			if _, err := kubernetes.NewForConfigOrDie(s.Config()).AppsV1().Deployments("default").Create(t.Context(), deployment(), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			go reconciles(t.Context(), config, test.reconcile)
			if test.other != nil {
				go reconciles(t.Context(), s.Config(), test.other)
			}
			wait(t, log, test.tells)
		})
	}
}

func deployment() *appsv1.Deployment {
	labels := map[string]string{"app": "a"}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}}},
	}}
}
