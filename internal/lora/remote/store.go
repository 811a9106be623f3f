package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"liminal/internal/lora/peft"
)

// noteFile says in a composed adapter's folder what it was made of. It is written
// before the folder gets its name.
const noteFile = "liminal.json"

// note is a noteFile.
type note struct {
	Base  string   `json:"base_sha256,omitempty"`
	Parts []string `json:"parts"` // folders of the adapters, below the shared root
	Gates []string `json:"gates"`
}

// Store keeps composed adapters as folders that a model's server reads. It is
// bounded: the one unused longest goes, and none that is in use. What another
// process wrote into the same folder is used too, and goes when nobody has used it
// for a while. It is safe for concurrent use.
type Store struct {
	dir, root string
	keep      int
	now       func() time.Time
	log       *slog.Logger

	mu      sync.Mutex
	entries map[string]*entry
}

// entry is a composed adapter.
type entry struct {
	uses  int
	last  time.Time
	ready chan struct{} // closed when it is there, or err says why not
	err   error
	parts []string
}

// StoreOptions are where composed adapters are kept.
type StoreOptions struct {
	Dir  string // of the composed ones
	Root string // what they are made of is below it
	Keep int    // how many; 0: 256
	Now  func() time.Time
	Log  *slog.Logger
}

// rests is how long after its last use a folder may still be another process's.
const rests = 10 * time.Minute

// prefix is how our folders begin.
const prefix = "liminal-"

var ours = regexp.MustCompile(`^` + prefix + `[0-9a-f]{32}$`)

// errFull says that there is no room for another combination now.
var errFull = errors.New("every composed adapter that may be kept is in use; LIMINAL_LORA_KEEP allows for more")

// OpenStore makes the folder if need be, takes in what an earlier process left
// whole and removes what it left half written.
func OpenStore(o StoreOptions) (*Store, error) {
	s := &Store{dir: o.Dir, root: o.Root, keep: cmp.Or(o.Keep, 256), now: o.Now, log: o.Log, entries: map[string]*entry{}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil { //nolint:gosec // the model's server reads it, as somebody else
		return nil, err
	}
	return s, s.look()
}

// look takes in folders that are there and not known, and removes what was begun
// and never ended.
func (s *Store) look() error {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			continue // it went a moment ago
		}
		begun := len(e.Name()) > 1 && e.Name()[0] == '.' && ours.MatchString(cut(e.Name()[1:]))
		switch {
		case begun && s.now().Sub(info.ModTime()) > time.Hour:
			_ = os.RemoveAll(filepath.Join(s.dir, e.Name())) // it is looked at again the next time
		case e.IsDir() && ours.MatchString(e.Name()) && s.entries[e.Name()] == nil:
			n, err := readNote(filepath.Join(s.dir, e.Name()))
			if err != nil {
				continue // not whole, or not ours
			}
			ready := make(chan struct{})
			close(ready)
			s.entries[e.Name()] = &entry{last: info.ModTime(), ready: ready, parts: n.Parts}
		}
	}
	return nil
}

// cut is the name at the beginning of that of a folder under way.
func cut(name string) string { return name[:min(len(name), len(prefix)+32)] }

func readNote(dir string) (n note, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, noteFile))
	if err != nil {
		return n, err
	}
	return n, json.Unmarshal(raw, &n)
}

// Path is where a composed adapter is, or would be.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, name) }

// Use has a composed adapter be there until release is called, once. fill writes
// it into a folder that is nobody's yet, unless it is there already (hit). gone
// are those that had to make place; they are no longer there.
func (s *Store) Use(name string, n note, fill func(dir string) error) (release func(), hit bool, gone []string, err error) {
	s.mu.Lock()
	e := s.entries[name]
	hit = e != nil
	if e == nil {
		if gone, err = s.room(); err != nil {
			s.mu.Unlock()
			return nil, false, gone, err
		}
		e = &entry{ready: make(chan struct{}), parts: n.Parts}
		s.entries[name] = e
	}
	e.uses++
	e.last = s.now()
	s.mu.Unlock()
	if !hit {
		e.err = s.make(name, n, fill)
		close(e.ready)
	}
	<-e.ready
	err = e.err
	if err == nil && hit {
		err = s.touch(name)
	}
	if err != nil {
		s.mu.Lock()
		if s.entries[name] == e {
			delete(s.entries, name) // the next who asks tries again
		}
		s.mu.Unlock()
		if hit && errors.Is(err, fs.ErrNotExist) {
			return s.Use(name, n, fill) // another process took it away, or a person did
		}
		return nil, hit, gone, err
	}
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		e.uses--
		e.last = s.now()
	}), hit, gone, nil
}

// touch tells other processes that the folder is used.
func (s *Store) touch(name string) error {
	if _, err := os.Stat(filepath.Join(s.Path(name), peft.ConfigFile)); err != nil {
		return err
	}
	now := s.now()
	return os.Chtimes(s.Path(name), now, now)
}

// make writes a folder beside its place, and puts it there when it is whole.
func (s *Store) make(name string, n note, fill func(dir string) error) error {
	if s.touch(name) == nil {
		return nil // another process made the same
	}
	stage, err := os.MkdirTemp(s.dir, "."+name+".*")
	if err != nil {
		return fmt.Errorf("a composed adapter cannot be written into %s: %w", s.dir, err)
	}
	defer func() { _ = os.RemoveAll(stage) }()     // it was moved, or is of no use
	if err := os.Chmod(stage, 0o755); err != nil { //nolint:gosec // the model's server reads it, as somebody else
		return err
	}
	if err := fill(stage); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(stage, noteFile), append(raw, '\n'), 0o644); err != nil { //nolint:gosec // as the rest
		return fmt.Errorf("a composed adapter cannot be written into %s: %w", s.dir, err)
	}
	if err := os.Rename(stage, s.Path(name)); err != nil {
		if s.touch(name) == nil {
			return nil // another process was quicker
		}
		return fmt.Errorf("a composed adapter cannot be put into %s: %w", s.dir, err)
	}
	return s.touch(name)
}

// room makes place for one more. The lock is held.
func (s *Store) room() (gone []string, err error) {
	for len(s.entries) >= s.keep {
		oldest := ""
		for name, e := range s.entries {
			if e.uses > 0 || s.elsewhere(name, e) {
				continue
			}
			if oldest == "" || e.last.Before(s.entries[oldest].last) || e.last.Equal(s.entries[oldest].last) && name < oldest {
				oldest = name
			}
		}
		if oldest == "" {
			return gone, errFull
		}
		if err := s.drop(oldest); err != nil {
			return gone, err
		}
		gone = append(gone, oldest)
	}
	return gone, nil
}

// elsewhere reports whether another process used a folder a moment ago, later
// than this one did.
func (s *Store) elsewhere(name string, e *entry) bool {
	info, err := os.Stat(s.Path(name))
	return err == nil && info.ModTime().After(e.last.Add(time.Second)) && s.now().Sub(info.ModTime()) < rests
}

// drop takes a folder away. The lock is held.
func (s *Store) drop(name string) error {
	delete(s.entries, name)
	away := filepath.Join(s.dir, fmt.Sprintf(".%s.gone-%d", name, s.now().UnixNano()))
	err := os.Rename(s.Path(name), away) // at once: nobody finds half of it
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("a composed adapter cannot be taken from %s: %w", s.dir, err)
	}
	return os.RemoveAll(away)
}

// Sweep takes away what was made of adapters that are no longer there, and is not
// in use: their people, or what they were learnt from, are gone. It returns the
// names.
func (s *Store) Sweep() (gone []string, err error) {
	if err := s.look(); err != nil { // what other processes wrote since
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, e := range s.entries {
		if e.uses > 0 || s.whole(e.parts) {
			continue
		}
		if err := s.drop(name); err != nil {
			return gone, err
		}
		gone = append(gone, name)
	}
	slices.Sort(gone)
	return gone, nil
}

func (s *Store) whole(parts []string) bool {
	for _, p := range parts {
		if _, err := os.Stat(filepath.Join(s.root, p)); errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// Len is how many composed adapters there are.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}
