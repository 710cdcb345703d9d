package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"example.com/byhand/clientset"
	"example.com/byhand/compare/plane"
)

// server is one control plane, made for one measurement and removed after it.
type server struct {
	*plane.Plane
	etcd   string // the URL of its etcd
	client clientset.Interface
}

// up starts a control plane with the CRDs in it. The caller calls Down, unless there is an
// error.
func (b *bench) up(ctx context.Context) (*server, error) {
	p, err := b.cluster.Up(ctx, plane.Bare, "harness")
	if err != nil {
		return nil, err
	}
	s := &server{Plane: p}
	if err := s.connect(); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	return s, nil
}

// etcdServers is a flag of the API server in what kwokctl keeps of a cluster.
var etcdServers = regexp.MustCompile(`--etcd-servers=(\S+)`)

// connect makes the client of Foos and finds etcd.
func (s *server) connect() (err error) {
	if s.client, err = clientset.NewForConfig(s.Config); err != nil {
		return err
	}
	kept, err := os.ReadFile(filepath.Join(s.Home, "state", "clusters", s.Name, "kwok.yaml"))
	etcd := etcdServers.FindSubmatch(kept)
	if etcd == nil {
		return fmt.Errorf("what kwokctl keeps of %s names no etcd (%v)", s.Name, err)
	}
	s.etcd = string(etcd[1])
	return nil
}
