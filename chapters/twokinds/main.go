package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
	"example.com/byhand/clientset"
	"example.com/byhand/controller"
	"example.com/byhand/informer"
	"example.com/byhand/kit/connect"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the Pod's own account)")
	namespace := flag.String("namespace", "", "the only namespace to watch (default: all)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	config, _, err := connect.Config(connect.Options{Kubeconfig: *kubeconfig, QPS: -1})
	if err == nil {
		err = run(ctx, config, *namespace)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "twokinds:", err)
		os.Exit(1)
	}
}

// byNamed is the index of Teams by the objects they name.
const byNamed = "byNamed"

// run returns when ctx is done and all running reconciles have finished.
func run(ctx context.Context, config *rest.Config, namespace string) error {
	ours := rest.CopyConfig(config)
	ours.APIPath, ours.GroupVersion, ours.NegotiatedSerializer = "/apis", &groupVersion, serializer.NewCodecFactory(scheme).WithoutConversion()
	teamClient, err := rest.RESTClientFor(ours)
	if err != nil {
		return connect.ExplainConfig(err)
	}
	kube, client := kubernetes.NewForConfigOrDie(config), clientset.NewForConfigOrDie(config)
	group := client.SamplecontrollerV1alpha1()

	// One queue, of Teams. An event of any of the three kinds enqueues the affected Teams.
	queue := controller.NewQueue("team")
	teams := informer.New(groupVersion.WithResource(resource).GroupResource(), teamClient,
		cache.NewListWatchFromClient(teamClient, resource, namespace, fields.Everything()),
		cache.InformerOptions{ObjectType: &Team{}, ResyncPeriod: 10 * time.Minute, Handler: controller.EnqueueObject(queue),
			Indexers: cache.Indexers{byNamed: named}})
	// All Foos, since a foreign Foo may have the name that a member needs.
	foos := informer.New(v1alpha1.Resource("foos"), client, cache.NewListWatchFromClient(group.RESTClient(), "foos", namespace, fields.Everything()),
		cache.InformerOptions{ObjectType: &v1alpha1.Foo{}, Handler: controller.EnqueueOwner(queue, kind.GroupKind(), naming(teams.Store, "Foo "))})
	secrets := informer.New(corev1.Resource("secrets"), kube,
		cache.NewListWatchFromClient(kube.CoreV1().RESTClient(), "secrets", namespace, fields.OneTermEqualSelector("type", secretType)),
		cache.InformerOptions{ObjectType: &corev1.Secret{}, Transform: withoutContent, Handler: controller.EnqueueKeys(queue, naming(teams.Store, "Secret "))})

	for _, i := range []*informer.Informer{teams, foos, secrets} {
		go i.Run(ctx)
	}
	if err := informer.WaitForSync(ctx, time.Minute, teams, foos, secrets); err != nil {
		return err
	}
	fmt.Printf("ready: %d Teams (Ctrl-C stops)\n", len(teams.Store.ListKeys()))
	r := &reconciler{teamClient: teamClient, fooClient: group, teams: teams.Store, foos: foos.Store, secrets: secrets.Store}
	controller.New(queue, r.Reconcile).Run(ctx, 8)
	return nil
}

func fooOf(team *Team, member string) cache.ObjectName {
	return cache.NewObjectName(team.Namespace, team.Name+"-"+member)
}

// named returns the objects that a Team names: its Secret and its Foos.
func named(obj any) (names []string, _ error) {
	team := obj.(*Team)
	for _, member := range team.Spec.Members {
		names = append(names, "Foo "+fooOf(team, member).String())
	}
	return append(names, "Secret "+team.Namespace+"/"+team.Spec.SecretName), nil
}

// naming returns a function that returns the keys of the Teams that name an object. A Team that is not
// in the store yet gets an event later; by then the object is in its own store.
func naming(teams cache.Indexer, kind string) func(object metav1.Object) []cache.ObjectName {
	return func(object metav1.Object) (keys []cache.ObjectName) {
		found, _ := teams.ByIndex(byNamed, kind+cache.MetaObjectToName(object).String()) // the index exists
		for _, team := range found {
			keys = append(keys, cache.MetaObjectToName(team.(*Team)))
		}
		return keys
	}
}

// withoutContent is the transform of Secrets: content that is not in memory cannot leak. It also removes
// the annotations: kubectl apply writes the whole Secret into one of them. It is idempotent.
func withoutContent(obj any) (any, error) {
	if secret, ok := obj.(*corev1.Secret); ok {
		token := secret.Data["token"]
		secret.Data, secret.Annotations, secret.ManagedFields = nil, nil, nil
		if len(token) > 0 {
			secret.Data = map[string][]byte{"token": []byte("there")}
		}
	}
	return obj, nil
}
