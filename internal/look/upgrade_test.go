package look

import (
	"bufio"
	"io"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/byhand/kit/testkit"
)

// An upgrade, such as exec and port-forward need, passes both ways, and nothing of it is told.
func TestUpgrade(t *testing.T) {
	server := testkit.NewAPIServer()
	g, config := before(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the API server gets the token of the Glass")
		}
		if r.Header.Get("Upgrade") != "SPDY/3.1" {
			server.ServeHTTP(w, r)
			return
		}
		connection, stream, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n")
		line, _ := stream.ReadString('\n')
		_, _ = io.WriteString(connection, "you said "+line)
	}))
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/api/v1/namespaces/default/pods/a/exec?command=sh", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}}
	response, err := transport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the answer is %v, %v", response, err)
	}
	connection := response.Body.(io.ReadWriteCloser)
	defer connection.Close()
	_, _ = io.WriteString(connection, "marked\n")
	if line, err := bufio.NewReader(connection).ReadString('\n'); line != "you said marked\n" {
		t.Errorf("what came back is %q, %v", line, err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if steps := g.Kept(0); len(steps) > 0 {
		t.Errorf("%d steps are kept", len(steps))
	}
}
