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
	// Name says what is checked, as "informer-sync".
	Name string
	// Err returns nil if the condition holds, else what is not yet so. It is called
	// by each request, by many goroutines at once, and must not wait for anything.
	Err func() error
}

// Options says what is served. The zero value serves /healthz and /readyz, both
// always "ok".
type Options struct {
	// Healthy and Ready must all hold for /healthz and /readyz to say "ok".
	Healthy, Ready []Check
	// Metrics answers /metrics. Without it there is none.
	Metrics http.Handler
	// Pprof adds /debug/pprof/.
	Pprof bool
}

// Health is the handler of such a server, for Listen. Who reaches the address may ask: on
// loopback only as OwnHost says, elsewhere by any Host, such as a Pod's address or a
// Service's name.
func Health(o Options) func(bound *net.TCPAddr) http.Handler {
	return func(bound *net.TCPAddr) http.Handler {
		if bound.IP.IsLoopback() {
			return OwnHost(bound, Handler(o))
		}
		return Handler(o)
	}
}

// Handler answers what Options says, to GET and HEAD. It is safe for concurrent
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
	// Who asked may be gone by now.
	_, _ = w.Write([]byte(text))
}
