package lab

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
)

const (
	foos        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
	fooName     = "foo.samplecontroller.k8s.io" // as kubectl prints it
)

// command is one action of a visitor. Its words are checked first; then it calls do or sends a request.
// {1} is its first word, and so on; {^1} is capitalized.
type command struct {
	words         []word
	kubectl, done string // the same as a user would type it, "" for nothing; the answer
	do            func(p *Playground, args []string) (answer string, err error)

	method, path, body string
	contentType        types.PatchType
}

// refusal is why a command was rejected, as the visitor reads it.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// word checks one word of a command.
type word func(text string) bool

func name(text string) bool { return len(text) <= 40 && namePattern.MatchString(text) }

func number(text string) bool { n, err := strconv.Atoi(text); return err == nil && n >= 0 && n <= 10 }

func image(text string) bool { return len(text) <= 40 && imagePattern.MatchString(text) }

func oneOf(words ...string) word {
	return func(text string) bool { return slices.Contains(words, text) }
}

var (
	namePattern  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	imagePattern = regexp.MustCompile(`^[a-z0-9][-a-z0-9.:/]*$`)
)

// commands are all commands of a visitor, by their first word.
var commands = map[string]command{
	"create": {words: []word{name, name, number}, kubectl: "kubectl create -f {1}.yaml", done: fooName + "/{1} created", method: http.MethodPost, path: foos,
		body: `{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":"{1}"},"spec":{"deploymentName":"{2}","replicas":{3}}}`},
	"scale": {words: []word{name, number}, kubectl: "kubectl scale foo {1} --replicas={2}", done: fooName + "/{1} scaled",
		method: http.MethodPatch, path: foos + "/{1}", contentType: types.MergePatchType, body: `{"spec":{"replicas":{2}}}`},
	"rename": {words: []word{name, name}, kubectl: `kubectl patch foo {1} --type=merge -p '{"spec":{"deploymentName":"{2}"}}'`, done: fooName + "/{1} patched",
		method: http.MethodPatch, path: foos + "/{1}", contentType: types.MergePatchType, body: `{"spec":{"deploymentName":"{2}"}}`},
	"delete": {words: []word{name, oneOf("background", "foreground", "orphan")}, kubectl: "kubectl delete foo {1} --cascade={2}", done: fooName + ` "{1}" deleted from default namespace`,
		method: http.MethodDelete, path: foos + "/{1}", body: `{"propagationPolicy":"{^2}"}`},
	"delete-deployment": {words: []word{name}, kubectl: "kubectl delete deployment {1}", done: `deployment.apps "{1}" deleted from default namespace`, method: http.MethodDelete, path: deployments + "/{1}"},
	"scale-deployment": {words: []word{name, number}, kubectl: "kubectl scale deployment {1} --replicas={2}", done: "deployment.apps/{1} scaled",
		method: http.MethodPatch, path: deployments + "/{1}", contentType: types.MergePatchType, body: `{"spec":{"replicas":{2}}}`},
	"set-image": {words: []word{name, image}, kubectl: "kubectl set image deployment/{1} nginx={2}", done: "deployment.apps/{1} image updated", method: http.MethodPatch, path: deployments + "/{1}",
		contentType: types.StrategicMergePatchType, body: `{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":"{2}"}]}}}}`},
	"take-name": {words: []word{name}, kubectl: "kubectl create deployment {1} --image=theirs:1", done: "deployment.apps/{1} created", method: http.MethodPost, path: deployments,
		body: `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"{1}"},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"theirs"}},"template":{"metadata":{"labels":{"app":"theirs"}},"spec":{"containers":[{"name":"theirs","image":"theirs:1"}]}}}}`},
}

// Do executes a command, such as "scale example-foo 3", and sends its result to the page. text may come
// from anyone: other texts than commands are rejected.
func (p *Playground) Do(text string) {
	verb, rest, _ := strings.Cut(text, " ")
	known, args := commands[verb], strings.Fields(rest)
	pairs := []string{}
	for i, arg := range args {
		pairs = append(pairs, fmt.Sprintf("{%d}", i+1), arg, fmt.Sprintf("{^%d}", i+1), strings.ToUpper(arg[:1])+arg[1:])
	}
	fill := strings.NewReplacer(pairs...).Replace
	said := Said{Command: text}
	var err error
	switch {
	case known.do == nil && known.method == "":
		err = refusal("There is no such command.")
	case !known.allows(args):
		err = refusal("Fill in every field: a name has 1 to 40 small letters, digits and dashes, a number is from 0 to 10.")
	case known.do != nil:
		said.Kubectl = fill(known.kubectl)
		said.Answer, err = known.do(p, args)
	default:
		said.Kubectl = fill(known.kubectl)
		_, err = p.send(known.method, fill(known.path), known.contentType, fill(known.body))
		said.Answer = fill(known.done)
	}
	if err != nil {
		said.Answer, said.Refused = err.Error(), true
	}
	p.tell("said", said)
}

// allows reports whether the command has the right number of words, and each is valid.
func (c command) allows(args []string) bool {
	for i, allowed := range c.words {
		if len(args) <= i || !allowed(args[i]) {
			return false
		}
	}
	return len(args) == len(c.words)
}

// send sends a request of the visitor, and returns the response body.
func (p *Playground) send(method, path string, contentType types.PatchType, body string) ([]byte, error) {
	result := p.user.Verb(method).AbsPath(path).SetHeader("Content-Type", string(contentType)).Body([]byte(body)).Do(p.ctx)
	if err := result.Error(); err != nil {
		return nil, fmt.Errorf("Error from server (%s): %w", apierrors.ReasonForError(err), err)
	}
	return result.Raw()
}
