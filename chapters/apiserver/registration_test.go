package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"example.com/byhand/kit/testkit"
)

// TestUnreachable: the error includes the reason from the APIService, which is deleted.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/apiservices/"+apiServiceName) {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, `{"status":{"conditions":[{"type":"Available","status":"False","message":"dial tcp 127.0.0.1:1: connect: connection refused"}]}}`)
		})
		client := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: "http://api.test", Transport: testkit.Transport{Handler: server}})
		err := waitAvailable(t.Context(), client)
		if err == nil || !strings.Contains(err.Error(), "must run where that does") || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v, want one with advice and the reason", err)
		}
	})
}
