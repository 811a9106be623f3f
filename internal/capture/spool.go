package capture

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"liminal/internal/id"
	"liminal/internal/vault"
)

const (
	// segmentSize is what a segment has before the next is begun, in bytes; a
	// quarter of the disk's bound, if that is less.
	segmentSize = 64 << 20
	// mostWaiting bounds the records that wait for the disk, with or without contents.
	mostWaiting = 16 << 10
	// syncEvery is how long what was written may be in the system's memory only.
	syncEvery = 200 * time.Millisecond
	// tellEvery is how often the log says that contents are dropped.
	tellEvery = time.Minute
)

// Options say where a spool is and what it may take.
type Options struct {
	// Dir is the spool's folder; it is made.
	Dir string
	// Memory bounds the contents held at once, under way and waiting, in bytes.
	Memory int64
	// Disk bounds the segments together, in bytes; the oldest go first.
	Disk int64
	// Keys seal what is written; nil: it is plain.
	Keys *vault.Ring
	Log  *slog.Logger

	create func(name string) (file, error) // nil: createFile
}

// file is what a segment is written to. Writes go to its end.
type file interface {
	Write(p []byte) (int, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

func createFile(name string) (file, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

// Stats is what a spool has done since it was opened, and what lies in it.
type Stats struct {
	Exchanges int64 `json:"exchanges"`
	// Bytes of contents that passed, kept or not.
	Bytes int64 `json:"bytes"`
	// Lost counts the contents that are not kept, by why.
	Lost map[string]int64 `json:"lost,omitempty"`
	// Held is how many bytes of contents are in memory, Waiting how many records.
	Held    int64 `json:"held"`
	Waiting int   `json:"waiting"`
	// Disk is how many bytes the segments have together, Removed how many segments
	// made room for newer ones.
	Disk    int64 `json:"disk"`
	Removed int64 `json:"removed,omitempty"`
	// Error is what the disk said last, when it refused something.
	Error   string     `json:"error,omitempty"`
	ErrorAt *time.Time `json:"error_at,omitempty"`
}

// Spool writes exchanges to segments. It is a Recorder.
type Spool struct {
	Options
	writer segmentWriter
	wake   chan struct{} // something waits
	worry  chan struct{} // something was lost
	quit   chan struct{}
	done   chan struct{}
	alive  func() // ends the lock that says so

	mu       sync.Mutex
	queue    []*entry
	stripped int // how many at the head of the queue have no contents any more
	closed   bool
	stats    Stats
}

// entry is a record that waits.
type entry struct {
	kind    kind
	head    any
	content []byte
	secrets Secrets // to be masked in content
}

// Open begins a spool beside whatever lies in its folder. A segment that an
// earlier process left is never written to.
func Open(o Options) (*Spool, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("the spool %s cannot be made: %w", o.Dir, err)
	}
	out, err := newEncoder(o.Keys)
	if err != nil {
		return nil, err
	}
	if o.create == nil {
		o.create = createFile
	}
	s := &Spool{
		Options: o, wake: make(chan struct{}, 1), worry: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{}),
		stats: Stats{Lost: map[string]int64{}},
	}
	s.writer = segmentWriter{spool: s, id: id.New(), out: out, most: min(segmentSize, o.Disk/4)}
	if s.stats.Disk, err = diskOf(o.Dir); err != nil {
		return nil, err
	}
	if s.alive, err = live(o.Dir, s.writer.id); err != nil {
		return nil, err
	}
	go s.work()
	go s.tell()
	return s, nil
}

// diskOf is how many bytes lie in a spool.
func diskOf(dir string) (total int64, err error) {
	names, err := segments(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			total += info.Size()
		}
	}
	return total, nil
}

// segments are the files of a spool, the oldest first.
func segments(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(escaped(dir), "*.seg"))
	slices.Sort(names)
	return names, err
}

// Stats is a copy of what there is to tell.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.stats
	out.Lost, out.Waiting = maps.Clone(s.stats.Lost), len(s.queue)
	return out
}

// Close writes what waits, as long as ctx lasts. What comes afterwards is not kept.
func (s *Spool) Close(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	close(s.quit)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return errors.New("the disk of the spool did not take everything in time; what was left is lost")
	}
}

// hold takes n bytes of the memory for contents. Where there is not so much left,
// the oldest contents that wait for the disk are given up for it.
func (s *Spool) hold(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || int64(n) > s.Memory {
		return false
	}
	for s.stats.Held+int64(n) > s.Memory {
		if !s.strip() {
			return false
		}
	}
	s.stats.Held += int64(n)
	return true
}

// strip gives up the oldest contents that wait; false: there are none.
func (s *Spool) strip() bool {
	for ; s.stripped < len(s.queue); s.stripped++ {
		if e := s.queue[s.stripped]; len(e.content) > 0 {
			s.stats.Held -= int64(len(e.content))
			e.content = nil
			if r, ok := e.head.(*requestRecord); ok {
				r.Lost = LostMemory
			}
			s.lose(LostMemory)
			return true
		}
	}
	return false
}

// lose counts contents that are lost; the lock is held.
func (s *Spool) lose(why string) {
	s.stats.Lost[why]++
	select {
	case s.worry <- struct{}{}:
	default:
	}
}

// push puts a record at the end of the queue. Its contents are held already.
func (s *Spool) push(e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.queue) >= mostWaiting {
		s.stats.Held -= int64(len(e.content))
		s.lose(LostMemory)
		return
	}
	s.queue = append(s.queue, e)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pop takes the oldest record; nil: none waits. Its contents are held until free.
func (s *Spool) pop() *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.queue = nil // with the array it grew to
		return nil
	}
	e := s.queue[0]
	s.queue[0] = nil
	s.queue, s.stripped = s.queue[1:], max(0, s.stripped-1)
	return e
}

// work writes what waits, and sees to it that it is on the disk soon.
func (s *Spool) work() {
	defer close(s.done)
	var due <-chan time.Time
	for open := true; open; {
		select {
		case <-s.wake:
		case <-due:
			due = nil
			s.failed(s.writer.sync())
		case <-s.quit:
			open = false
		}
		synced := time.Now()
		for e := s.pop(); e != nil; e = s.pop() {
			err := s.writer.write(e)
			s.written(e, err)
			if time.Since(synced) > syncEvery {
				s.failed(s.writer.sync())
				synced = time.Now()
			}
		}
		if due == nil && s.writer.dirty {
			due = time.After(syncEvery)
		}
	}
	s.failed(s.writer.close())
	s.alive()
}

// written frees what a record held, and counts it where the disk refused it.
func (s *Spool) written(e *entry, err error) {
	s.mu.Lock()
	s.stats.Held -= int64(len(e.content))
	if err != nil {
		s.lose(LostDisk)
	}
	s.mu.Unlock()
	s.failed(err)
}

// failed remembers what the disk said.
func (s *Spool) failed(err error) {
	if err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.stats.Error, s.stats.ErrorAt = err.Error(), &now
}

// tell says in the log, once in a while, that contents are lost. It does so by
// itself: whoever loses them waits for no log.
func (s *Spool) tell() {
	for {
		select {
		case <-s.worry:
		case <-s.quit:
			return
		}
		at := s.Stats()
		s.Log.Warn("contents of exchanges are not kept; the streams themselves pass as ever", "lost", at.Lost, "disk", at.Error, "spool", s.Dir)
		select {
		case <-time.After(tellEvery):
		case <-s.quit:
			return
		}
	}
}
