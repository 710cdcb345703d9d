package main

import (
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/byhand/internal/tests"
	"example.com/byhand/kit/testkit"
)

func kubeconfig(t *testing.T, address string) string {
	t.Helper()
	file, err := testkit.WriteKubeconfig(t.TempDir(), clientcmdapi.Cluster{Server: address}, clientcmdapi.AuthInfo{Token: "marked"})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// printed redirects both outputs to a file; read returns its text so far.
func printed(t *testing.T) (read func() string) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = file, file
	t.Cleanup(func() { os.Stdout, os.Stderr = stdout, stderr })
	return func() string {
		text, _ := os.ReadFile(file.Name())
		return string(text)
	}
}

func TestBadInput(t *testing.T) {
	server := httptest.NewServer(tests.NewAPIServer())
	defer server.Close()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	unheard = time.Nanosecond
	to := "--kubeconfig=" + kubeconfig(t, server.URL)
	for want, args := range map[string][]string{
		"no such file or directory":                       {"--kubeconfig=/nowhere"},
		"is the cluster running":                          {"--kubeconfig=" + kubeconfig(t, "http://127.0.0.1:1")},
		"give another port":                               {to, "--listen=" + taken.Addr().String()},
		"the proxy has your credentials":                  {to, "--listen=:0", "--", "true"},
		"--page: cannot listen":                           {to, "--page=" + taken.Addr().String(), "--", "true"},
		"give one of all-secrets":                         {to, "--allow=all"},
		"give a file of --record":                         {"--replay=/nowhere/file"},
		"not a step in JSON":                              {"--replay=main.go"},
		"not a recording of this version of look":         {"--replay=../../internal/observe/page/recording.json"},
		"use it without --replay":                         {"--replay=proxy/testdata/copy.jsonl", "--role=role.yaml"},
		"there are no findings in it":                     {"--replay=proxy/testdata/copy.jsonl", "--known=proxy/testdata/report.json"},
		`it is the report of "other", not of "sh"`:        {to, "--known=proxy/testdata/other.json", "--", "sh"},
		"give the YAML file of a Role":                    {to, "--role=/nowhere/file"},
		"there is no rule in it":                          {to, "--role=../../config/samples/foo.yaml"},
		"--record: ":                                      {to, "--record=/nowhere/file", "--", "true"},
		"--report: ":                                      {to, "--report=/nowhere/file", "--", "sleep", "0.1"},
		"the program does not start":                      {to, "--", "/nowhere/program"},
		"the program ended, exit status 7":                {to, "--", "sh", "-c", "exit 7"},
		"the program ended, exit status 0":                {to, "--", "true"},
		"Does it read $KUBECONFIG? If it needs a flag, w": {to, "--", "sleep", "0.1"},
	} {
		t.Run(want, func(t *testing.T) {
			output := printed(t)
			err := run(t.Context(), args)
			if said := output() + fmt.Sprint(err); err == nil || !strings.Contains(said, want) || strings.Contains(err.Error(), "\n") || strings.Contains(said, "marked") {
				t.Errorf("%q: %v, want %q\n%s", args, err, want, output())
			}
		})
	}
}

// The program gets the kubeconfig in $KUBECONFIG and as an argument. It is asked to exit at the end,
// and without findings run succeeds.
func TestProgram(t *testing.T) {
	server := httptest.NewServer(tests.NewAPIServer())
	defer server.Close()
	report := filepath.Join(t.TempDir(), "report")
	output := printed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	script := `trap "echo told; exit 0" TERM; test "$KUBECONFIG" = "$0" && echo "the same"; while true; do sleep 0.01; done`
	ended := make(chan error)
	go func() {
		ended <- run(ctx, []string{"--kubeconfig", kubeconfig(t, server.URL), "--report", report, "--", "sh", "-c", script, "{kubeconfig}"})
	}()
	for ctx.Err() == nil && !strings.Contains(output(), "the same") {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; err != nil || !strings.Contains(output(), "told") {
		t.Errorf("the program was not told to end: %v\n%s", err, output())
	}
	if text, err := os.ReadFile(report); err != nil || !strings.Contains(string(text), `"findings": []`) {
		t.Errorf("the report is %s, %v; want no finding", text, err)
	}
}
