package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// createFoos makes the first n Foos and returns when the API server shows all of them.
// They are copies of what the API server stored for one, with names and UIDs of their
// own, written to etcd: many times faster than to create them, and the API server is as
// fresh for 20,000 Foos as for 100.
func (s *server) createFoos(ctx context.Context, n int) error {
	created, err := s.createFoo(ctx, fooName(0))
	if err != nil {
		return err
	}
	return s.copyFoo(ctx, created, n, func(json []byte) []byte { return json })
}

// version is what the API server shows of an object and does not store.
var version = regexp.MustCompile(`"resourceVersion":"\d+",`)

// copyFoo makes n Foos of one, as it is in etcd after an edit: JSON.
func (s *server) copyFoo(ctx context.Context, foo *v1alpha1.Foo, n int, edit func(json []byte) []byte) error {
	shown, err := s.Kube.Discovery().RESTClient().Get().
		AbsPath("apis", foos.Group, foos.Version, "namespaces", namespace, foos.Resource, foo.Name).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("read Foo %s: %w", foo.Name, err)
	}
	stored := edit(version.ReplaceAll(shown, nil))
	group, writing := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, name := range fooNames(n) {
		group.Go(func() error {
			copied := bytes.ReplaceAll(stored, []byte(foo.Name), []byte(name))
			copied = bytes.ReplaceAll(copied, []byte(foo.UID), []byte(uuid.NewUUID()))
			key := "/registry/" + foos.Group + "/" + foos.Resource + "/" + namespace + "/" + name
			// Keys and values travel in base64, which is how Go writes []byte as JSON.
			put, err := json.Marshal(map[string][]byte{"key": []byte(key), "value": copied})
			if err == nil {
				_, err = s.askEtcd(writing, http.MethodPost, "/v3/kv/put", put)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("write Foos to etcd: %w", err)
	}
	// One object, and how many more there are. A list without a resourceVersion waits until the
	// server has read all that is in etcd.
	list, err := s.client.SamplecontrollerV1alpha1().Foos(namespace).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if listed := int64(len(list.Items)) + ptr.Deref(list.RemainingItemCount, 0); listed != int64(n) {
		return fmt.Errorf("the API server lists %d Foos, want %d", listed, n)
	}
	return nil
}

var etcdClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: 30 * time.Second}

// askEtcd sends a request to etcd's JSON gateway.
func (s *server) askEtcd(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.etcd+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := etcdClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("etcd answers %s: %s (%v)", response.Status, content, err)
	}
	return content, nil
}
