package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"example.com/byhand/chapters/restaurant/v1beta1"
)

// APIServer is one form of an aggregated API server, as a program.
type APIServer struct {
	// Name is what tables and files call it.
	Name string
	// Group and Resource are what it is asked for, in Version, and in the namespace default.
	Group, Version, Resource string
	// kind and spec are those of an object of this resource.
	kind, spec string
	// Needs is what must be created before such an object, as JSON by its resource.
	Needs map[string]string

	// edits are made in the main.go of pkg. Without a pkg it is sample-apiserver.
	pkg   string
	edits []edit
	args  func(APIServerOptions) []string
}

// APIServerOptions say where an API server runs.
type APIServerOptions struct {
	// Kubeconfig names the cluster that it belongs to, Etcd the URL of an etcd.
	Kubeconfig, Etcd string
	// Dir is a folder of its own, which exists.
	Dir string
	// Port is where it listens, on the loopback interface.
	Port int
}

// APIServers returns them in the order in which they are shown:
//
//   - byhand: chapters/apiserver, as it is.
//   - byhand-alone: the same, but it asks the API server nothing: neither whether somebody
//     may do something nor whether a namespace is there. What is left is the server itself.
//   - sample-apiserver: Kubernetes' own example, as its module has it.
func APIServers() []APIServer {
	byhand := APIServer{
		Name: "byhand", pkg: "example.com/byhand/chapters/apiserver",
		Group: "aggregated." + v1beta1.GroupName, Version: "v1beta1", Resource: "pizzas",
		kind: "Pizza", spec: `{"toppings":[{"name":"tomato","quantity":1}]}`,
		args: func(o APIServerOptions) []string {
			return []string{"--kubeconfig", o.Kubeconfig, "--store", filepath.Join(o.Dir, "journal"), "--address", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))}
		},
	}
	byhand.Needs = map[string]string{"toppings": byhand.object("Topping", "tomato", `{"cost":50}`)}
	alone := byhand
	alone.Name, alone.edits = "byhand-alone", notAsking
	return []APIServer{byhand, alone, {
		Name:  "sample-apiserver",
		Group: "wardle.example.com", Version: "v1alpha1", Resource: "flunders",
		kind: "Flunder", spec: `{"reference":"tomato","referenceType":"Flunder"}`,
		args: func(o APIServerOptions) []string {
			return []string{
				"--kubeconfig", o.Kubeconfig, "--authentication-kubeconfig", o.Kubeconfig, "--authorization-kubeconfig", o.Kubeconfig,
				"--etcd-servers", o.Etcd, "--etcd-prefix", "/registry/" + filepath.Base(o.Dir), "--cert-dir", o.Dir,
				"--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(o.Port),
			}
		},
	}}
}

// notAsking is all that distinguishes byhand-alone.
var notAsking = []edit{
	{"\ts.authenticate, s.authorize = proxy.authenticate, reviewer{client}.authorize", "\ts.authenticate, s.authorize = proxy.authenticate, func(context.Context, *request) error { return nil }"},
	{"\t\treturn client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})", "\t\treturn &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil"},
}

// Object is an object of the resource, as JSON.
func (s APIServer) Object(name string) string { return s.object(s.kind, name, s.spec) }

func (s APIServer) object(kind, name, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"%s/%s","kind":%q,"metadata":{"name":%q},"spec":%s}`, s.Group, s.Version, kind, name, spec)
}

// Build compiles the program into the folder dir, which must exist. It needs the Go
// toolchain, and a working directory inside the module compare.
func (s APIServer) Build(ctx context.Context, dir string) error {
	err := s.build(ctx, s.program(dir))
	if err != nil {
		return fmt.Errorf("build %s: %w", s.Name, err)
	}
	return nil
}

// program is the file of the compiled program. A controller in the same folder may have the
// same name.
func (s APIServer) program(dir string) string { return filepath.Join(dir, "apiserver-"+s.Name) }

func (s APIServer) build(ctx context.Context, file string) error {
	if s.pkg != "" {
		return Peer{pkg: s.pkg, edits: s.edits}.compile(ctx, file)
	}
	module, err := SampleAPIServer(ctx)
	if err != nil {
		return err
	}
	_, err = Go(ctx, "build", "-C", module, "-o", file, ".")
	return err
}

// sampleAPIServer is of the same release as the libraries of this module. It is built with
// the versions that its own go.mod names: in this module's they could change those of what
// else is compared here.
const sampleAPIServer = "k8s.io/sample-apiserver@v0.37.1"

// SampleAPIServer downloads the module and returns its folder in the module cache.
func SampleAPIServer(ctx context.Context) (dir string, err error) {
	// Outside of every module, so that no go.sum changes.
	output, err := Go(ctx, "mod", "download", "-C", os.TempDir(), "-json", sampleAPIServer)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	err = json.Unmarshal([]byte(output), &downloaded)
	return downloaded.Dir, err
}

// Command is the process, yet to be started: the program that Build has made in dir. When
// ctx is done it gets SIGTERM, and after half a minute SIGKILL.
func (s APIServer) Command(ctx context.Context, dir string, o APIServerOptions) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program(dir), s.args(o)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	return cmd
}
