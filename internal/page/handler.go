package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/byhand/internal/listen"
)

//go:embed static
var embedded embed.FS

// policy lets the page load its own files and nothing else, run no script that
// stands in the document, and turn no text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// handler answers for a server that is bound to that address. It is safe for
// concurrent use.
func handler(bound *net.TCPAddr, source Source, o Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /steps", newStream(source, o))
	for name, file := range files() {
		mux.Handle("GET "+name, file)
	}
	return guard(bound, mux)
}

// guard refuses requests that name another host than this one or that another site
// makes, and sets the headers which every answer has.
func guard(bound *net.TCPAddr, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		switch {
		case !ours(bound, r.Host):
			http.Error(w, fmt.Sprintf("%q is not this page's host: open http://%s/", r.Host, listen.Reachable(bound)), http.StatusMisdirectedRequest)
		case r.Header.Get("Sec-Fetch-Site") == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			http.Error(w, "another site may link to this page, but not load it", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// ours says whether a Host header names this server. Names other than localhost
// are never ours: anybody can have a name that resolves to 127.0.0.1. A server that
// listens on every interface is also reached by the addresses of this machine.
func ours(bound *net.TCPAddr, hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		// Without a port it is HTTP's own.
		host, port = strings.Trim(hostport, "[]"), "80"
	}
	if port != strconv.Itoa(bound.Port) {
		return false
	}
	ip := net.ParseIP(host)
	switch {
	case strings.EqualFold(host, "localhost"):
		return true
	case ip == nil:
		return false
	default:
		return bound.IP.IsUnspecified() || bound.IP.Equal(ip) || host == "127.0.0.1" || host == "::1"
	}
}

// files returns a handler for the path of each embedded file. A browser asks each
// time whether it has changed: another build of the program has other files.
func files() map[string]http.Handler {
	root, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // the name above is a constant
	}
	all := map[string]http.Handler{}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(root, name)
		path := "/" + name
		if name == "index.html" {
			path = "/{$}"
		}
		all[path] = file(name, content)
		return err
	})
	if err != nil {
		panic(err) // embedded files can be read
	}
	return all
}

func file(name string, content []byte) http.Handler {
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(content))[:16])
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", tag)
		w.Header().Set("Cache-Control", "no-cache")
		// Not left to the machine's own list of types.
		w.Header().Set("Content-Type", types[name[strings.LastIndex(name, "."):]])
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}

// types are the content types of what static/ holds.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}
