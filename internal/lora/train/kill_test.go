package train_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
	"liminal/internal/lora/train"
)

// start trains a folder in another process, on so many processors; how is what
// TestMain knows it by.
func start(t *testing.T, processors int, how string, args ...string) (*exec.Cmd, *bufio.Scanner, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{how}, args...)...) //nolint:gosec // this very test
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", processors))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &bytes.Buffer{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), said
}

// Twenty times a process is killed, somewhere: in the middle of a step, of a
// checkpoint, of the last file. What comes of it is what comes of one that was
// let be, bit for bit, on one processor and on several.
//
// Requirements: TRAIN-14 (a restart)
func TestTwentyKillsChangeNoBit(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Steps = 300; j.Rate = 1e-3 })
	killed := copied(t, dir)
	run(t, dir, train.Options{})
	r := rand.New(rand.NewPCG(20, 20))
	kills, again, furthest, finished := 0, 0, 0, false
	for !finished || kills < 20 {
		if finished { // there were fewer kills than steps to do: it begins anew
			same(t, dir, killed)
			killed, finished, again = copied(t, dir), false, again+1
			for _, name := range []string{train.ResultDir, train.MetricsFile} {
				if err := os.RemoveAll(filepath.Join(killed, name)); err != nil {
					t.Fatal(err)
				}
			}
		}
		cmd, lines, said := start(t, 1+kills%3, "train-folder", killed)
		steps := 1 + r.IntN(45)
		if kills >= 20 {
			steps = 1 << 20
		}
		for lines.Scan() {
			n, _ := strconv.Atoi(lines.Text())
			furthest = max(furthest, n)
			if steps--; steps == 0 {
				// Not at the border of a step only: some hundred microseconds later.
				time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
			}
		}
		err := cmd.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
			finished = true
		case errors.As(err, &exit) && exit.ExitCode() == -1:
			kills++
		default:
			t.Fatalf("%v: %s", err, said)
		}
	}
	same(t, dir, killed)
	t.Logf("%d kills, %d times from the beginning", kills, again)
	if n := len(losses(t, killed)); n != 300 || furthest != 300 {
		t.Errorf("%d steps", n)
	}
	left, err := filepath.Glob(filepath.Join(killed, ".*.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// The disk is full in the middle of a checkpoint: the job says so, keeps the
// checkpoint before, and goes on from that when there is room.
//
// Requirements: TRAIN-14 (no file is half written)
func TestAFullDiskKeepsTheCheckpointBefore(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Steps = 70 })
	full := copied(t, dir)
	run(t, dir, train.Options{})
	cmd, lines, said := start(t, 2, "train-folder", full, "25", "20000")
	for lines.Scan() {
		_ = lines.Text()
	}
	err := cmd.Wait()
	for _, words := range []string{train.CheckpointFile, "in step 40", "file too large", "Free some space", "goes on from step 20"} {
		if err == nil || !strings.Contains(said.String(), words) {
			t.Errorf("it ended with %v and says %s", err, said)
		}
	}
	first := 0
	run(t, full, train.Options{Report: func(m train.Metric) {
		if first == 0 {
			first = m.Step
		}
	}})
	if first != 21 {
		t.Errorf("it goes on with step %d", first)
	}
	same(t, dir, full)
}

// Two processes do not train one folder.
func TestAFolderIsTrainedByOneProcess(t *testing.T) {
	t.Parallel()
	dir := job(t, nil)
	_, err := train.Run(t.Context(), dir, train.Options{Report: func(m train.Metric) {
		if m.Step != 1 {
			return
		}
		if _, err := train.Run(t.Context(), dir, train.Options{}); !errors.Is(err, fault.Conflict) {
			t.Errorf("a second one: %v", err)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
}

var limits = cell.Limits{Memory: 256 << 20, CPU: 5 * time.Minute, Wall: 5 * time.Minute, Output: 1 << 20}

// Requirements: TRAIN-14 (a restart)
func TestAJobIsTrainedInACell(t *testing.T) {
	t.Parallel()
	c := cell.New(cell.Program{Path: os.Args[0], Args: []string{"train-in-cell"}, Processors: 1}, cell.Options{Dir: t.TempDir(), Serves: 1})
	defer c.Close()
	dir := job(t, nil)
	fresh := copied(t, dir)
	want := run(t, dir, train.Options{})
	// The first is stopped on its way, by whoever asked for it. Where whoever asked
	// pauses, it may have come to its end meanwhile: then another is.
	inside, ended := "", true
	for tries := 0; ended && tries < 20; tries++ {
		inside = copied(t, fresh)
		ctx, cancel := context.WithCancel(t.Context())
		_, err := train.In(ctx, c, inside, limits, train.Options{Report: func(m train.Metric) {
			if m.Step == 25 {
				cancel()
			}
		}})
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		_, gone := os.Stat(filepath.Join(inside, train.ResultDir))
		ended = gone == nil
	}
	if ended {
		t.Fatal("it is never stopped")
	}
	first, notices := 0, ""
	got, err := train.In(t.Context(), c, inside, limits, train.Options{
		Report: func(m train.Metric) {
			if first == 0 {
				first = m.Step
			}
		},
		Notice: func(text string) { notices += text },
	})
	if err != nil || got.Plan != want.Plan || *got.Loss.After != *want.Loss.After {
		t.Fatalf("%+v, %v", got, err)
	}
	if first != 21 && first != 41 || notices == "" {
		t.Errorf("it went on with step %d and said %q", first, notices)
	}
	same(t, dir, inside)

	// What is wrong with a job is told as it is outside, and a limit by its name.
	if _, err := train.In(t.Context(), c, job(t, func(j *train.Job) { j.Rank = 0 }), limits, train.Options{}); !errors.Is(err, fault.Invalid) || train.Passes(err) {
		t.Errorf("%v", err)
	}
	tight := limits
	tight.CPU = 50 * time.Millisecond
	if _, err := train.In(t.Context(), c, job(t, func(j *train.Job) { j.Steps = 5000 }), tight, train.Options{}); err == nil || !strings.Contains(err.Error(), "limit of time") || !train.Passes(err) || train.Why(err) != train.TooLong {
		t.Errorf("%v", err)
	}
}
