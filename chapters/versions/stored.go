package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"example.com/byhand/chapters/restaurant/v1alpha1"
)

// storedPizza is what this program shows of an object in etcd.
type storedPizza struct {
	APIVersion string          `json:"apiVersion"`
	Spec       json.RawMessage `json:"spec"`
}

// stored returns a Pizza as it is in etcd. The API server shows every object in the
// version that it was asked for, never in the one that it is stored in. Key and value are
// base64 in JSON, which is how etcd writes bytes over HTTP.
func stored(ctx context.Context, etcd, key string) (pizza storedPizza, err error) {
	body, err := json.Marshal(map[string][]byte{"key": []byte("/registry/" + v1alpha1.GroupName + "/pizzas/" + key)})
	if err != nil {
		return pizza, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(etcd, "/")+"/v3/kv/range", bytes.NewReader(body))
	if err != nil {
		return pizza, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return pizza, fmt.Errorf("ask etcd: %w", err)
	}
	defer response.Body.Close()
	answer := struct {
		KVs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}{}
	// An object has at most 1.5 MiB there, in base64 a third more.
	text, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	switch {
	case response.StatusCode != http.StatusOK || err != nil:
		return pizza, fmt.Errorf("etcd answers %s: %.300s", response.Status, text)
	case len(answer.KVs) == 0:
		return pizza, fmt.Errorf("nothing is stored as %s: want NAMESPACE/NAME of a Pizza", key)
	default:
		return pizza, json.Unmarshal(answer.KVs[0].Value, &pizza)
	}
}

// etcdOf returns the URL of the etcd of a cluster that `make cluster` has started. It has
// no credentials. That of any other cluster answers its API server alone.
func etcdOf(kubeconfig string) (string, error) {
	name, ok := strings.CutSuffix(filepath.Base(kubeconfig), ".kubeconfig")
	config, err := os.ReadFile(filepath.Join(filepath.Dir(kubeconfig), "state", "clusters", name, "kwok.yaml"))
	port := regexp.MustCompile(`(?m)^ *etcdPort: (\d+)$`).FindSubmatch(config)
	if !ok || err != nil || port == nil {
		return "", errors.New("which etcd? Only that of a cluster which `make cluster` has started can be asked")
	}
	return "http://127.0.0.1:" + string(port[1]), nil
}
