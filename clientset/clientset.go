package clientset

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/ptr"

	examplesv1alpha1 "example.com/byhand/api/examples-gzh.com/v1alpha1"
	samplecontrollerv1alpha1 "example.com/byhand/api/samplecontroller.k8s.io/v1alpha1"
)

// Interface is implemented by Clientset and by the fake.
type Interface interface {
	Discovery() discovery.DiscoveryInterfaces
	ExamplesV1alpha1() ExamplesV1alpha1Interface
	SamplecontrollerV1alpha1() SamplecontrollerV1alpha1Interface
}

// ExamplesV1alpha1Interface holds the resources of examples-gzh.com/v1alpha1.
type ExamplesV1alpha1Interface interface {
	RESTClient() rest.Interface
	ProjectsGetter
}

// SamplecontrollerV1alpha1Interface holds the resources of
// samplecontroller.k8s.io/v1alpha1.
type SamplecontrollerV1alpha1Interface interface {
	RESTClient() rest.Interface
	FoosGetter
}

// Clientset talks to a real API server. It is safe for concurrent use.
type Clientset struct {
	discovery                discovery.DiscoveryInterfaces
	examplesV1alpha1         *examplesV1alpha1Client
	samplecontrollerV1alpha1 *samplecontrollerV1alpha1Client
}

var _ Interface = &Clientset{}

// NewForConfig returns a clientset for the server and credentials in c, which it does not
// change. It opens no connection: a wrong address causes an error only at the first request.
func NewForConfig(c *rest.Config) (*Clientset, error) {
	config := *c
	if config.UserAgent == "" {
		// The program's name, for the server's audit log.
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	// One HTTP client, so one pool of connections, for all groups.
	httpClient, err := rest.HTTPClientFor(&config)
	if err != nil {
		return nil, err
	}
	return NewForConfigAndClient(&config, httpClient)
}

// NewForConfigAndClient is like NewForConfig, but uses the caller's HTTP client. TLS,
// credentials and transport are then the HTTP client's, and those in c are ignored.
func NewForConfigAndClient(c *rest.Config, httpClient *http.Client) (*Clientset, error) {
	config := *c
	// One rate limiter for all groups, too. Without it, each REST client creates its own. With client-go's
	// default limit (QPS 0), each still does.
	if config.RateLimiter == nil && config.QPS > 0 {
		if config.Burst <= 0 {
			return nil, errors.New("rest.Config has QPS but no Burst: set Burst to at least 1, or QPS to -1 for no limit")
		}
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(config.QPS, config.Burst)
	}

	examples, examplesErr := restClientFor(&config, examplesv1alpha1.SchemeGroupVersion, httpClient)
	samplecontroller, samplecontrollerErr := restClientFor(&config, samplecontrollerv1alpha1.SchemeGroupVersion, httpClient)
	discoveryClient, discoveryErr := discovery.NewDiscoveryClientForConfigAndClient(&config, httpClient)
	if err := cmp.Or(examplesErr, samplecontrollerErr, discoveryErr); err != nil {
		return nil, err
	}
	return &Clientset{
		discovery:                discoveryClient,
		examplesV1alpha1:         &examplesV1alpha1Client{examples},
		samplecontrollerV1alpha1: &samplecontrollerV1alpha1Client{samplecontroller},
	}, nil
}

// NewForConfigOrDie is NewForConfig, but panics on an error.
func NewForConfigOrDie(c *rest.Config) *Clientset {
	clientset, err := NewForConfig(c)
	if err != nil {
		panic(err)
	}
	return clientset
}

// New returns a clientset that sends everything through one REST client, under that client's
// base path.
func New(c rest.Interface) *Clientset {
	return &Clientset{
		discovery:                discovery.NewDiscoveryClient(c),
		examplesV1alpha1:         &examplesV1alpha1Client{c},
		samplecontrollerV1alpha1: &samplecontrollerV1alpha1Client{c},
	}
}

// restClientFor returns the REST client of a group, with the base path /apis/<group>/<version>.
func restClientFor(c *rest.Config, gv schema.GroupVersion, httpClient *http.Client) (rest.Interface, error) {
	config := *c
	config.GroupVersion = &gv
	config.APIPath = "/apis"
	// WithoutConversion: a client has one Go type per kind and does not convert versions. The
	// serializer only sets and clears apiVersion and kind (steps 1 and 4 of scheme.go).
	config.NegotiatedSerializer = Codecs.WithoutConversion()
	return rest.RESTClientForConfigAndClient(&config, httpClient)
}

// Discovery implements Interface.
func (c *Clientset) Discovery() discovery.DiscoveryInterfaces { return c.discovery }

// ExamplesV1alpha1 implements Interface.
func (c *Clientset) ExamplesV1alpha1() ExamplesV1alpha1Interface { return c.examplesV1alpha1 }

// SamplecontrollerV1alpha1 implements Interface.
func (c *Clientset) SamplecontrollerV1alpha1() SamplecontrollerV1alpha1Interface {
	return c.samplecontrollerV1alpha1
}

type examplesV1alpha1Client struct{ client rest.Interface }

func (c *examplesV1alpha1Client) RESTClient() rest.Interface { return c.client }

func (c *examplesV1alpha1Client) Projects(namespace string) ProjectInterface {
	return &projects{client: c.client, namespace: namespace}
}

type samplecontrollerV1alpha1Client struct{ client rest.Interface }

func (c *samplecontrollerV1alpha1Client) RESTClient() rest.Interface { return c.client }

func (c *samplecontrollerV1alpha1Client) Foos(namespace string) FooInterface {
	return &foos{client: c.client, namespace: namespace}
}

// timeoutOf is opts.TimeoutSeconds as a duration, 0 if it is not set. The server ends the
// list or watch after this time. The client also cancels a list, but not a watch.
func timeoutOf(opts metav1.ListOptions) time.Duration {
	return time.Duration(ptr.Deref(opts.TimeoutSeconds, 0)) * time.Second
}
