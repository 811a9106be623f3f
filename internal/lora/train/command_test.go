//go:build unix

package train_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
	"liminal/internal/lora/train"
)

// foreign is a trainer of another maker: it does what its first argument says to
// the folder that is its second.
func foreign(args []string) int {
	how, dir := args[0], args[1]
	switch how {
	case "trains":
		if os.Getenv("DATABASE_URL") != "" || os.Getenv("PATH") == "" {
			fmt.Println("it has the environment of the platform")
			return 1
		}
		m, err := train.Run(context.Background(), dir, train.Options{})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		// It writes the four fields it has to, and no others.
		raw, _ := json.Marshal(map[string]any{"job": m.Job, "fence": m.Fence, "base_sha256": m.Base, "files": m.Files})
		if err := os.WriteFile(filepath.Join(dir, train.ResultDir, train.ManifestFile), raw, 0o600); err != nil {
			return 1
		}
	case "refuses":
		fmt.Fprintln(os.Stderr, "the loss is unknown to me")
		return 2
	case "fails":
		fmt.Println(strings.Repeat("x", 10_000))
		fmt.Fprintln(os.Stderr, "CUDA out of memory")
		return 3
	case "leaves-nothing":
	case "stays":
		// It and a child of its own do not end when they are asked to.
		signal.Ignore(syscall.SIGTERM)
		if len(args) == 2 {
			child := exec.Command(os.Args[0], "foreign-trainer", "stays", dir, "child")
			child.Stdout = os.Stdout // which it keeps open
			if err := child.Start(); err != nil {
				return 1
			}
			pids := fmt.Sprintf("%d %d", os.Getpid(), child.Process.Pid)
			if err := os.WriteFile(filepath.Join(dir, "pids"), []byte(pids), 0o600); err != nil {
				return 1
			}
			line, _ := json.Marshal(train.Metric{Step: 1, Of: 9, Loss: 2})
			if err := os.WriteFile(filepath.Join(dir, train.MetricsFile), append(line, '\n'), 0o600); err != nil {
				return 1
			}
		}
		select {}
	}
	return 0
}

func command(how string) *train.Command {
	return &train.Command{Args: []string{os.Args[0], "foreign-trainer", how, "{dir}"}, Every: 2 * time.Millisecond, Grace: 50 * time.Millisecond}
}

func TestAnotherProgramTrainsTheSameFolder(t *testing.T) {
	t.Setenv("DATABASE_URL", "postgres://secret")
	dir := job(t, nil)
	j, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	m, err := command("trains").Train(t.Context(), dir, train.Options{Report: func(m train.Metric) { steps = append(steps, m.Step) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) != j.Steps || !slices.IsSorted(steps) {
		t.Errorf("it told the steps %v", steps)
	}
	base, err := llm.Open(j.Base.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := train.Check(dir, j, base); err != nil || r.Manifest.Files["adapter_config.json"] != m.Files["adapter_config.json"] {
		t.Errorf("%+v, %v", r.Manifest, err)
	}
	// It is brought what the job goes on from, also when it sees no other folder.
	on := job(t, func(j *train.Job) { j.Init = filepath.Join(dir, train.ResultDir) })
	if _, err := command("trains").Train(t.Context(), on, train.Options{}); err != nil {
		t.Error(err)
	}
	for name, want := range m.Files {
		if got, err := serve.Sum(filepath.Join(on, train.InitDir, name)); err != nil || got != want {
			t.Errorf("brought was %s: %v", name, err)
		}
	}
	// Again it does nothing, also under the fence of another claim. The program
	// that would fail is not asked.
	j.Fence = 7
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	if m, err := command("fails").Train(t.Context(), dir, train.Options{}); err != nil || m.Fence != 7 {
		t.Errorf("done again: %+v, %v", m, err)
	}
	// A job that is made otherwise is trained anew.
	j.Rank = 2
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	if _, err := command("fails").Train(t.Context(), dir, train.Options{}); err == nil {
		t.Error("the result of another job is taken for this one's")
	}
}

func TestWhatATrainerSaidIsTheReasonOfItsFailure(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]struct {
		words  string
		passes bool
	}{
		"refuses":        {"The trainer refuses the job j1: the loss is unknown to me", false},
		"fails":          {"CUDA out of memory", true},
		"leaves-nothing": {"left no result of the job j1", false},
	} {
		_, err := command(how).Train(t.Context(), job(t, nil), train.Options{})
		if err == nil || !strings.Contains(err.Error(), want.words) || train.Passes(err) != want.passes || len(err.Error()) > 5000 {
			t.Errorf("%s: %v", how, err)
		}
	}
	missing := &train.Command{Args: []string{"/nowhere/trainer", "{dir}"}}
	if _, err := missing.Train(t.Context(), job(t, nil), train.Options{}); err == nil || !strings.Contains(err.Error(), "LIMINAL_TRAIN_COMMAND") || !train.Passes(err) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// The program that is told to end, and what it started, are gone when Train
// returns, also when they do not listen. So it is when the job was given to
// somebody else.
func TestATrainerEndsWithWhoeverStartedIt(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel func(), dir string) error{
		"cancelled": func(cancel func(), _ string) error { cancel(); return nil },
		"another fence": func(_ func(), dir string) error {
			j, err := train.ReadJob(dir)
			j.Fence++
			return errors.Join(err, train.WriteJob(dir, j))
		},
	} {
		dir := job(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := command("stays").Train(ctx, dir, train.Options{Report: func(m train.Metric) {
			if m.Step == 1 && m.Of == 9 {
				if err := end(cancel, dir); err != nil {
					t.Error(err)
				}
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) && !errors.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
		raw, err := os.ReadFile(filepath.Join(dir, "pids"))
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range strings.Fields(string(raw)) {
			pid, err := strconv.Atoi(field)
			if err != nil {
				t.Fatal(err)
			}
			// It was killed; on a busy machine its last steps take a moment.
			for late := time.Now().Add(30 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(time.Millisecond) {
				if time.Now().After(late) {
					t.Fatalf("%s: the process %d is still there", name, pid)
				}
			}
		}
	}
}

// zombie reports whether a process is dead, and only waits to be noticed by
// whoever inherited it.
func zombie(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(raw), ") ")
	return strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

func TestACommandLineIsReadWithoutAShell(t *testing.T) {
	t.Parallel()
	c, err := train.ParseCommand(`docker run --rm -v "{dir}:/job" -e 'A=b c' image "" `)
	if want := []string{"docker", "run", "--rm", "-v", "{dir}:/job", "-e", "A=b c", "image", ""}; err != nil || !slices.Equal(c.Args, want) {
		t.Errorf("%q, %v", c, err)
	}
	for line, words := range map[string]string{"train.py": "{dir}", `train "{dir}`: "not closed", "": "{dir}"} {
		if _, err := train.ParseCommand(line); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", line, err)
		}
	}
}
