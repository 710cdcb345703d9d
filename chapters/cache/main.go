package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/sharding"
	"k8s.io/client-go/discovery"

	"example.com/byhand/kit/connect"
)

// everyWay has the names of the ways, in order.
const everyWay = "everything,json,pages,transform,metadata,namespace,name,label,field,selectable,shard,handler,get"

type options struct {
	kubeconfig, namespace, secret string
	label, field, selectable      string
	shard                         sharding.Selector
	events                        int
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	names := flag.String("way", everyWay, "the `ways` to run: some of the default")
	flag.StringVar(&o.namespace, "namespace", "", "the namespace of the ways namespace, name and get (default: the kubeconfig's)")
	flag.StringVar(&o.secret, "secret", "byhand-cache-wanted", "the Secret of the ways name and get")
	flag.StringVar(&o.label, "label", "cache=wanted", "the label selector")
	flag.StringVar(&o.field, "field", "type=example.com/wanted", "the field selector")
	flag.StringVar(&o.selectable, "selectable", "spec.deploymentName=wanted", "the field selector of FieldFoos")
	shard := flag.String("shard", "1/3", "this process's `parts` of all objects, such as 1,2/3")
	flag.IntVar(&o.events, "events", 0, "wait for this many events after the first list, and print them")
	flag.Parse()
	if err := run(context.Background(), *names, *shard, o); err != nil {
		fmt.Fprintln(os.Stderr, "cache:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names, shard string, o options) (err error) {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: only flags are allowed (see --help)", flag.Arg(0))
	}
	var chosen []way
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(ways, func(w way) bool { return w.name == name })
		if i < 0 {
			return fmt.Errorf("--way: unknown way %q, use some of %s", name, everyWay)
		}
		chosen = append(chosen, ways[i])
	}
	if o.shard, err = parseShard(shard); err != nil {
		return err
	}
	config, namespace, err := connect.Config(connect.Options{Kubeconfig: o.kubeconfig, QPS: -1})
	if err != nil {
		return err
	}
	o.namespace = cmp.Or(o.namespace, namespace)
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	if _, err := connect.Check(ctx, server, config.Host); err != nil {
		return err
	}

	const row = "%-10s  %7v  %7v  %8v  %10v  %10v  %10v  %7v  %s\n"
	fmt.Printf(row, "way", "objects", "events", "events/s", "bytes", "live heap", "peak", "in sync", "what it keeps")
	for _, w := range chosen {
		r, err := measure(ctx, config, w, o, os.Stdout)
		if err != nil {
			return fmt.Errorf("--way %s: %w", w.name, err)
		}
		perSecond := int(float64(r.events) / r.synced.Seconds())
		fmt.Printf(row, w.name, r.objects, r.events, perSecond, r.bytes, r.heap, r.peak, fmt.Sprintf("%.2fs", r.synced.Seconds()), w.says)
	}
	return nil
}
