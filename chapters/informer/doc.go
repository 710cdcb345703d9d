// Command informer is
package main
