//go:build unix

package train_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"liminal/internal/cell"
	"liminal/internal/lora/train"
)

// limitFiles makes every write beyond so many bytes of a file fail, as a full
// disk does.
func limitFiles(most uint64) {
	_ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most})
}

// parent trains a folder in a cell, and tells each step.
func parent(dir string) int {
	c := cell.New(cell.Program{Path: os.Args[0], Args: []string{"train-in-cell"}}, cell.Options{Dir: filepath.Join(dir, "cell")})
	defer c.Close()
	_, err := train.In(context.Background(), c, dir, limits, train.Options{Report: func(m train.Metric) { fmt.Println(m.Step) }})
	if err != nil {
		return 1
	}
	return 0
}

// A process that trains ends with the one that started it, also when that is
// killed: the lock of the folder is free then.
func TestTrainingEndsWithWhoStartedIt(t *testing.T) {
	t.Parallel()
	dir := job(t, func(j *train.Job) { j.Steps = 1 << 20 })
	cmd, lines, said := start(t, 1, "train-parent", dir)
	if !lines.Scan() {
		t.Fatalf("it did not begin: %s", said)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	f, err := os.Open(filepath.Join(dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	free := make(chan error, 1)
	go func() { free <- syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }()
	select {
	case err := <-free:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("it trains on")
	}
}
