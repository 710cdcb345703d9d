package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

// shell returns the commands, one per line, with which kubectl in another terminal uses the cluster of that
// kubeconfig; "" if it does so without them. The cluster of make run has its kubectl in bin/, next to the
// kubeconfig.
func shell(kubeconfig string) string {
	if kubeconfig = cmp.Or(kubeconfig, os.Getenv(clientcmd.RecommendedConfigPathEnvVar)); kubeconfig == "" {
		return ""
	}
	lines := fmt.Sprintf("export KUBECONFIG=\"%s\"\n", kubeconfig)
	bin := filepath.Join(filepath.Dir(kubeconfig), "bin")
	if _, err := os.Stat(filepath.Join(bin, "kubectl")); err == nil {
		lines += fmt.Sprintf("export PATH=\"%s:$PATH\"\n", bin)
	}
	return lines
}
