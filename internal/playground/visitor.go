package playground

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/byhand/internal/testkit"
)

const (
	foos        = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos"
	deployments = "/apis/apps/v1/namespaces/default/deployments"
)

// command is one thing that a visitor can do. Its words are checked before do is called.
type command struct {
	words []word
	do    func(p *Playground, args []string) (answer string, err error)
}

// word is what one word of a command may be.
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

// commands are all that a visitor can do. A link has no others.
var commands = map[string]command{
	"create": {[]word{name, name, number}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPost, foos, args[0], "", fmt.Sprintf(`{"apiVersion":"samplecontroller.k8s.io/v1alpha1","kind":"Foo","metadata":{"name":%q},"spec":{"deploymentName":%q,"replicas":%s}}`, args[0], args[1], args[2]))
	}},
	"scale": {[]word{name, number}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPatch, foos+"/"+args[0], args[0], types.MergePatchType, `{"spec":{"replicas":`+args[1]+`}}`)
	}},
	"rename": {[]word{name, name}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPatch, foos+"/"+args[0], args[0], types.MergePatchType, fmt.Sprintf(`{"spec":{"deploymentName":%q}}`, args[1]))
	}},
	"delete": {[]word{name, oneOf("Background", "Foreground", "Orphan")}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodDelete, foos+"/"+args[0], args[0], "", fmt.Sprintf(`{"propagationPolicy":%q}`, args[1]))
	}},
	"delete-deployment": {[]word{name}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodDelete, deployments+"/"+args[0], args[0], "", "")
	}},
	"scale-deployment": {[]word{name, number}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPatch, deployments+"/"+args[0], args[0], types.MergePatchType, `{"spec":{"replicas":`+args[1]+`}}`)
	}},
	"set-image": {[]word{name, image}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPatch, deployments+"/"+args[0], args[0], types.StrategicMergePatchType, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"nginx","image":%q}]}}}}`, args[1]))
	}},
	"take-name": {[]word{name}, func(p *Playground, args []string) (string, error) {
		return p.send(http.MethodPost, deployments, args[0], "", fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%q},"spec":{"replicas":1,"selector":{"matchLabels":{"app":"theirs"}},"template":{"metadata":{"labels":{"app":"theirs"}},"spec":{"containers":[{"name":"theirs","image":"theirs:1"}]}}}}`, args[0]))
	}},
}

// Do carries out a command, such as "scale example-foo 3", and tells what came of it. It may be
// anyone's text: what is not in the list of commands is refused.
func (p *Playground) Do(text string) {
	said := Said{Command: text}
	answer, err := p.do(strings.Fields(text))
	if said.Answer = answer; err != nil {
		said.Answer, said.Refused = err.Error(), true
	}
	p.tell("said", said)
}

func (p *Playground) do(words []string) (string, error) {
	if len(words) == 0 {
		return "", errors.New("no command")
	}
	known, found := commands[words[0]]
	args := words[1:]
	if !found || len(args) != len(known.words) {
		return "", errors.New("no such command")
	}
	for i, allowed := range known.words {
		if !allowed(args[i]) {
			return "", fmt.Errorf("not allowed here: %q", args[i])
		}
	}
	return known.do(p, args)
}

// send sends a request of the visitor about the object of that name. It meets no bad luck. The
// answer is in the words of kubectl.
func (p *Playground) send(method, path, name string, contentType types.PatchType, body string) (string, error) {
	request, err := http.NewRequest(method, "http://api.playground"+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", string(contentType))
	response, err := testkit.Transport{Handler: p.api.Next}.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode >= 400 {
		var refusal metav1.Status
		_ = json.NewDecoder(response.Body).Decode(&refusal)
		//lint:ignore ST1005 the words of kubectl
		return "", fmt.Errorf("Error from server (%s): %s", refusal.Reason, refusal.Message)
	}
	target := testkit.TargetOf(path)
	did := map[string]string{http.MethodPost: "created", http.MethodPatch: "patched", http.MethodDelete: "deleted"}[method]
	return fmt.Sprintf("%s.%s/%s %s", strings.TrimSuffix(target.Resource, "s"), target.Group, name, did), nil
}
