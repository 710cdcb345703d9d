package main

import (
	"archive/tar"
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// releases are the hosts that have the programs to download.
type releases struct {
	kubernetes, github, githubAPI string
	// patience is how long a host may send nothing.
	patience time.Duration
}

var official = &releases{"https://dl.k8s.io", "https://github.com", "https://api.github.com", 30 * time.Second}

// release is a program as its makers have published it.
type release struct {
	program string // its name in bin
	url     string // of the program, or of a .tar.gz that holds it
	sums    string // URL of its SHA-256: alone, in a list, or in GitHub's words on a release
}

// of returns the releases of the versions that go.mod names.
func (r *releases) of(home string) (list []release, err error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("the API server is published for Linux alone")
	}
	goMod, err := os.ReadFile(filepath.Join(home, "go.mod"))
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, module := range []string{"k8s.io/kubernetes", "go.etcd.io/etcd/server/v3", "sigs.k8s.io/kwok"} {
		required := regexp.MustCompile(`(?m)^\s` + module + ` (v\S+)`).FindSubmatch(goMod)
		if required == nil {
			return nil, fmt.Errorf("go.mod does not name %s", module)
		}
		versions = append(versions, string(required[1]))
	}
	kubernetes, etcd, kwok := versions[0], versions[1], versions[2]
	for _, program := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		url := fmt.Sprintf("%s/%s/bin/linux/%s/%s", r.kubernetes, kubernetes, runtime.GOARCH, program)
		list = append(list, release{program, url, url + ".sha256"})
	}
	of := r.github + "/etcd-io/etcd/releases/download/" + etcd
	list = append(list, release{"etcd", fmt.Sprintf("%s/etcd-%s-linux-%s.tar.gz", of, etcd, runtime.GOARCH), of + "/SHA256SUMS"})
	// kwok publishes no sums. GitHub does, for each file of a release.
	for _, program := range []string{"kwok", "kwokctl"} {
		list = append(list, release{program,
			fmt.Sprintf("%s/kubernetes-sigs/kwok/releases/download/%s/%s-linux-%s", r.github, kwok, program, runtime.GOARCH),
			r.githubAPI + "/repos/kubernetes-sigs/kwok/releases/tags/" + kwok})
	}
	return list, nil
}

// download puts the programs into dir, each only if it has the sum that is published.
func (r *releases) download(home, dir string, out io.Writer) error {
	start := time.Now()
	list, err := r.of(home)
	if err != nil {
		return fmt.Errorf("nothing to download: %w", err)
	}
	if err := emptyFolder(dir); err != nil {
		return err
	}
	fmt.Fprintln(out, "Downloading the control plane, once: about half a gigabyte of official programs.")
	for i, one := range list {
		fmt.Fprintf(out, "downloading %s, %d of %d\n", one.url, i+1, len(list))
		if err := r.fetch(one, dir); err != nil {
			return fmt.Errorf("download %s: %w", one.program, err)
		}
	}
	fmt.Fprintf(out, "downloaded in %s\n", time.Since(start).Round(time.Second))
	return nil
}

// fetch puts one program into dir.
func (r *releases) fetch(one release, dir string) error {
	var published strings.Builder
	if err := r.read(one.sums, &published); err != nil {
		return err
	}
	name := path.Base(one.url)
	want := sumOf(name, published.String())
	if want == "" {
		return fmt.Errorf("%s names no SHA-256 of %s", one.sums, name)
	}
	file, err := os.Create(filepath.Join(dir, one.program+".download"))
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	hash := sha256.New()
	if err := r.read(one.url, io.MultiWriter(file, hash)); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", hash.Sum(nil)); got != want {
		return fmt.Errorf("%s has the SHA-256 %s, but %s says %s", one.url, got, one.sums, want)
	}
	program := filepath.Join(dir, one.program)
	if strings.HasSuffix(name, ".tar.gz") {
		return unpack(file, one.program, program)
	}
	return errors.Join(file.Chmod(0o755), os.Rename(file.Name(), program))
}

// sumOf returns the SHA-256 of a file, in what was published of it, "" if it is not there.
func sumOf(file, published string) (sum string) {
	var onGitHub struct {
		Assets []struct{ Name, Digest string }
	}
	if json.Unmarshal([]byte(published), &onGitHub) == nil {
		for _, asset := range onGitHub.Assets {
			if digest, ok := strings.CutPrefix(asset.Digest, "sha256:"); ok && asset.Name == file {
				sum = digest
			}
		}
	}
	for line := range strings.Lines(published) {
		fields := strings.Fields(line)
		if len(fields) == 1 || len(fields) == 2 && fields[1] == file {
			sum = cmp.Or(sum, fields[0])
		}
	}
	if len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" {
		return ""
	}
	return sum
}

// read writes what is at url to out.
func (r *releases) read(url string, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	silent := time.AfterFunc(r.patience, func() { cancel(fmt.Errorf("%s: nothing comes for %s", url, r.patience)) })
	defer silent.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer response.Body.Close()
	switch {
	case response.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: %s", url, response.Status)
	case strings.HasPrefix(response.Header.Get("Content-Type"), "text/html"):
		return fmt.Errorf("%s: an HTML page instead of the file, as a proxy sends that wants a login", url)
	}
	_, err = io.Copy(out, readerFunc(func(p []byte) (int, error) {
		silent.Reset(r.patience)
		return response.Body.Read(p)
	}))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("%s: it breaks off half-way: %w", url, err)
	}
	return cmp.Or(context.Cause(ctx), err)
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// unpack writes the program of that name in a .tar.gz to a file.
func unpack(archive *os.File, program, file string) error {
	if _, err := archive.Seek(0, io.SeekStart); err != nil {
		return err
	}
	unzipped, err := gzip.NewReader(bufio.NewReader(archive))
	if err != nil {
		return err
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		if err != nil {
			return fmt.Errorf("look for %s in %s: %w", program, archive.Name(), err)
		}
		if path.Base(header.Name) != program || header.Typeflag != tar.TypeReg {
			continue
		}
		to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, files)
		return errors.Join(err, to.Close())
	}
}
