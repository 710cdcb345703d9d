// Command tab is the playground for a Worker of a browser (GOOS=js GOARCH=wasm). The page sends it
// commands for Playground.Do, and it posts the messages of lab.Tell as [kind, JSON].
package main

import (
	"context"
	"encoding/json"
	"io"
	"syscall/js"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/byhand/tools/playground/lab"
)

// mostWaiting is how many commands may wait: a link has fewer.
const mostWaiting = 100

func main() {
	// client-go logs the injected failures. The picture shows the same.
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard))))
	p := lab.New(context.Background(), func(kind string, body any) {
		if text, err := json.Marshal(body); err == nil {
			js.Global().Call("postMessage", []any{kind, string(text)})
		}
	})
	commands := make(chan string, mostWaiting)
	js.Global().Set("byhandDo", js.FuncOf(func(_ js.Value, args []js.Value) any {
		select {
		case commands <- args[0].String():
		default: // more than a visitor would send
		}
		return nil
	}))
	for command := range commands { // one after the other, in order
		p.Do(command)
	}
}
