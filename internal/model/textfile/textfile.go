// Package textfile asks a language model that only reads and writes files: a
// program beside this one, such as an agent in a terminal. A request is a file in
// a folder, {turn}.prompt.md; its answer is {turn}.txt, which is followed as it
// grows (GRND-42). Who wakes the program is no matter here: deploy/textfile has a
// script that types into a terminal of tmux.
//
// The program calls its own tools. What it says of them in a trailer is claimed and
// not proven: a graph's ground takes it out (internal/grounding).
//
// It may import fault, id, model and words.
package textfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/model"
	"liminal/internal/words"
)

const (
	// End is the line an answer ends with.
	End = "[end]"
	// Kept is how long files are kept.
	Kept = 30 * 24 * time.Hour

	// unkept is how long files of a turn of which nothing is kept may outlive it:
	// they are removed when it has its answer, but a process may die before.
	unkept = time.Hour

	asked, answered, woken = ".prompt.md", ".txt", ".sent" // woken is of deploy/textfile

	every     = 50 * time.Millisecond // the file is looked at
	maxAnswer = 1 << 20               // bytes
)

// Options are where a model is asked.
type Options struct {
	// Folder is where the files of a model of that name are, "" being the one nobody
	// named. It is made, for its owner alone, where it is not there.
	Folder func(name string) string
	// Turn is the run that a context belongs to; empty or nil: a new id.
	Turn func(context.Context) string
	// Quiet ends an answer that has begun and does not grow any more, without its
	// End; 0: 20 s.
	Quiet time.Duration
}

// Model is the program behind a folder. It is safe for concurrent use.
type Model struct{ o Options }

var _ model.Model = (*Model)(nil)

// New makes one; Folder is required.
func New(o Options) *Model {
	o.Quiet = cmp.Or(o.Quiet, 20*time.Second)
	return &Model{o}
}

// Name implements model.Model.
func (*Model) Name() string { return "textfile" }

// Generative implements model.Model.
func (*Model) Generative() bool { return true }

// Stream implements model.Model. Nobody may be there to answer: whoever waits says
// for how long.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := m.stream(ctx, req, yield); err != nil && !errors.Is(err, errGone) {
			yield(model.Event{}, err)
		}
	}
}

// errGone says that the reader has left.
var errGone = errors.New("textfile: the reader has left")

func (m *Model) stream(ctx context.Context, req model.Request, yield func(model.Event, error) bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := open(m.o.Folder(req.Model))
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The folder of the language model cannot be used: the operator looks at it.").
			With(map[string]any{"reason": fault.NotConfigured})
	}
	defer func() { _ = root.Close() }()
	prompt := model.Written(req)
	turn, err := m.ask(ctx, root, prompt)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "The question could not be written for the language model.")
	}
	send := func(e model.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !yield(e, nil) {
			return errGone
		}
		return nil
	}
	if id.Unkept(turn) {
		defer func() {
			for _, end := range []string{asked, answered, woken} {
				_ = root.Remove(turn + end) // what stays is swept
			}
		}()
	}
	f := follower{root: root, name: turn + answered, quiet: m.o.Quiet}
	if err := f.follow(ctx, func(text string) error { return send(model.Event{Type: model.TextDelta, Text: text}) }); err != nil {
		return err
	}
	usage := model.Usage{Input: words.Tokens(prompt), Output: words.Tokens(f.said.String()), Estimated: true}
	if err := send(model.Event{Type: model.UsageReport, Usage: usage}); err != nil {
		return err
	}
	return send(model.Event{Type: model.Stop, Reason: model.EndTurn})
}

// open opens a folder that is its owner's alone: what is asked and answered there
// is people's, and the usual place is one that everybody may write to.
func open(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is no folder", dir)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s is open to others: chmod 700", dir)
	}
	return os.OpenRoot(dir)
}

// ask writes a question under the id of its turn, and under one of its own where
// the turn has asked before. The file is there whole or not at all.
func (m *Model) ask(ctx context.Context, root *os.Root, prompt string) (turn string, err error) {
	if m.o.Turn != nil {
		turn = m.o.Turn(ctx)
	}
	if !id.Valid(turn) {
		turn = id.New()
	}
	first := turn
	if _, err := root.Lstat(turn + asked); !errors.Is(err, fs.ErrNotExist) {
		if turn = id.New(); id.Unkept(first) {
			turn = id.NewUnkept()
		}
	}
	draft := turn + ".draft"
	text := prompt + fmt.Sprintf("\n\n# How to answer\n\nWrite the answer, and nothing else, to the file %s as it comes to you. End it with a line that says %s.\n", root.Name()+"/"+turn+answered, End)
	if err := root.WriteFile(draft, []byte(text), 0o600); err != nil {
		return "", err
	}
	return turn, root.Rename(draft, turn+asked)
}

// follower reads an answer while it is written.
type follower struct {
	root  *os.Root
	name  string
	quiet time.Duration

	said strings.Builder
	held string // read and not given: it may be the beginning of End, or of a letter
	at   int64
}

// follow gives an answer piece by piece until it ends.
func (f *follower) follow(ctx context.Context, give func(string) error) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	grown := time.Now()
	for {
		more, err := f.read()
		if err != nil {
			return fault.Wrap(fault.Internal, err, "The answer of the language model cannot be read.").With(map[string]any{"reason": fault.Upstream})
		}
		if more {
			grown = time.Now()
		}
		begun := f.at > 0
		text, over := f.next(begun && time.Since(grown) >= f.quiet)
		if text != "" {
			f.said.WriteString(text)
			if err := give(text); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		if f.at > maxAnswer {
			return fault.New(fault.Internal, "The language model has written more than %d bytes.", maxAnswer).With(map[string]any{"reason": fault.Upstream})
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// read takes what was added since; false: nothing.
func (f *follower) read() (more bool, err error) {
	file, err := f.root.Open(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	added, err := io.ReadAll(io.NewSectionReader(file, f.at, maxAnswer+1-min(f.at, maxAnswer)))
	f.at += int64(len(added))
	f.held += string(added)
	return len(added) > 0, err
}

// next is what can be given now: all that is held but what may be the beginning of
// the line that ends it, and letters that are not whole. last: nothing follows.
func (f *follower) next(last bool) (text string, over bool) {
	whole, _, ends := strings.Cut(f.held, "\n"+End)
	if !ends && f.said.Len() == 0 && strings.HasPrefix(f.held, End) { // it says nothing
		return "", true
	}
	if ends || last {
		f.held = ""
		return strings.ToValidUTF8(strings.TrimRight(whole, "\n"), "\uFFFD"), true
	}
	keep := 0
	for n := min(len(End)+1, len(whole)); n > 0; n-- {
		if strings.HasPrefix("\n"+End, whole[len(whole)-n:]) {
			keep = n
			break
		}
	}
	give := whole[:len(whole)-keep]
	for n := 1; n <= min(utf8.UTFMax-1, len(give)) && keep == 0; n++ {
		if tail := give[len(give)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				keep = n
				give = give[:len(give)-n]
			}
			break
		}
	}
	f.held = whole[len(give):]
	return strings.ToValidUTF8(give, "\uFFFD"), false
}

// Sweep removes the files of a folder that are older than keep, and counts them. A
// folder that is not there has none; files of other names are let be.
func Sweep(dir string, keep time.Duration, now time.Time) (removed int, err error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = root.Close() }()
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range list {
		turn, _, _ := strings.Cut(e.Name(), ".")
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !id.Valid(turn) {
			continue
		}
		if age := now.Sub(info.ModTime()); age < keep && (!id.Unkept(turn) || age < unkept) {
			continue
		}
		if err := root.Remove(e.Name()); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}
