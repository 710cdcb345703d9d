package stage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"example.com/byhand/internal/run/subprocess"
)

// process is a program that runs or has run: a process of the command, or a function in memory.
type process interface {
	Done() <-chan struct{}
	Ended() string // how, "" while it runs
	Kill()
	Stop(patience time.Duration) (remark string)
	began() time.Time
	Words(lines int) string // the last printed lines
	peak() uint64           // peak memory in bytes
}

// Command is how the program is started.
type Command struct {
	Args []string // each {kubeconfig} becomes the path of the file
	Dir  string
}

// program is a process of the command and its children, in its own group, so that a signal also reaches the
// child of `go run`.
type program struct {
	*subprocess.Process
	tail *Tail
	// mark is in the environment of each child. It finds processes that leave the group.
	mark string
}

// markName is the variable of the mark. The value begins with the judge's process id.
const markName = "FOO_JUDGE"

// started counts the started programs.
var started atomic.Int64

func (c Command) start(kubeconfig string) (*program, error) {
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = strings.ReplaceAll(arg, "{kubeconfig}", kubeconfig)
	}
	p := &program{tail: &Tail{}}
	p.mark = fmt.Sprintf("%s=%d-%d", markName, os.Getpid(), started.Add(1))
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, p.mark)
	cmd.Stdout, cmd.Stderr = p.tail, p.tail
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Do not wait for a surviving child that holds the output open.
	cmd.WaitDelay = time.Second
	var err error
	p.Process, err = subprocess.Start(cmd)
	return p, err
}

// Kill kills the process and everything that it has started. It returns when all are gone, or after 5 s.
func (p *program) Kill() {
	p.Process.Kill()
	// Repeat it: a process may have started a new one meanwhile.
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		left := p.processes()
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// Stop asks the process to exit, and kills it after patience. It returns a remark if the process or a child
// was left.
func (p *program) Stop(patience time.Duration) (remark string) {
	if err := p.Process.Stop(patience); errors.Is(err, subprocess.ErrKilled) {
		remark = fmt.Sprintf("keeps running for %s after SIGTERM", patience)
	}
	for end := time.Now().Add(time.Second); remark == "" && len(p.processes()) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			remark = "leaves processes behind after SIGTERM"
		}
	}
	p.Kill()
	return remark
}

func (p *program) began() time.Time { return p.Started }

func (p *program) Words(lines int) string { return p.tail.Lines(lines) }

// processes returns the processes that the program has started and that still run.
func (p *program) processes() (pids []int) { return Processes("environ", p.mark) }

// Processes returns the processes with this entry in /proc/PID/name, whose entries end with a NUL (proc(5)).
func Processes(name, text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/" + name)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !slices.Contains(strings.Split(string(content), "\x00"), text) {
			continue // ended, or another program's
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *program) peak() (sum uint64) {
	for _, pid := range p.processes() {
		sum += subprocess.Peak(pid)
	}
	return sum
}

// Tail keeps the last 16 KiB that were written to it.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailSize = 16 << 10

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-tailSize):]...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// Lines returns the first two kept lines, which explain a wrong flag, and the last n, indented. After a panic
// it returns the lines of crash.
func (t *Tail) Lines(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.ToValidUTF8(strings.TrimSpace(string(t.kept)), "?")
	if text == "" {
		return "\t(no output)"
	}
	lines := strings.Split(text, "\n")
	if crashed := crash(lines); crashed != nil {
		lines = crashed
	}
	if len(lines) > n+2 {
		lines = slices.Concat(lines[:2], []string{"…"}, lines[len(lines)-n:])
	}
	return "\t" + strings.Join(lines, "\n\t")
}

// crash returns the message of a panic and the first frame outside Go and the dependencies. It returns nil
// without a panic.
func crash(lines []string) (crashed []string) {
	begins := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "panic: ") })
	if begins < 0 {
		return nil
	}
	inFrames := false
	for i, line := range lines[begins : len(lines)-1] {
		file := lines[begins+i+1]
		isOthers := func(path string) bool { return strings.Contains(file, path) }
		switch inFrames = inFrames || strings.HasPrefix(line, "goroutine "); {
		case !inFrames && strings.TrimSpace(line) != "":
			crashed = append(crashed, line)
		case inFrames && strings.HasPrefix(file, "\t") && strings.Contains(file, ".go:") && !slices.ContainsFunc([]string{"/pkg/mod/", "/go/src/", "@v"}, isOthers):
			return append(crashed, line, strings.TrimSpace(file))
		}
	}
	return crashed
}

// CheckCommand fails for a command that cannot be started.
func CheckCommand(args []string) error {
	if len(args) == 0 {
		return errors.New("which program? Give its command after --, for example: go run ./tools/judge -- ./mine --kubeconfig {kubeconfig}")
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("the command does not start: %w", err)
	}
	return nil
}
