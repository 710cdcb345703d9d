package main

import (
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is what a client asks for, in the words of RBAC: a verb and a place.
type request struct {
	*http.Request
	user user
	verb string
	// kind is nil for what is no resource: discovery and OpenAPI.
	kind                         *kind
	version                      schema.GroupVersion
	namespace, name, subresource string
}

// key is where the object is that the request names.
func (r *request) key() key {
	return key{Resource: r.kind.resource, Namespace: r.namespace, Name: r.name}
}

// handle answers a request. An error is answered as a Status.
type handle func(*server, *answerWriter, *request) error

// verb is what a method means at the URL of a collection, or of an object in it.
type verb struct {
	name, method, path string
	handle             handle
}

// verbs are those of every kind. A watch is a GET with a query, so it has no method.
var verbs = []verb{
	{"get", "GET", "/{name}", (*server).get},
	{"list", "GET", "", (*server).list},
	{"watch", "", "", (*server).watch},
	{"create", "POST", "", (*server).create},
	{"update", "PUT", "/{name}", (*server).update},
	{"delete", "DELETE", "/{name}", (*server).delete},
	{"deletecollection", "DELETE", "", (*server).deleteCollection},
	{"patch", "PATCH", "/{name}", (*server).patch},
}

// routes says what each URL is:
//
//	/apis/GROUP/VERSION/RESOURCE[/NAME[/SUBRESOURCE]]
//	/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
//
// and which documents say that there are these. Everything else is nowhere.
func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	nowhere := s.handler(request{}, verb{handle: nowhere})
	mux.Handle("/", nowhere)
	for path, document := range documents() {
		mux.Handle("GET "+path, s.handler(request{}, verb{handle: document}))
	}
	for _, version := range versions {
		for _, kind := range kinds {
			place := request{kind: kind, version: version}
			collection := "/apis/" + version.String() + "/"
			if kind.namespaced {
				// In all namespaces.
				mux.Handle("GET "+collection+kind.resource, s.handler(place, verbs[1]))
				collection += "namespaces/{namespace}/"
			}
			collection += kind.resource
			mux.Handle(collection, s.handler(place, verb{}))
			mux.Handle(collection+"/{name}", s.handler(place, verb{}))
			for _, verb := range verbs {
				if verb.method != "" {
					mux.Handle(verb.method+" "+collection+verb.path, s.handler(place, verb))
				}
			}
			if kind == pizzas {
				place.subresource = "price"
				mux.Handle(collection+"/{name}/price", s.handler(place, verb{}))
				mux.Handle("GET "+collection+"/{name}/price", s.handler(place, verb{name: "get", handle: (*server).price}))
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A ServeMux itself redirects //apis to /apis, and asks for no certificate.
		if path.Clean(r.URL.Path) != r.URL.Path {
			nowhere.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// handler answers at one place. Whatever comes is authenticated, wherever it goes, but for
// OPTIONS *, which net/http answers with nothing.
func (s *server) handler(place request, verb verb) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, httpRequest *http.Request) {
		verb, r := verb, place
		if verb.name == "list" && isWatch(httpRequest.URL.Query()) {
			verb = verbs[2]
		}
		r.Request, r.verb = httpRequest, verb.name
		if r.kind == nil {
			r.verb = strings.ToLower(r.Method)
		}
		r.namespace, r.name = httpRequest.PathValue("namespace"), httpRequest.PathValue("name")
		answer := &answerWriter{ResponseWriter: w}
		if err := s.serve(answer, &r, verb); err != nil {
			answer.refuse(err)
		}
		if r.kind != nil {
			// %+q: a client chooses the query, and could write to the terminal.
			uri := strings.Trim(strconv.QuoteToASCII(r.URL.RequestURI()), `"`)
			s.log("%-7s %s → %d  (for %+q)", r.Method, uri, answer.code, r.user.User)
		}
	})
}

// isWatch reads the query as the API server does, which has authorized what it has read: a
// list with ?watch is a watch, and with ?watch=0 it is none.
func isWatch(query url.Values) bool {
	options := &internalversion.ListOptions{}
	_ = readQuery(query, options) // A query that cannot be read is refused later.
	return options.Watch
}
