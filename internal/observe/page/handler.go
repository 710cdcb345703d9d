package page

import (
	"embed"
	"io/fs"
	"net"
	"net/http"
	"path"

	"example.com/byhand/internal/observe/trace"
	"example.com/byhand/kit/serve"
)

//go:embed static
var embedded embed.FS

// policy lets the page load only its own files, run no inline script, and turn no text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// handler returns the handler of a server that is bound to that address. It is safe for concurrent use.
func handler(bound *net.TCPAddr, source *trace.History, o Options) http.Handler {
	mux, files := http.NewServeMux(), static()
	mux.Handle("GET /steps", newStream(source, o))
	mux.Handle("GET /{$}", files)
	mux.Handle("GET /{file}", files)
	return guard(serve.OwnHost(bound, mux))
}

// guard rejects requests from other origins, except links, and sets the headers of every response. The
// same site includes every port of localhost.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		site := r.Header.Get("Sec-Fetch-Site")
		if (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "another site may link to this page, but not load it", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// types are the content types of the files in static/, independent of the machine. "/" is index.html.
var types = map[string]string{
	"":     "text/html; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// static serves the embedded files. Browsers revalidate them each time: another build has other files.
func static() http.Handler {
	root, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // the name above is a constant
	}
	files := http.FileServerFS(root)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Type", types[path.Ext(r.URL.Path)])
		files.ServeHTTP(w, r)
	})
}
