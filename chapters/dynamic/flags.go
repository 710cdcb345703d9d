package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"example.com/byhand/kit/connect"
)

const usage = `dynamic gets objects of any kind that the server has.

  dynamic get WORD [NAME] [-n NAMESPACE | -A] [-w]
      WORD: a plural, singular, short name, kind, plural.group,
      plural.version.group, or a category
  dynamic api-resources
      the words that the server has
  dynamic raw PATH
      the answer to a GET, as it is

Flags may stand anywhere:
`

// options are what the arguments say. The words are those of kubectl.
type options struct {
	connect connect.Options
	// The words: get WORD NAME. The path of raw is its word.
	command, word, name string

	namespace            string
	allNamespaces, watch bool
	// contextNamespace is that of the kubeconfig, or default.
	contextNamespace string
}

// parse reads flags and words, in any order.
func parse(args []string, stdout io.Writer) (o options, err error) {
	o.connect.QPS = -1
	flags := pflag.NewFlagSet("dynamic", pflag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsages()) }
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the `namespace` (default: that of the kubeconfig's context)")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces")
	flags.BoolVarP(&o.watch, "watch", "w", false, "list, then go on with what changes")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("%w (--help lists the flags)", err)
	}
	return o, o.take(flags.Args())
}

// take takes the words apart, and refuses what cannot be meant before anything is asked.
func (o *options) take(words []string) error {
	numbers := map[string][]int{"get": {2, 3}, "api-resources": {1}, "raw": {2}}
	if len(words) == 0 || !slices.Contains(numbers[words[0]], len(words)) {
		return errors.New("usage: get WORD [NAME], api-resources, or raw PATH (--help says more)")
	}
	words = append(words, "", "")
	o.command, o.word, o.name = words[0], words[1], words[2]
	switch {
	case o.allNamespaces && o.namespace != "":
		return errors.New("-n and -A: take one of them")
	case o.allNamespaces && o.name != "":
		return errors.New("-A and a name: a name means one object in one namespace, take -n")
	case o.command == "raw" && !strings.HasPrefix(o.word, "/"):
		return fmt.Errorf("raw %s: a path begins with /, such as /apis", o.word)
	}
	return nil
}
