//go:build integration

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/internal/run/subprocess"
)

// deployed is the namespace of config/manager. ownAccount is its account, which has the
// permissions of config/rbac.
const deployed, ownAccount = "byhand-system", "byhand"

func (s *server) apply() (said string) {
	s.Helper()
	return s.kubectl("apply", "--validate=strict", "--warnings-as-errors", "-k", "config/default")
}

// deploy applies config/default, and deletes config/manager at the end of the test. Deleting the
// namespace takes seconds, so only the next call of deploy waits for it.
func (s *server) deploy() {
	s.Helper()
	s.kubectl("wait", "--for=delete", "namespace/"+deployed, "--timeout", deadline.String())
	s.Cleanup(func() { s.kubectl("delete", "--ignore-not-found", "--wait=false", "-k", "config/manager") })
	s.apply()
	s.ownersAreKnown(s.account())
}

// ownersAreKnown waits until the admission plugin OwnerReferencesPermissionEnforcement has
// discovered Foos, up to 30 s. Until then only administrators may set blockOwnerDeletion for a
// Foo. An account without permission for foos/finalizers is always rejected.
func (s *server) ownersAreKnown(as *rest.Config) {
	s.Helper()
	kube := kubernetes.NewForConfigOrDie(as)
	owned := foreignDeployment("owned", *metav1.NewControllerRef(&metav1.ObjectMeta{Name: "foo", UID: "uid"}, v1alpha1.SchemeGroupVersion.WithKind("Foo")))
	s.eventually("a Foo may own", func() error {
		_, err := kube.AppsV1().Deployments(s.namespace).Create(s.Context(), owned, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

func (s *server) container() corev1.Container {
	s.Helper()
	deployment, err := s.kube.AppsV1().Deployments(deployed).Get(s.Context(), "byhand", metav1.GetOptions{})
	if err != nil {
		s.Fatal(err)
	}
	if n := len(deployment.Spec.Template.Spec.Containers); n != 1 {
		s.Fatalf("the Deployment has %d containers, want 1", n)
	}
	return deployment.Spec.Template.Spec.Containers[0]
}

// containerArgs are the container's arguments, but listening on loopback only.
func (s *server) containerArgs() []string {
	s.Helper()
	args := slices.Clone(s.container().Args)
	for i := range args {
		if strings.HasPrefix(args[i], "--listen=") {
			args[i] = "--listen=127.0.0.1:0"
		}
	}
	return args
}

// The API server admits config/ unchanged, and the result is two restricted Pods.
func TestDeploy(t *testing.T) {
	s := newServer(t)
	s.deploy()
	t.Run("a second apply changes nothing", testDeployAgain)
	t.Run("two Pods run", testPods)
	t.Run("an unrestricted Pod is rejected", testPodSecurity)
	t.Run("the program runs in its Pod", testPod)
}

func testDeployAgain(t *testing.T) {
	s := newServer(t)
	for line := range strings.Lines(s.apply()) {
		// kubectl sends the selector of a PodDisruptionBudget each time.
		if !strings.HasSuffix(line, " unchanged\n") && line != "poddisruptionbudget.policy/byhand configured\n" {
			t.Errorf("the second apply: %s", line)
		}
	}
	budget, err := s.kube.PolicyV1().PodDisruptionBudgets(deployed).Get(t.Context(), "byhand", metav1.GetOptions{})
	if err != nil || budget.Generation != 1 {
		t.Errorf("the PodDisruptionBudget has generation %d (%v), want 1", budget.Generation, err)
	}
}

func testPods(t *testing.T) {
	s := newServer(t)
	s.kubectl("rollout", "status", "deployment/byhand", "--namespace", deployed, "--timeout", deadline.String())
	s.eventually("the budget counts two Pods and allows one eviction", func() error {
		budget, err := s.kube.PolicyV1().PodDisruptionBudgets(deployed).Get(t.Context(), "byhand", metav1.GetOptions{})
		if err == nil && (budget.Status.ExpectedPods != 2 || budget.Status.CurrentHealthy != 2 || budget.Status.DisruptionsAllowed != 1) {
			return fmt.Errorf("its status is %+v", budget.Status)
		}
		return err
	})
	pods, err := s.kube.CoreV1().Pods(deployed).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 2 {
		t.Fatalf("%d Pods (%v), want 2", len(pods.Items), err)
	}
	for _, pod := range pods.Items {
		if pod.Spec.ServiceAccountName != ownAccount || pod.Status.QOSClass != corev1.PodQOSBurstable {
			t.Errorf("Pod %s has account %s and class %s, want %s and Burstable", pod.Name, pod.Spec.ServiceAccountName, pod.Status.QOSClass, ownAccount)
		}
	}
}

func testPodSecurity(t *testing.T) {
	s := newServer(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Spec: foreignDeployment("pod").Spec.Template.Spec}
	_, err := s.kube.CoreV1().Pods(deployed).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a Pod without a security context: error %v, want Forbidden", err)
	}
}

// The program runs with the files, account and user of its Pod, and nothing else. Its probes
// succeed, and it leads in its own namespace.
func testPod(t *testing.T) {
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root on Linux can give a program its own root folder")
	}
	s := newServer(t)
	host, err := url.Parse(s.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/byhand", s.containerArgs()...)
	cmd.Dir = "/"
	cmd.Env = []string{"KUBERNETES_SERVICE_HOST=" + host.Hostname(), "KUBERNETES_SERVICE_PORT=" + host.Port()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: s.podRoot(), Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	pod := subprocess.Run(t, cmd, deadline)
	pod.WaitFor("workers start")
	lease, err := s.kube.CoordinationV1().Leases(deployed).Get(t.Context(), "byhand", metav1.GetOptions{})
	if err != nil || *lease.Spec.HolderIdentity == "" {
		t.Errorf("Lease %v (%v), want one that is held", lease, err)
	}
	s.createFoo("foo", spec("deployment", 1))
	s.converges("foo", "deployment", 1)

	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(pod.Output())
	container := s.container()
	for _, path := range []string{container.LivenessProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path, "/metrics"} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", path, response.Status)
		}
	}
	pod.Stop()
}

func (s *server) podRoot() string {
	s.Helper()
	folder := s.TempDir()
	mounted := filepath.Join(folder, "var", "run", "secrets", "kubernetes.io", "serviceaccount")
	ca, err := os.ReadFile(s.config.CAFile)
	_, built := command("env", "CGO_ENABLED=0", "go", "build", "-ldflags=-s -w", "-o", folder+"/byhand", ".") // as the Dockerfile does: without libc
	err = errors.Join(err, built, os.MkdirAll(mounted, 0o755))
	for name, content := range map[string]string{"token": s.account().BearerToken, "ca.crt": string(ca), "namespace": deployed} {
		err = errors.Join(err, os.WriteFile(filepath.Join(mounted, name), []byte(content), 0o644))
	}
	if err != nil {
		s.Fatal(err)
	}
	return folder
}
