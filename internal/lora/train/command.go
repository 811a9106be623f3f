package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/peft"
)

// Command trains with a program of somebody else, which reads and leaves the same
// files as this one (docs/training.md).
type Command struct {
	// Args are the program and its arguments. In them {dir} is the job's folder,
	// {base} the folder of the base model, {job} the job's id, which is also a name
	// a container can have, and {user} who this process runs as, "uid:gid".
	Args []string
	// Grace is how long it has to end by itself when it is told to; 0: 10 s.
	Grace time.Duration
	// Every is how often metrics.jsonl is read; 0: 1 s.
	Every time.Duration
}

// ParseCommand reads a command line as LIMINAL_TRAIN_COMMAND has it. No shell
// reads it: words are separated by spaces, and kept together by quotes.
func ParseCommand(line string) (*Command, error) {
	args, err := wordsOf(line)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "{dir}") }) {
		return nil, errors.New("does not say where the job's folder goes: write {dir}")
	}
	return &Command{Args: args}, nil
}

func wordsOf(line string) (list []string, err error) {
	var word strings.Builder
	var quote rune
	in := false
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				list = append(list, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a %c that is not closed", quote)
	}
	if in {
		list = append(list, word.String())
	}
	return list, nil
}

// Found reports, as an error, whether the program is not there.
func (c *Command) Found() error {
	_, err := exec.LookPath(c.Args[0])
	return err
}

// Train implements Trainer. The program has this one's PATH and what tells it of
// GPUs and containers, and none of the settings and secrets of the platform. What
// it said last is the reason of its failure. One that ends with 2 says that the
// job is wrong.
func (c *Command) Train(ctx context.Context, dir string, o Options) (Manifest, error) {
	j, err := ReadJob(dir)
	if err != nil {
		return Manifest{}, err
	}
	// Not the lock of Run: the command may be this very program, on another machine.
	unlock, err := hold(dir, ".command.lock")
	if err != nil {
		return Manifest{}, err
	}
	defer unlock()
	r := &runner{dir: dir, job: j, o: o.withDefaults()}
	if m, done := r.done(); done {
		return m, nil
	}
	// What another try left is not to be taken for what this one leaves.
	if err := os.RemoveAll(filepath.Join(dir, ResultDir)); err != nil {
		return Manifest{}, r.broken(err, ResultDir)
	}
	if err := r.bring(); err != nil {
		return Manifest{}, err
	}
	if err := c.start(ctx, r); err != nil {
		return Manifest{}, err
	}
	if err := r.ours(); err != nil {
		return Manifest{}, err
	}
	m, err := readManifest(filepath.Join(dir, ResultDir))
	if err != nil {
		return m, fault.New(fault.Invalid, "The trainer's command ended well and left no result of the job %s: %v. LIMINAL_TRAIN_COMMAND must leave the files that docs/training.md names.", j.ID, err)
	}
	if m.Job != j.ID || m.Fence != j.Fence {
		return m, nil // Check refuses it, and says why
	}
	// So marked, the result is known again when the job is started once more.
	m.Plan = j.plan()
	return m, m.write(filepath.Join(dir, ResultDir))
}

// InitDir is where a command finds the adapter to go on from when it sees no more
// than the job's folder, as in a container.
const InitDir = "init"

// bring copies what the job goes on from into its folder.
func (r *runner) bring() error {
	if r.job.Init == "" {
		return nil
	}
	to := filepath.Join(r.dir, InitDir)
	if err := os.MkdirAll(to, 0o700); err != nil {
		return r.broken(err, InitDir)
	}
	for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
		if _, err := copyFile(filepath.Join(to, name), filepath.Join(path(r.dir, r.job.Init), name)); err != nil {
			return unreadable(err, "The adapter that the job %s goes on from cannot be read: %v.", r.job.ID, err)
		}
	}
	return nil
}

// start runs the program to its end.
func (c *Command) start(ctx context.Context, r *runner) error {
	args := make([]string, len(c.Args))
	fill := strings.NewReplacer("{dir}", r.dir, "{base}", path(r.dir, r.job.Base.Dir), "{job}", plainName(r.job.ID), "{user}", fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid()))
	for i, a := range c.Args {
		args[i] = fill.Replace(a)
	}
	cmd := exec.Command(args[0], args[1:]...) //nolint:gosec,noctx // the operator's own command; its group is ended below
	cmd.Dir, cmd.Env = r.dir, fewOf(os.Environ())
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	// Descendants that keep its output open must not keep us.
	cmd.WaitDelay = time.Second
	ended, err := startGroup(cmd)
	if err != nil {
		return fmt.Errorf("the trainer's command %q cannot be started: %w. LIMINAL_TRAIN_COMMAND names it", args[0], err)
	}
	every := c.Every
	if every <= 0 {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := r.last()
	for {
		select {
		case err := <-ended:
			endGroup(cmd) // whatever it left running
			r.tell(&told)
			if cause := ctx.Err(); cause != nil {
				return cause
			}
			return failed(err, r.job.ID, said.String())
		case <-tick.C:
			r.tell(&told)
			if err := r.ours(); err != nil {
				c.stop(cmd, ended)
				return err
			}
		case <-ctx.Done():
			c.stop(cmd, ended)
			return ctx.Err()
		}
	}
}

// stop tells the program to end, and ends it when it does not.
func (c *Command) stop(cmd *exec.Cmd, ended <-chan error) {
	grace := c.Grace
	if grace <= 0 {
		grace = 10 * time.Second
	}
	askGroup(cmd)
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case <-ended:
		endGroup(cmd)
	case <-late.C:
		endGroup(cmd)
		<-ended
	}
}

// last is the last step that metrics.jsonl has of another try.
func (r *runner) last() int {
	list, err := ReadMetrics(filepath.Join(r.dir, MetricsFile))
	if err != nil || len(list) == 0 {
		return 0
	}
	return list[len(list)-1].Step
}

// tell reports the steps that are new in metrics.jsonl. It is for show: what
// cannot be read is told later, or never.
func (r *runner) tell(told *int) {
	list, err := ReadMetrics(filepath.Join(r.dir, MetricsFile))
	if err != nil || len(list) == 0 {
		return
	}
	if list[len(list)-1].Step < *told {
		*told = 0 // this try began anew
	}
	for _, m := range list {
		if m.Step > *told {
			*told = m.Step
			r.o.Report(m)
		}
	}
}

// failed is what became of the program.
func failed(err error, job, said string) error {
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if said == "" {
		said = "it said nothing"
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if ok && exit.ExitCode() == 2 {
		return fault.New(fault.Invalid, "The trainer refuses the job %s: %s", job, said)
	}
	return fmt.Errorf("the trainer's command ended the job %s with %w: %s", job, err, said)
}

// fewOf is what a trainer is told of the environment: where programs and GPUs
// are. The rest is settings and keys of the platform.
func fewOf(environ []string) (list []string) {
	names := []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_RUNTIME_DIR", "LD_LIBRARY_PATH"}
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if slices.Contains(names, name) || slices.ContainsFunc([]string{"CUDA_", "NVIDIA_", "DOCKER_"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
			list = append(list, e)
		}
	}
	return list
}

// plainName is a job's id in letters that every program takes for a name.
func plainName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, id)
}

// lastWords is how much of what a trainer says is kept.
const lastWords = 4 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	if over := len(t.end) - lastWords; over > 0 {
		t.end = slices.Delete(t.end, 0, over)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.end)), "")
}
