//go:build integration

package main

import (
	"os"
	"strings"
	"testing"

	"example.com/byhand/chapters/internal/chaptertest"
)

// This chapter defines no kinds: it uses Foos and Projects.
func TestMain(m *testing.M) { os.Exit(chaptertest.Run(m, chaptertest.CoreCRDs)) }

// TestReadme runs the README's commands and checks their output. The commands of bin/dynamic, except
// get byhand, need exactly the permissions of config/rbac.
func TestReadme(t *testing.T) {
	t.Parallel()
	c := chaptertest.New(t)
	c.Kubectl("apply", "-f", "../../config/samples")
	script, account := c.Readme(c.Here()), c.ExactAccount("byhand-dynamic", "list projects")
	var watches []*chaptertest.Program
	for _, command := range script.Commands {
		args, ours := strings.CutPrefix(command, "bin/dynamic ")
		if strings.HasPrefix(command, "kill %") {
			script.Take(command)
			for _, p := range watches {
				p.Stop()
			}
			continue
		}
		if !ours {
			script.Run(command)
			seen(command, watches)
			continue
		}
		script.Take(command)
		args, behind := strings.CutSuffix(args, " &")
		// The sample is in the test's namespace instead of default.
		args = strings.ReplaceAll(args, "default", c.Namespace)
		as := account
		if args == "get byhand" { // the category may include other chapters' kinds
			as = c.Here()
		}
		p := c.Start(append(strings.Fields(args), "--kubeconfig", as)...)
		if strings.Contains(args, " -w") {
			p.Prints(1, `ready: watching`)
		}
		switch {
		case behind:
			watches = append(watches, p)
		case strings.Contains(args, " -w"):
			p.Stop()
		default:
			if code := p.Exit(); code != 0 {
				t.Errorf("%s: exit code %d", command, code)
			}
		}
	}
}

// seen waits for the events that a command causes in the watches of Deployments, ReplicaSets and Pods.
func seen(command string, watches []*chaptertest.Program) {
	for i, kind := range []string{"Deployment", "ReplicaSet", "Pod"} {
		switch {
		case strings.HasPrefix(command, "kubectl rollout status"):
			watches[i].Prints(1, `ADDED +`+kind+` +\S+ +byhand-chain`)
			watches[i].Prints(2, `MODIFIED +`+kind+` +\S+ +byhand-chain`)
		case strings.HasPrefix(command, "kubectl delete deployment"):
			watches[i].Prints(1, `DELETED +`+kind+` +\S+ +byhand-chain`)
		}
	}
}
