// Command tab is the playground for a Worker of a browser (GOOS=js GOARCH=wasm). The page sends
// it commands, see playground.Do, and it posts messages: the steps of the program, and what the
// server has stored. Both are text.
package main

import (
	"context"
	"encoding/json"
	"io"
	"syscall/js"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"example.com/byhand/internal/playground"
)

func main() {
	// client-go logs what bad luck does to it. The picture shows the same.
	klog.SetLogger(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(io.Discard))))
	p := playground.New(context.Background(), func(m playground.Message) {
		if text, err := json.Marshal(m); err == nil {
			js.Global().Call("postMessage", string(text))
		}
	})
	js.Global().Set("byhandDo", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if len(args) == 1 && args[0].Type() == js.TypeString {
			command := args[0].String()
			go p.Do(command)
		}
		return nil
	}))
	select {}
}
