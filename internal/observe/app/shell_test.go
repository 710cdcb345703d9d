package app

import (
	"os"
	"path/filepath"
	"testing"
)

// shell prints what a second terminal needs to reach the same cluster with its kubectl.
func TestShell(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "own")
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin", "kubectl"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flag, variable, want string }{
		{"", "", ""},
		{"", "/home/me/config", "export KUBECONFIG=\"/home/me/config\"\n"},
		{own, "/home/me/config", "export KUBECONFIG=\"" + own + "\"\nexport PATH=\"" + folder + "/bin:$PATH\"\n"},
	} {
		t.Setenv("KUBECONFIG", c.variable)
		if got := shell(c.flag); got != c.want {
			t.Errorf("--kubeconfig %q, $KUBECONFIG %q: got\n%s\nwant\n%s", c.flag, c.variable, got, c.want)
		}
	}
}
