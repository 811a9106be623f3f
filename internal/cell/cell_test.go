package cell_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
)

// TestMain makes the test program its own child: its work is to do what its
// task says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "do-as-told" {
		if err := cell.Serve(os.Stdin, os.Stdout, obey); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

var hoard [][]byte

func obey(w cell.Work) (any, error) {
	var task string
	if err := json.Unmarshal(w.Task, &task); err != nil {
		return nil, err
	}
	if dirs, ok := strings.CutPrefix(task, "open "); ok {
		return opened(strings.Fields(dirs)), nil
	}
	switch task {
	case "who":
		return os.Getuid(), nil
	case "network":
		raw, err := os.ReadFile("/proc/self/net/dev")
		return string(raw), err
	case "echo":
		b := make([]byte, w.Size)
		if _, err := w.Body.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		w.Tell("half way")
		return string(b), nil
	case "pid":
		return os.Getpid(), nil
	case "eat slowly", "eat at once":
		for {
			b := make([]byte, 8<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			hoard = append(hoard, b)
			if task == "eat slowly" {
				runtime.Gosched()
			}
		}
	case "spin":
		for i := 0; ; i++ {
			runtime.KeepAlive(i)
		}
	case "wait":
		select {}
	case "environment":
		return os.Environ(), nil
	case "panic":
		panic("struck by the document")
	case "shout":
		return strings.Repeat("a", 2<<20), nil
	case "escape":
		_, dialled := net.Dial("tcp", "127.0.0.1:1")
		ran := exec.Command("/bin/true").Run()
		return []bool{errors.Is(dialled, os.ErrPermission), errors.Is(ran, os.ErrPermission)}, nil
	}
	return nil, errors.New("no such task")
}

// opened is what can be read and written of three folders, and written in the
// process's own.
func opened(dirs []string) (can []bool) {
	for _, dir := range dirs {
		_, read := os.ReadFile(filepath.Join(dir, "there"))
		written := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600)
		can = append(can, read == nil, written == nil)
	}
	return append(can, os.WriteFile(filepath.Join(os.TempDir(), "own"), nil, 0o600) == nil)
}

var limits = cell.Limits{Memory: 128 << 20, CPU: 5 * time.Second, Wall: 3 * time.Minute, Output: 1 << 20}

func newCell(t *testing.T, o cell.Options) *cell.Cell {
	t.Helper()
	self, err := cell.Self("do-as-told")
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = t.TempDir()
	c := cell.New(self, o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(o.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return c
}

func do(t *testing.T, c *cell.Cell, task string, l cell.Limits) (string, error) {
	t.Helper()
	raw, err := c.Do(t.Context(), cell.Job{Task: task, Body: strings.NewReader(""), Limits: l})
	return strings.TrimSpace(string(raw)), err
}

func TestAJobIsDoneWithItsBodyAndTells(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	for _, size := range []int{0, 5, 900 << 10} {
		body := bytes.Repeat([]byte("x"), size)
		var told string
		raw, err := c.Do(t.Context(), cell.Job{
			Task: "echo", Body: bytes.NewReader(body), Size: int64(size), Limits: limits,
			Told: func(m json.RawMessage) { told = strings.TrimSpace(string(m)) },
		})
		var got string
		if err != nil || json.Unmarshal(raw, &got) != nil || got != string(body) || told != `"half way"` {
			t.Errorf("%d bytes came back as %d, told %s, %v", size, len(got), told, err)
		}
	}
}

// What a job takes beyond its bounds ends it, says which bound that was, and
// leaves the next job alone.
//
// Requirements: RAG-05
func TestAJobEndsAtItsBounds(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	short := limits
	short.CPU = 300 * time.Millisecond
	late := limits
	late.Wall = 300 * time.Millisecond
	still := limits
	still.Still = 300 * time.Millisecond
	for _, k := range []struct {
		task   string
		limits cell.Limits
		cause  cell.Cause
		code   fault.Code
		says   string
	}{
		{"eat slowly", limits, cell.Memory, fault.Invalid, "128 MiB"},
		{"eat at once", limits, cell.Memory, fault.Invalid, "128 MiB"},
		{"spin", short, cell.Time, fault.Invalid, "300ms of computing"},
		{"wait", late, cell.Late, fault.Internal, "the machine had too much else to do"}, // the processors had time for it, and nobody else had
		{"wait", still, cell.Stuck, fault.Invalid, "not tried again"},
		{"shout", limits, cell.Output, fault.Invalid, "more text than can be kept"},
		{"panic", limits, cell.Crash, fault.Invalid, "not tried again"},
		{"nonsense", limits, cell.Crash, fault.Invalid, "not tried again"},
	} {
		began := time.Now()
		_, err := do(t, c, k.task, k.limits)
		failure, ok := errors.AsType[*cell.Failure](err)
		if !ok || failure.Cause != k.cause {
			t.Errorf("%s: %v", k.task, err)
			continue
		}
		if told := failure.Fault("The document"); !errors.Is(told, k.code) || !strings.Contains(told.Message, k.says) {
			t.Errorf("%s: %s", k.task, told.Message)
		}
		if took := time.Since(began); took > 90*time.Second {
			t.Errorf("%s took %v", k.task, took)
		}
		if got, err := do(t, c, "echo", limits); err != nil || got != `""` {
			t.Errorf("after %s: %s, %v", k.task, got, err)
		}
	}
}

func TestAProcessServesAgainAndIsReplacedInTime(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{Serves: 2, Idle: time.Minute})
	var pids []string
	for range 3 {
		pid, err := do(t, c, "pid", limits)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if pids[0] != pids[1] || pids[1] == pids[2] {
		t.Errorf("the processes were %v", pids)
	}
}

func TestAWaitingProcessThatWasTakenAwayCostsNoJob(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{Idle: time.Minute})
	raw, err := do(t, c, "pid", limits)
	var pid int
	if err != nil || json.Unmarshal([]byte(raw), &pid) != nil {
		t.Fatal(raw, err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = p.Wait() // the cell may have been faster
	if got, err := do(t, c, "echo", limits); err != nil || got != `""` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestWhoGivesUpEndsTheProcess(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	if _, err := c.Do(ctx, cell.Job{Task: "wait", Body: strings.NewReader(""), Limits: limits}); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestABodyThatCannotBeReadIsNoFaultOfTheJob(t *testing.T) {
	t.Parallel()
	c := newCell(t, cell.Options{})
	_, err := c.Do(t.Context(), cell.Job{Task: "echo", Body: strings.NewReader("ab"), Size: 10, Limits: limits})
	if _, ended := errors.AsType[*cell.Failure](err); err == nil || ended {
		t.Errorf("it ended with %v", err)
	}
}

// What this program knows of its environment, keys among it, is not told to a
// process that reads what strangers wrote.
func TestAProcessKnowsNothingOfTheEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "hunter2")
	c := cell.New(cell.Program{Path: os.Args[0], Args: []string{"do-as-told"}, Env: []string{"OWN=1"}, Processors: 3}, cell.Options{Dir: t.TempDir()})
	defer c.Close()
	raw, err := c.Do(t.Context(), cell.Job{Task: "environment", Body: strings.NewReader(""), Limits: limits})
	var env []string
	if err != nil || json.Unmarshal(raw, &env) != nil || len(env) < 5 {
		t.Fatalf("%s, %v", raw, err)
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if !slices.Contains([]string{"OWN", "TMPDIR", "TMP", "TEMP", "GOMAXPROCS", "GOTRACEBACK", "GOMEMLIMIT", "SystemRoot"}, name) || name == "GOMAXPROCS" && value != "3" {
			t.Errorf("it knows %s", v)
		}
	}
}
