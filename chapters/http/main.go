package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := start(ctx, os.Args[1:])
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	server := flags.String("server", "http://127.0.0.1:8001", "")
	token := flags.String("token", "", "")
	namespace := flags.String("namespace", "", "")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return errors.New("usage: http [--server URL] [--token TOKEN] [--namespace NAME]; the defaults are the address of `kubectl proxy` and all namespaces")
	}
	return explain(newController(*server, *token, http.DefaultClient, *namespace, os.Stdout).run(ctx))
}

// controller is the whole program: a list and a watch fill the store and the queue, one
// worker drains the queue.
type controller struct {
	server string       // such as http://127.0.0.1:8001
	token  string       // sent with each request, unless empty
	client *http.Client // without a timeout: a timeout would end each watch
	foos   string       // the path of the Foos
	log    *log.Logger

	mu    sync.Mutex
	store map[string]Foo // the Foos by key, as last listed or watched
	queue chan string    // the keys of Foos that may need work
}

func newController(server, token string, client *http.Client, namespace string, out io.Writer) *controller {
	path := fooAPI + "/foos"
	if namespace != "" {
		path = fooAPI + "/namespaces/" + namespace + "/foos"
	}
	return &controller{server: server, token: token, client: client, foos: path, log: log.New(out, "", 0),
		store: map[string]Foo{}, queue: make(chan string, 100)}
}

// run lists and watches until ctx is done or an error occurs.
func (c *controller) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var worker sync.WaitGroup
	defer worker.Wait()
	defer cancel()
	worker.Go(func() { c.work(ctx) })
	for {
		version, err := c.list(ctx)
		if err == nil {
			// The server ends each watch after some time; then list and watch again.
			err = c.watch(ctx, version)
		}
		if err != nil {
			return err
		}
	}
}

// list fetches every Foo, and returns the list's resource version.
func (c *controller) list(ctx context.Context) (version string, err error) {
	var list struct {
		Metadata Metadata
		Items    []Foo
	}
	if err := c.do(ctx, http.MethodGet, c.foos, nil, &list); err != nil {
		return "", err
	}
	if list.Metadata.ResourceVersion == "" {
		return "", errors.New("the response is not a list of Foos")
	}
	for _, foo := range list.Items {
		if err := foo.check(); err != nil {
			return "", err
		}
		c.changed(ctx, foo)
	}
	return list.Metadata.ResourceVersion, nil
}

// watch receives every change since a version. The response to this one request does not
// end: whenever a Foo changes, the server writes another line, a JSON document.
func (c *controller) watch(ctx context.Context, version string) error {
	stream, err := c.send(ctx, http.MethodGet, c.foos+"?watch=true&resourceVersion="+version, nil)
	if err != nil {
		return err
	}
	defer stream.Close()
	c.log.Printf("ready: watching every change since version %s (Ctrl-C stops)", version)

	for lines := json.NewDecoder(stream); ; {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		if err := lines.Decode(&event); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("the watch: %w", err)
		}
		if event.Type == "ERROR" {
			return fmt.Errorf("the watch: %s", event.Object) // an object of kind Status
		}
		var foo Foo
		if err := json.Unmarshal(event.Object, &foo); err != nil {
			return fmt.Errorf("the watch: %w", err)
		}
		if err := foo.check(); err != nil {
			return err
		}
		c.log.Printf("%s %s, version %s", event.Type, foo.key(), foo.Metadata.ResourceVersion)
		switch event.Type {
		case "ADDED", "MODIFIED":
			c.changed(ctx, foo)
		case "DELETED":
			// Kubernetes' garbage collector deletes its Deployment.
			c.mu.Lock()
			delete(c.store, foo.key())
			c.mu.Unlock()
		}
	}
}

// changed puts a Foo into the store, and then its key into the queue.
func (c *controller) changed(ctx context.Context, foo Foo) {
	c.mu.Lock()
	c.store[foo.key()] = foo
	c.mu.Unlock()
	c.enqueue(ctx, foo.key())
}

// enqueue adds a key, and waits while the queue is full.
func (c *controller) enqueue(ctx context.Context, key string) {
	select {
	case c.queue <- key:
	case <-ctx.Done():
	}
}

// work handles one key after the other. A failed key is enqueued again.
func (c *controller) work(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case key := <-c.queue:
			if err := c.reconcile(ctx, key); err != nil {
				c.log.Printf("again %s: %v", key, err)
				c.enqueue(ctx, key)
			}
		case <-ctx.Done():
		}
	}
}

// reconcile creates the Deployment of the Foo with this key, and updates the Foo's status.
// It does not know which event enqueued the key: it reads the Foo's current state.
func (c *controller) reconcile(ctx context.Context, key string) error {
	c.mu.Lock()
	foo, ok := c.store[key]
	c.mu.Unlock()
	if !ok || foo.Metadata.DeletionTimestamp != "" {
		return nil // deleted, or being deleted
	}
	if foo.Status.ObservedGeneration != 0 {
		c.log.Printf("%s has a status already: nothing to do", key)
		return nil
	}
	namespace := "/namespaces/" + foo.Metadata.Namespace

	err := c.do(ctx, http.MethodPost, "/apis/apps/v1"+namespace+"/deployments", newDeployment(foo), &object{})
	if err != nil {
		return err
	}

	// The Foo carries the store's version. If another client has changed it since, the server
	// rejects the PUT with 409 Conflict, so no change is overwritten. Otherwise the PUT comes
	// back through the watch, and the next reconcile finds a status.
	foo.Status.ObservedGeneration = foo.Metadata.Generation
	return c.do(ctx, http.MethodPut, fooAPI+namespace+"/foos/"+foo.Metadata.Name+"/status", foo, &foo)
}

// do sends a request, and decodes the document in the response into answer.
func (c *controller) do(ctx context.Context, method, path string, body, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	content, err := c.send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer content.Close()
	return json.NewDecoder(content).Decode(answer)
}

// send sends a request with body as JSON, and returns the response's body. A code other
// than 2xx is an error with the server's message.
func (c *controller) send(ctx context.Context, method, path string, body any) (io.ReadCloser, error) {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.server+path, &content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	c.log.Printf("%s %s → %s", method, path, response.Status)
	if response.StatusCode < 300 {
		return response.Body, nil
	}
	defer response.Body.Close()
	refused := &refusal{Code: response.StatusCode, Message: http.StatusText(response.StatusCode)}
	_ = json.NewDecoder(response.Body).Decode(refused) // other forms of response have no message
	return nil, refused
}
