package playground

import "slices"

// Reverse makes the younger replica the older one.
func (p *Playground) Reverse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	slices.Reverse(p.replicas)
}
