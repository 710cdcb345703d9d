package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// host is a server with the layout of the real ones.
type host struct {
	*httptest.Server
	files map[string]string
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{files: map[string]string{}}
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	arch := runtime.GOARCH
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		path := "/v1.37.1/bin/linux/" + arch + "/" + program
		h.files[path], h.files[path+".sha256"] = "this is "+program, sum("this is "+program)
	}
	etcd, folder := "/etcd-io/etcd/releases/download/v3.7.0/", "etcd-v3.7.0-linux-"+arch
	archive := folder + ".tar.gz"
	h.files[etcd+archive] = archiveOf(t, map[string]string{folder + "/etcdctl": "not this", folder + "/etcd": "this is etcd"})
	h.files[etcd+"SHA256SUMS"] = fmt.Sprintf("%s  another.zip\n%s  %s\n", sum(""), sum(h.files[etcd+archive]), archive)
	var assets []string
	for _, program := range []string{"kwok", "kwokctl"} {
		name := program + "-linux-" + arch
		h.files["/kubernetes-sigs/kwok/releases/download/v0.8.0/"+name] = "this is " + program
		assets = append(assets, fmt.Sprintf(`{"name":%q,"size":7,"digest":"sha256:%s"}`, name, sum("this is "+program)))
	}
	h.files["/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0"] = `{"id":1,"assets":[` + strings.Join(assets, ",") + `]}`
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := h.files[r.URL.Path]
		if content == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, content)
	}))
	t.Cleanup(h.Close)
	return h
}

func archiveOf(t *testing.T, files map[string]string) string {
	t.Helper()
	var archive bytes.Buffer
	zipped := gzip.NewWriter(&archive)
	to := tar.NewWriter(zipped)
	for name, content := range files {
		err := to.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content)), Typeflag: tar.TypeReg})
		_, errWrite := io.WriteString(to, content)
		if err := errors.Join(err, errWrite); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.String()
}

// TestDownload: the programs are those that are published, and nothing is compiled. What cannot be
// had whole gives one line that says why, and everything is compiled.
func TestDownload(t *testing.T) {
	const noSum = " has not the SHA-256 that is published: none is"
	type row struct{ reason, path, content, want string }
	rows := []row{
		{"all is there", "", "", ""},
		{"not there", "/kube-scheduler", "", "404"},
		{"no sum is published", "/kubectl.sha256", "", "kubectl.sha256"},
		{"another sum", "/kube-apiserver", "this is something else", "/kube-apiserver has not the SHA-256 that is published: "},
		{"a sum that is none", "/kubectl.sha256", "<html>", "/kubectl has not the SHA-256 that is published: <html>"},
		{"a list without the file", "/SHA256SUMS", strings.Repeat("0", 64) + "  another.zip\n", ".tar.gz" + noSum},
		{"a release without sums", "/tags/v0.8.0", `{"assets":[{"name":"kwok-linux-` + runtime.GOARCH + `","digest":null}]}`, "/kwok-linux-" + runtime.GOARCH + noSum},
	}
	if runtime.GOOS != "linux" {
		rows = []row{{"another system", "", "", "published for Linux alone"}}
	}
	for _, test := range rows {
		t.Run(test.reason, func(t *testing.T) {
			home, h := newHome(t), newHost(t)
			calls := fakeGo(t, "example.com/a")
			t.Setenv("RELEASES", h.URL)
			for path := range h.files {
				if test.path != "" && strings.HasSuffix(path, test.path) {
					h.files[path] = test.content
				}
			}
			var out bytes.Buffer
			if err := ensure(home, true, &out); err != nil {
				t.Fatal(err)
			}
			fails := test.want != ""
			line := regexp.MustCompile(`(?m)^download: .*: building from source instead$`).FindString(out.String())
			if (line != "") != fails || !strings.Contains(line, test.want) {
				t.Errorf("%q, want one line with %q in\n%s", line, test.want, &out)
			}
			if compiles := strings.Contains(calls(), "build -v"); compiles != fails {
				t.Errorf("something is compiled: %t, want %t", compiles, fails)
			}
			for _, program := range programs {
				want := "this is " + program
				if fails {
					want = "" // is what fakeGo builds
				}
				file := filepath.Join(home, "bin", program)
				if content, err := os.ReadFile(file); err != nil || string(content) != want {
					t.Errorf("%s is %q (%v), want %q", program, content, err, want)
				}
				if info, err := os.Stat(file); err != nil || !fails && info.Mode().Perm()&0o100 == 0 {
					t.Errorf("%s cannot be run (%v)", program, err)
				}
			}
			// Later, without --download, they are what is used.
			out.Reset()
			if err := ensure(home, false, &out); err != nil || out.Len() > 0 {
				t.Errorf("again: %v, output %q; want nothing done", err, &out)
			}
		})
	}
}
