// Command look shows what any controller hears and sends, and why: it stands between the program
// and its API server, and changes nothing.
//
//	make look CONTROLLER='../theirs/manager --flag'          # on the cluster of make cluster, or KUBECONFIG
//	bin/look --kubeconfig FILE -- ../theirs/manager --flag   # the same without make
//	bin/look --kubeconfig FILE --listen 127.0.0.1:8001       # for a program that runs elsewhere on this machine
//
// The program finds the way through $KUBECONFIG. One that wants a flag gets the path where
// {kubeconfig} stands in its command. What the program prints goes to the standard error, the story
// to the standard output. Package internal/look says what it shows and what it cannot know.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/byhand/internal/look"
	"example.com/byhand/kit/connect"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "look:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("look", flag.ExitOnError)
	o := connect.Options{QPS: -1}
	flags.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of the API server (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&o.Context, "context", "", "`name` of a context of the kubeconfig (default: its current one)")
	listen := flags.String("listen", "127.0.0.1:0", "`host:port` to listen on, of this machine alone; port 0: any free one")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: look [flags] [-- COMMAND…]\nIt shows what the controller hears and sends, and why. Without a command it prints the kubeconfig to give to a program.")
		flags.PrintDefaults()
	}
	_ = flags.Parse(args)

	config, _, err := connect.Config(o)
	if err != nil {
		return err
	}
	glass, err := look.New(config, *listen, os.Stdout)
	if err != nil {
		return err
	}
	defer glass.Close()
	if flags.NArg() == 0 {
		fmt.Fprintf(os.Stderr, "look: start the program with KUBECONFIG=%s (Ctrl-C stops)\n", glass.Kubeconfig)
		<-ctx.Done()
		return nil
	}
	return program(ctx, glass, flags.Args())
}

// unheard is how long a program may send nothing before that is said.
const unheard = 15 * time.Second

// program runs the command until it ends or ctx is done, and then asks it to end.
func program(ctx context.Context, glass *look.Glass, args []string) error {
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "{kubeconfig}", glass.Kubeconfig)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+glass.Kubeconfig)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	// A group of its own, so that the signal also meets the child of `go run`.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	timer := time.AfterFunc(unheard, func() {
		if !glass.Heard() {
			fmt.Fprintln(os.Stderr, "look: the program has asked the API server for nothing yet. Does it read $KUBECONFIG? If it wants a flag, write {kubeconfig} where the path belongs")
		}
	})
	defer timer.Stop()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("the program does not start: %w", err)
	}
	err := cmd.Wait()
	switch exit, _ := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		return nil
	case exit != nil:
		return fmt.Errorf("the program ended: %s", exit)
	case err != nil:
		return err
	}
	return errors.New("the program ended with exit code 0: a controller runs on")
}
