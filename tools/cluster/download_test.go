package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// newHost is a server with the layout of the real ones, and the folder of its files.
func newHost(t *testing.T) (url, dir string) {
	t.Helper()
	dir, arch := t.TempDir(), runtime.GOARCH
	put := func(path, content string) { writeFile(t, filepath.Join(dir, path), content) }
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		path := "v1.37.1/bin/linux/" + arch + "/" + program
		put(path, "this is "+program)
		put(path+".sha256", sum("this is "+program))
	}
	etcd, folder := "etcd-io/etcd/releases/download/v3.7.0/", "etcd-v3.7.0-linux-"+arch
	unpacked := t.TempDir()
	writeFile(t, filepath.Join(unpacked, folder, "etcdctl"), "not this")
	writeFile(t, filepath.Join(unpacked, folder, "etcd"), "this is etcd")
	packed, err := exec.Command("tar", "-cz", "-C", unpacked, folder).Output()
	if err != nil {
		t.Fatal(err)
	}
	put(etcd+folder+".tar.gz", string(packed))
	put(etcd+"SHA256SUMS", fmt.Sprintf("%s  another.zip\n%s  %s.tar.gz\n", sum(""), sum(string(packed)), folder))
	var assets []string
	for _, program := range []string{"kwok", "kwokctl"} {
		name := program + "-linux-" + arch
		put("kubernetes-sigs/kwok/releases/download/v0.8.0/"+name, "this is "+program)
		assets = append(assets, fmt.Sprintf(`{"name":%q,"size":7,"digest":"sha256:%s"}`, name, sum("this is "+program)))
	}
	put("repos/kubernetes-sigs/kwok/releases/tags/v0.8.0", `{"id":1,"assets":[`+strings.Join(assets, ",")+`]}`)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL, dir
}

// TestDownload: a missing or damaged file is an error that gives the reason, and leaves no program to run.
func TestDownload(t *testing.T) {
	const noSum = " has not the SHA-256 that is published: none is"
	if runtime.GOOS != "linux" {
		t.Skip("the API server is published for Linux alone")
	}
	for _, test := range []struct{ reason, path, content, want string }{
		{"all is there", "", "", ""},
		{"not there", "/kube-scheduler", "", "404"},
		{"no sum is published", "/kubectl.sha256", "", "kubectl.sha256"},
		{"another sum", "/kube-apiserver", "this is something else", "/kube-apiserver has not the SHA-256 that is published: "},
		{"not a sum", "/kubectl.sha256", "<html>", "/kubectl has not the SHA-256 that is published: <html>"},
		{"a list without the file", "/SHA256SUMS", strings.Repeat("0", 64) + "  another.zip\n", ".tar.gz" + noSum},
		{"a release without sums", "/tags/v0.8.0", `{"assets":[{"name":"kwok-linux-` + runtime.GOARCH + `","digest":null}]}`, "/kwok-linux-" + runtime.GOARCH + noSum},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home := newHome(t)
			url, files := newHost(t)
			t.Setenv("RELEASES", url)
			err := filepath.WalkDir(files, func(path string, _ os.DirEntry, err error) error {
				switch {
				case test.path == "" || !strings.HasSuffix(path, test.path):
					return err
				case test.content == "":
					return os.Remove(path)
				}
				return os.WriteFile(path, []byte(test.content), 0o600)
			})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			err = ensure(home, home, true, &out)
			if fails := test.want != ""; (err != nil) != fails || !strings.Contains(out.String(), test.want) {
				t.Errorf("error %v, want %t and %q in\n%s", err, fails, test.want, &out)
			}
			for _, program := range programs {
				info, err := os.Stat(filepath.Join(home, "cluster", "bin", program))
				if there := err == nil && info.Mode().Perm()&0o100 != 0; there != (test.want == "") {
					t.Errorf("%s can be run: %t (%v)", program, there, err)
				}
			}
		})
	}
}
