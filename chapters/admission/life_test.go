//go:build integration

package main

import (
	"sync"
	"testing"
)

// TestLife: clients that create pizzas while the program exits see no error.
func TestLife(t *testing.T) {
	c := newCluster(t)
	p := c.start(c.AccountWith("byhand-admission"))
	ended := make(chan struct{})
	var ordering sync.WaitGroup
	for range 4 {
		ordering.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if _, err := c.order("tomato"); err != nil {
					t.Errorf("at the end of the program: %v", err)
					return
				}
			}
		})
	}
	p.Stop()
	p.Prints(1, "stopped")
	close(ended)
	ordering.Wait()
	if c.registered() {
		t.Error("the registration is still there")
	}
}
