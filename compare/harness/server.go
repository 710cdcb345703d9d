package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"example.com/byhand/clientset"
	"example.com/byhand/internal/testkit/plane"
)

// server is one control plane, made for one measurement and removed after it.
type server struct {
	*plane.Plane
	etcd   string // the URL of its etcd
	client clientset.Interface
}

// etcdServers is a flag of the API server in what kwokctl keeps of a cluster.
var etcdServers = regexp.MustCompile(`--etcd-servers=(\S+)`)

// up starts a control plane with the CRDs in it. The caller calls Down, unless there is an
// error.
func (b *bench) up(ctx context.Context) (*server, error) {
	p, err := b.cluster.Up(ctx, plane.Bare, "harness")
	if err != nil {
		return nil, err
	}
	client, err := clientset.NewForConfig(p.Config)
	kept, failed := os.ReadFile(filepath.Join(p.Home, "state", "clusters", p.Name, "kwok.yaml"))
	etcd := etcdServers.FindSubmatch(kept)
	if err != nil || etcd == nil {
		return nil, errors.Join(fmt.Errorf("a client of Foos, and etcd in what kwokctl keeps of %s: %w", p.Name, errors.Join(err, failed)), p.Down())
	}
	return &server{p, string(etcd[1]), client}, nil
}
