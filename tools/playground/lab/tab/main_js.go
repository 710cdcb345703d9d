// Command tab is the playground for a Worker of a browser (GOOS=js GOARCH=wasm). The page sends
// it commands (Playground.Do) and it posts what lab.Tell hears, as [kind, JSON].
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
	// client-go logs what bad luck does to it. The picture shows the same.
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
		default: // more than a visitor can mean
		}
		return nil
	}))
	for command := range commands { // one after the other, as they came
		p.Do(command)
	}
}
