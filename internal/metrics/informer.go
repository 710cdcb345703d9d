package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/byhand/informer"
)

// Informers adds how many objects these informers keep and whether they are in
// sync. Both are looked up when a scrape comes. Call it once.
func (m *Metrics) Informers(informers ...*informer.Informer) {
	m.registry.MustRegister(storeCollector(informers))
}

var (
	storeObjects = prometheus.NewDesc("informer_store_objects", "Objects in the informer's store.", []string{"group", "resource"}, nil)
	synced       = prometheus.NewDesc("informer_synced", "1 when the store holds the objects of the first list, else 0.", []string{"group", "resource"}, nil)
)

// storeCollector implements prometheus.Collector.
type storeCollector []*informer.Informer

func (storeCollector) Describe(descriptions chan<- *prometheus.Desc) {
	descriptions <- storeObjects
	descriptions <- synced
}

func (c storeCollector) Collect(values chan<- prometheus.Metric) {
	for _, i := range c {
		resource := schema.ParseGroupResource(i.Resource)
		inSync := 0.0
		if i.Synced() == nil {
			inSync = 1
		}
		// A store does not say how many it has: this lists the keys, not the objects.
		count := float64(len(i.Store.ListKeys()))
		values <- prometheus.MustNewConstMetric(storeObjects, prometheus.GaugeValue, count, resource.Group, resource.Resource)
		values <- prometheus.MustNewConstMetric(synced, prometheus.GaugeValue, inSync, resource.Group, resource.Resource)
	}
}
