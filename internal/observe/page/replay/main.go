// Command replay shows a recording, a file of --trace=json, in a browser:
//
//	go run ./internal/observe/page/replay [flags] FILE [COMMAND…]
//
// It runs until Ctrl-C, or until COMMAND exits, and returns COMMAND's exit code. It needs only the
// standard library: make run builds it first and plays while it builds everything else, which takes
// minutes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"example.com/byhand/internal/observe/page"
	"example.com/byhand/kit/serve"
)

func main() {
	address := flag.String("page", "127.0.0.1:0", "`host:port` of the page; port 0: any free one")
	remote := flag.Bool("page-remote", false, "let --page listen where other machines reach it")
	file := flag.String("address", "", "`file` in which to leave the page's host:port, for a program that listens there afterwards")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: replay [flags] FILE [COMMAND…]")
		flag.PrintDefaults()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	server, err := page.Play(log.New(os.Stdout, "", log.Ltime|log.Lmicroseconds), flag.Arg(0), *address, *remote)
	if err == nil && *file != "" {
		err = os.WriteFile(*file, []byte(strings.Trim(strings.TrimPrefix(server.URL, "http://"), "/")), 0o644)
	}
	if err == nil {
		err = play(ctx, server, flag.Args()[1:])
	}
	var command *exec.ExitError
	if errors.As(err, &command) {
		os.Exit(command.ExitCode()) // The command has printed why.
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

// play runs the server until ctx is done, or the command exits if there is one. When it returns both
// have ended.
func play(ctx context.Context, server *serve.Server, command []string) error {
	if len(command) == 0 {
		return server.Run(ctx)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A killed command could not end its own children.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	playing, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(playing) }()
	err := cmd.Run()
	cancel()
	return errors.Join(err, <-served)
}
