package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/informer"
)

// Informers adds the number of objects of these informers, and whether they are ready. Each scrape reads both.
// Call it once.
func (m *Metrics) Informers(informers ...*informer.Informer) {
	f := promauto.With(m.registry)
	for _, i := range informers {
		resource := schema.ParseGroupResource(i.Resource)
		labels := prometheus.Labels{"group": resource.Group, "resource": resource.Resource}
		// A store has no count: this lists the keys, not the objects.
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "informer_store_objects", Help: "Objects in the informer's store.", ConstLabels: labels},
			func() float64 { return float64(len(i.Store.ListKeys())) })
		f.NewGaugeFunc(prometheus.GaugeOpts{Name: "informer_ready", Help: "1 when the store holds the objects of the first list and has been followed by a watch in the last minute, else 0, as while it stands by.", ConstLabels: labels},
			func() float64 {
				if i.Ready() == nil {
					return 1
				}
				return 0
			})
	}
}
