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
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// host is a server with the layout of the real ones, which answers some paths otherwise.
type host struct {
	*httptest.Server
	files map[string]string
	other map[string]http.HandlerFunc // by the end of the path
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{files: map[string]string{}, other: map[string]http.HandlerFunc{}}
	sum := func(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }
	arch := runtime.GOARCH
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		path := "/v1.37.1/bin/linux/" + arch + "/" + program
		h.files[path], h.files[path+".sha256"] = "this is "+program, sum("this is "+program)
	}
	etcd, archive := "/etcd-io/etcd/releases/download/v3.7.0/", "etcd-v3.7.0-linux-"+arch+".tar.gz"
	h.files[etcd+archive] = archiveOf(t, map[string]string{"etcd-v3.7.0/etcdctl": "not this", "etcd-v3.7.0/etcd": "this is etcd"})
	h.files[etcd+"SHA256SUMS"] = fmt.Sprintf("%s  another.zip\n%s  %s\n", sum(""), sum(h.files[etcd+archive]), archive)
	var assets []string
	for _, program := range []string{"kwok", "kwokctl"} {
		name := program + "-linux-" + arch
		h.files["/kubernetes-sigs/kwok/releases/download/v0.8.0/"+name] = "this is " + program
		assets = append(assets, fmt.Sprintf(`{"name":%q,"size":7,"digest":"sha256:%s"}`, name, sum("this is "+program)))
	}
	h.files["/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0"] = `{"id":1,"assets":[` + strings.Join(assets, ",") + `]}`
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for end, answer := range h.other {
			if strings.HasSuffix(r.URL.Path, end) {
				answer(w, r)
				return
			}
		}
		content, ok := h.files[r.URL.Path]
		if !ok {
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

func (h *host) releases() *releases {
	return &releases{kubernetes: h.URL, github: h.URL, githubAPI: h.URL, patience: time.Minute}
}

func TestDownload(t *testing.T) {
	home := newHome(t)
	calls := fakeGo(t)
	var out bytes.Buffer
	if err := ensure(home, newHost(t).releases(), &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	if runtime.GOOS == "linux" && strings.Contains(calls(), "build") {
		t.Errorf("it compiled as well:\n%s", &out)
	}
	for _, program := range programs {
		file := filepath.Join(home, "bin", program)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if want := "this is " + program; runtime.GOOS == "linux" && string(content) != want {
			t.Errorf("%s is %q, want %q", program, content, want)
		}
		if info, err := os.Stat(file); err != nil || runtime.GOOS == "linux" && info.Mode().Perm()&0o100 == 0 {
			t.Errorf("%s cannot be run: %v %v", program, info.Mode(), err)
		}
	}
	// Later, without --download, they are what is used.
	out.Reset()
	if err := ensure(home, nil, &out); err != nil || out.Len() > 0 {
		t.Errorf("again: %v, output %q; want nothing done", err, &out)
	}
}

// What cannot be had whole gives one line that says why, and everything is compiled.
func TestDownloadFails(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only the programs for Linux are published")
		return
	}
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	for _, test := range []struct {
		reason, path string
		answer       http.HandlerFunc
		want         []string
	}{
		{"not there", "/kube-scheduler", http.NotFound, []string{"download kube-scheduler: ", "404 Not Found"}},
		{"no sum is published", "/kubectl.sha256", http.NotFound, []string{"download kubectl: ", "kubectl.sha256: 404"}},
		{"another sum", "/kube-apiserver", says("this is something else"), []string{"download kube-apiserver: ", " has the SHA-256 ", "but ", ".sha256 says "}},
		{"a sum that is none", "/kubectl.sha256", says("<html>"), []string{"kubectl.sha256"}},
		{"a list without the file", "/SHA256SUMS", says(strings.Repeat("0", 64) + "  another.zip\n"), []string{"SHA256SUMS names no SHA-256 of etcd-v3.7.0-linux-"}},
		{"a release without sums", "/tags/v0.8.0", says(`{"assets":[{"name":"kwok-linux-amd64","digest":null}]}`), []string{"names no SHA-256 of kwok-linux-"}},
		{"a page of a proxy", "/kube-apiserver", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html><h1>Please log in</h1>")
		}, []string{"an HTML page instead of the file", "proxy"}},
		{"it stops half-way", "/kube-controller-manager", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "this is")
		}, []string{"breaks off half-way"}},
		{"it hangs half-way", "/kube-controller-manager", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "this is")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, []string{"kube-controller-manager: nothing comes for 2s"}},
		{"it does not answer", "/kube-apiserver.sha256", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			[]string{"kube-apiserver.sha256: nothing comes for 2s"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			home, h := newHome(t), newHost(t)
			calls := fakeGo(t, "example.com/a")
			h.other[test.path] = test.answer
			from := h.releases()
			if strings.Contains(test.want[0], "2s") {
				from.patience = 2 * time.Second
			}
			var out bytes.Buffer
			if err := ensure(home, from, &out); err != nil {
				t.Fatal(err)
			}
			var line string
			for l := range strings.Lines(out.String()) {
				if strings.HasSuffix(l, ": building from source instead\n") {
					line += l
				}
			}
			for _, want := range test.want {
				if !strings.Contains(line, want) || strings.Count(line, "\n") != 1 {
					t.Errorf("%q, want one line with %q in\n%s", line, want, &out)
				}
			}
			if !strings.Contains(calls(), "build -v") {
				t.Error("nothing is compiled")
			}
			// Nothing of the download is used: what fakeGo builds is empty.
			for _, program := range programs {
				if content, err := os.ReadFile(filepath.Join(home, "bin", program)); err != nil || len(content) > 0 {
					t.Errorf("%s is %q, %v", program, content, err)
				}
			}
		})
	}
}

// There is no room to compile where there is none to download.
func TestDownloadFullDisk(t *testing.T) {
	h := newHost(t)
	err := h.releases().read(h.URL+"/v1.37.1/bin/linux/"+runtime.GOARCH+"/kubectl", writerFunc(func([]byte) (int, error) {
		return 0, &os.PathError{Op: "write", Path: "/disk/kubectl", Err: syscall.ENOSPC}
	}))
	if short := shortage(fmt.Sprint(err)); !errors.Is(short, errNoSpace) {
		t.Errorf("%v is taken for %v, want %v", err, short, errNoSpace)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
