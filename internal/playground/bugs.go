package playground

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/controller"
	"example.com/byhand/internal/testkit"
)

// Bugs of the judge's reference program (compare/judge/reference/bugs) that the wiring of a
// replica alone can have. The lesson's code stays as it is.
const (
	noBug          = "none"
	deafToDeletion = "deaf-to-deletion"
	deafToNames    = "deaf-to-names"
	noRetry        = "no-retry"
	noOwner        = "no-owner"
	exitsOn5xx     = "exits-on-5xx"
)

func init() {
	commands["bug"] = command{[]word{oneOf(noBug, deafToDeletion, deafToNames, noRetry, noOwner, exitsOn5xx)}, func(p *Playground, args []string) (string, error) {
		p.killAll()
		p.mu.Lock()
		p.bug = args[0]
		p.mu.Unlock()
		p.start()
		return "the program is started anew, bug: " + args[0], nil
	}}
}

// nobody is what a program knows of the Foos that wait for a name if it is deaf to names.
func nobody(cache.ObjectName) []cache.ObjectName { return nil }

// deaf is a handler that does not hear of deletions.
type deaf struct{ cache.ResourceEventHandler }

func (deaf) OnDelete(any) {}

// spoil puts the bug into a reconcile.
func (r *replica) spoil(next controller.Reconcile) controller.Reconcile {
	return func(ctx context.Context, key cache.ObjectName) (time.Duration, error) {
		requeueAfter, err := next(ctx, key)
		switch {
		case r.bug == noRetry:
			return 0, nil
		case r.bug == exitsOn5xx && apierrors.IsInternalError(err):
			r.exit(errors.New("the program exits: " + err.Error()))
		}
		return requeueAfter, err
	}
}

// orphans lets each new Deployment pass without its owner reference.
func orphans(request *http.Request) (*http.Request, error) {
	if request.Method != http.MethodPost || testkit.TargetOf(request.URL.Path).Resource != "deployments" {
		return request, nil
	}
	sent, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal(sent, &object); err != nil {
		return nil, err
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		delete(metadata, "ownerReferences")
	}
	changed, err := json.Marshal(object)
	request.Body = io.NopCloser(bytes.NewReader(changed))
	return request, err
}
