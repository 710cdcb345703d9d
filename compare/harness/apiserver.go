package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/byhand/compare/carry"
	"example.com/byhand/compare/peers"
)

const (
	// visitor asks the aggregated API servers. It has a role. It is in no group of
	// administrators: k8s.io/apiserver would not ask what such a user may do.
	visitor = "visitor"
	// together is how many requests are under way at once, if it is not one.
	together = 16
	// watchers hear of each event.
	watchers = 100
)

// apiServers puts aggregated API servers through the same requests. They take turns, each
// time with an empty storage, on one control plane: they differ in what they ask of it.
func (b *bench) apiServers(ctx context.Context) (err error) {
	servers := peers.APIServers()
	for _, server := range servers {
		if err := server.Build(ctx, b.dir); err != nil {
			return err
		}
	}
	s, err := b.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Down()) }()
	if err := s.admit(ctx, servers); err != nil {
		return err
	}
	for round := range b.plan.apiServers.rounds {
		for _, server := range servers {
			dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", server.Name, round))
			err := b.loadAPIServer(ctx, s, server, dir)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				b.problem(fmt.Errorf("API server %s, round %d: %w", server.Name, round+1, err))
			}
		}
	}
	return nil
}

// carryAPIServers counts what a reader of each carries.
func (b *bench) carryAPIServers(ctx context.Context) error {
	figures, err := carry.MeasureAPIServers(ctx)
	if err != nil {
		return err
	}
	for _, figure := range figures {
		if err := b.raw.add("CarryAPIServer/server="+figure.Peer, 1, value(figure.Value, figure.Unit)); err != nil {
			return err
		}
	}
	return nil
}

// admit gives the visitor a role.
func (s *server) admit(ctx context.Context, servers []peers.APIServer) error {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: visitor}}
	for _, server := range servers {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{server.Group}, Resources: []string{"*"}, Verbs: []string{"*"}})
	}
	_, err := s.Kube.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = s.Kube.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: visitor},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: visitor}},
	}, metav1.CreateOptions{})
	return err
}

// loadAPIServer measures one server from an empty storage on.
func (b *bench) loadAPIServer(ctx context.Context, s *server, server peers.APIServer, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	client, err := s.frontProxy()
	if err != nil {
		return err
	}
	l, err := b.startAPIServer(ctx, s, server, client, dir)
	if err != nil {
		return err
	}
	defer l.stop()
	defer client.CloseIdleConnections()
	return l.Explain(l.measure(ctx, b.plan.apiServers.objects))
}

// startAPIServer starts a server and waits until it answers and has nothing left to do.
func (b *bench) startAPIServer(ctx context.Context, s *server, server peers.APIServer, client *http.Client, dir string) (*load, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd := server.Command(ctx, b.dir, peers.APIServerOptions{Kubeconfig: s.Kubeconfig, Etcd: s.etcd, Dir: dir, Port: port})
	p, err := start(cmd)
	if err != nil {
		return nil, err
	}
	l := &load{process: p, APIServer: server, client: client, root: fmt.Sprintf("https://127.0.0.1:%d", port), report: b.reportAs}
	if err := errors.Join(l.answers(ctx), l.quiet(ctx, 20*time.Second)); err != nil {
		err = l.Explain(err)
		l.stop()
		return nil, err
	}
	return l, nil
}

// frontProxy returns a client that shows the certificate of the front proxy, as the API
// server does when it passes a request on. So the servers are asked directly: on the way
// through the API server most of the time would be that one's.
func (s *server) frontProxy() (*http.Client, error) {
	dir := filepath.Join(s.Home, "state", s.Name+".front-proxy")
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "client.crt"), filepath.Join(dir, "client.key"))
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: &http.Transport{
		// Each server makes its own certificate, and none of them is measured by it.
		TLSClientConfig:    &tls.Config{Certificates: []tls.Certificate{certificate}, InsecureSkipVerify: true},
		ForceAttemptHTTP2:  true,
		DisableCompression: true,
	}}, nil
}

// freePort returns a port that nobody listens on, at this moment.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
