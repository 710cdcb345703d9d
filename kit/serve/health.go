package serve

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof" // puts its handlers into http.DefaultServeMux
	"strings"
)

// Check is one condition of health or readiness.
type Check struct {
	// Name identifies the check, such as "informer-sync".
	Name string
	// Err returns nil if the condition holds, and otherwise the reason. Each request
	// calls it, so it must be safe for concurrent use and must not block.
	Err func() error
}

// Options select the endpoints. The zero value serves /healthz and /readyz, which
// always answer "ok".
type Options struct {
	// Healthy and Ready must all hold for /healthz and /readyz to answer "ok".
	Healthy, Ready []Check
	// Metrics serves /metrics. If nil, the path answers 404.
	Metrics http.Handler
	// Pprof adds /debug/pprof/.
	Pprof bool
}

// Health returns the handler of these endpoints, for Listen. There is no authentication. On
// loopback OwnHost restricts the Host header; elsewhere any Host is accepted, such as a Pod's
// address or a Service's name.
func Health(o Options) func(bound *net.TCPAddr) http.Handler {
	return func(bound *net.TCPAddr) http.Handler {
		if bound.IP.IsLoopback() {
			return OwnHost(bound, Handler(o))
		}
		return Handler(o)
	}
}

// Handler serves the endpoints of o for GET and HEAD. It is safe for concurrent
// use.
func Handler(o Options) http.Handler {
	mux := http.NewServeMux()
	index := []string{"/healthz", "/readyz"}
	mux.Handle("GET /healthz", checks("healthz", o.Healthy))
	mux.Handle("GET /readyz", checks("readyz", o.Ready))
	if o.Metrics != nil {
		index = append(index, "/metrics")
		mux.Handle("GET /metrics", o.Metrics)
	}
	if o.Pprof {
		index = append(index, "/debug/pprof/")
		mux.Handle("GET /debug/pprof/", http.DefaultServeMux)
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		writeText(w, http.StatusOK, strings.Join(index, "\n")+"\n")
	})
	return mux
}

// checks answers "ok" if all conditions hold, and otherwise lists them.
func checks(endpoint string, all []Check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var list strings.Builder
		code, verdict := http.StatusOK, "passed"
		for _, check := range all {
			if err := check.Err(); err != nil {
				code, verdict = http.StatusServiceUnavailable, "failed"
				fmt.Fprintf(&list, "[-]%s failed: %v\n", check.Name, err)
			} else {
				fmt.Fprintf(&list, "[+]%s ok\n", check.Name)
			}
		}
		fmt.Fprintf(&list, "%s check %s\n", endpoint, verdict)
		if code == http.StatusOK && !r.URL.Query().Has("verbose") {
			writeText(w, code, "ok")
			return
		}
		writeText(w, code, list.String())
	}
}

func writeText(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	// The client may have disconnected.
	_, _ = w.Write([]byte(text))
}
