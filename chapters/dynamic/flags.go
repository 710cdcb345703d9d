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
      the response to a GET, unchanged

Flags may stand anywhere:
`

// options are the parsed arguments. The words are the same as kubectl's.
type options struct {
	connect connect.Options
	// The words of get WORD NAME. For raw, word is the path.
	command, word, name string

	namespace            string
	allNamespaces, watch bool
	// contextNamespace is the kubeconfig's namespace, or default.
	contextNamespace string
}

// parse reads flags and words, in any order.
func parse(args []string, stdout io.Writer) (o options, err error) {
	o.connect.QPS = -1
	flags := pflag.NewFlagSet("dynamic", pflag.ContinueOnError)
	flags.Usage = func() { fmt.Fprint(stdout, usage, flags.FlagUsages()) }
	flags.StringVar(&o.connect.Kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "the `namespace` (default: the kubeconfig context's)")
	flags.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "all namespaces")
	flags.BoolVarP(&o.watch, "watch", "w", false, "list, then print changes")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("%w (--help lists the flags)", err)
	}
	return o, o.take(flags.Args())
}

// take assigns the words, and rejects invalid combinations before any request.
func (o *options) take(words []string) error {
	numbers := map[string][]int{"get": {2, 3}, "api-resources": {1}, "raw": {2}}
	if len(words) == 0 || !slices.Contains(numbers[words[0]], len(words)) {
		return errors.New("usage: get WORD [NAME], api-resources, or raw PATH (see --help)")
	}
	words = append(words, "", "")
	o.command, o.word, o.name = words[0], words[1], words[2]
	switch {
	case o.allNamespaces && o.namespace != "":
		return errors.New("-n and -A: use only one of them")
	case o.allNamespaces && o.name != "":
		return errors.New("-A and a name: a name means one object in one namespace, use -n")
	case o.command == "raw" && !strings.HasPrefix(o.word, "/"):
		return fmt.Errorf("raw %s: a path begins with /, such as /apis", o.word)
	}
	return nil
}
