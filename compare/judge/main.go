// Command judge puts any Foo controller to the test from outside.
package main

import "fmt"

func main() {
	for _, s := range scenarios {
		fmt.Printf("%-20s %-24s %s\n", s.name, s.judged, s.what)
	}
}
