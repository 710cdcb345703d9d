package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"example.com/byhand/kit/connect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal, a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(printable{os.Stderr}, "dynamic:", err)
		os.Exit(1)
	}
}

type program struct {
	options
	client *Client
	stdout io.Writer
	// steps logs the program's steps to its result.
	steps *log.Logger
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stdout)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	config, namespace, err := connect.Config(o.connect)
	if err != nil {
		return err
	}
	o.contextNamespace = namespace
	p := &program{options: o, stdout: stdout, steps: log.New(printable{stderr}, "", 0)}
	if p.client, err = NewClient(config, p.steps); err != nil {
		return connect.ExplainConfig(err)
	}
	switch o.command {
	case "api-resources":
		return p.apiResources(ctx)
	case "raw":
		return p.raw(ctx)
	default:
		return p.get(ctx)
	}
}

// raw prints the response to a GET unchanged, until the response ends: a watch is one response.
func (p *program) raw(ctx context.Context) error {
	answer, err := p.client.Raw(ctx, p.word)
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(p.stdout, answer)
	return err
}
