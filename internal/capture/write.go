package capture

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"liminal/internal/id"
	"liminal/internal/view"
)

// segmentWriter writes records to the newest segment. Only the spool's own
// goroutine uses it.
type segmentWriter struct {
	spool *Spool
	id    string // of this writer; its lock says that it lives
	out   *encoder
	most  int64 // bytes of a segment

	file  file
	name  string
	size  int64
	dirty bool // since the last sync
	spans map[[sha256.Size]byte]int
	buf   []byte
}

// write appends a record and the spans it brings, in one piece: afterwards all of
// it is there, or nothing.
func (w *segmentWriter) write(e *entry) error {
	if w.file == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	buf, fresh, err := w.records(e)
	if err != nil {
		return err
	}
	if _, err := w.file.Write(buf); err != nil {
		// What was half written would hide what comes after it.
		if cut := w.file.Truncate(w.size); cut != nil {
			err = errors.Join(err, cut, w.close())
		}
		return err
	}
	for _, sum := range fresh {
		w.spans[sum] = len(w.spans)
	}
	w.grow(int64(len(buf)))
	if w.size >= w.most {
		return w.close()
	}
	return nil
}

// records are the bytes of an entry; fresh are the spans among them, in order.
func (w *segmentWriter) records(e *entry) (buf []byte, fresh [][sha256.Size]byte, err error) {
	buf = w.buf[:0]
	content := e.content
	if head, ok := e.head.(*requestRecord); ok && content != nil {
		content, head.Masked = e.secrets.mask(content, false)
		sum := sha256.Sum256(content)
		head.Sum = hex.EncodeToString(sum[:])
		if buf, content, fresh, err = w.recipe(buf, head, content); err != nil {
			return nil, nil, err
		}
	}
	if head, ok := e.head.(*sentRecord); ok {
		if err := head.sum(content, e.secrets); err != nil {
			return nil, nil, err
		}
		content = nil
	}
	if buf, err = appendRecord(w.out, buf, e.kind, e.head, content); err != nil {
		return nil, nil, err
	}
	w.buf = buf
	if cap(buf) > segmentSize/16 { // of a rare large body
		w.buf = nil
	}
	return buf, fresh, nil
}

// sum says which body was sent. It is made of the one that is kept: where a key is
// masked in that, it is masked here.
func (s *sentRecord) sum(body []byte, secrets Secrets) error {
	edits := slices.Clone(s.Edits)
	for i, e := range edits {
		edits[i].Text = secrets.text(e.Text)
	}
	s.Edits = edits
	if body == nil {
		return nil
	}
	masked, _ := secrets.mask(body, false)
	sent, err := view.Edited(masked, edits)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(sent)
	s.Size, s.Sum = int64(len(sent)), hex.EncodeToString(sum[:])
	return nil
}

// recipe writes the spans of a body that the segment does not have, and returns
// what is in none.
func (w *segmentWriter) recipe(buf []byte, head *requestRecord, body []byte) (_, own []byte, fresh [][sha256.Size]byte, err error) {
	at := 0
	plain := func(to int) {
		if to > at {
			own = append(own, body[at:to]...)
			head.Recipe = append(head.Recipe, to-at)
		}
	}
	young := map[[sha256.Size]byte]int{}
	for _, s := range Split(body) {
		plain(s.From)
		at = s.To
		sum := sha256.Sum256(body[s.From:s.To])
		n, known := w.spans[sum]
		if !known {
			n, known = young[sum]
		}
		if !known {
			if buf, err = appendRecord(w.out, buf, kindSpan, nil, body[s.From:s.To]); err != nil {
				return nil, nil, nil, err
			}
			n = len(w.spans) + len(fresh)
			young[sum], fresh = n, append(fresh, sum)
		}
		head.Recipe = append(head.Recipe, -n-1)
	}
	plain(len(body))
	return buf, own, fresh, nil
}

// begin makes a new segment. It has its name when its first record is there, so
// that nobody finds one whose writer is not known.
func (w *segmentWriter) begin() error {
	w.name = filepath.Join(w.spool.Dir, id.New()+".seg")
	made := w.name + ".new"
	f, err := w.spool.create(made)
	if err != nil {
		return fmt.Errorf("a segment cannot be made: %w", err)
	}
	// Whose it is says nothing of what is in it, and must be read without keys too.
	head, err := appendRecord(&encoder{Encoder: w.out.Encoder}, []byte(segmentForm), kindWriter, writerRecord{w.id}, nil)
	if err == nil {
		_, err = f.Write(head)
	}
	if err == nil {
		err = os.Rename(made, w.name)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(made))
	}
	w.file, w.size, w.spans = f, 0, map[[sha256.Size]byte]int{}
	w.grow(int64(len(head)))
	return nil
}

// grow counts what was written, and makes room for it.
func (w *segmentWriter) grow(n int64) {
	w.size, w.dirty = w.size+n, true
	s := w.spool
	s.mu.Lock()
	s.stats.Disk += n
	over := s.stats.Disk > s.Disk
	s.mu.Unlock()
	if !over {
		return
	}
	names, err := segments(s.Dir)
	if err != nil {
		s.failed(err)
		return
	}
	total, _ := diskOf(s.Dir) // another process may have added or removed some
	removed := int64(0)
	for _, name := range names {
		if total <= s.Disk || name == w.name {
			break
		}
		info, err := os.Stat(name)
		if err == nil {
			err = os.Remove(name)
		}
		if err != nil {
			s.failed(err)
			continue
		}
		total, removed = total-info.Size(), removed+1
	}
	s.mu.Lock()
	s.stats.Disk, s.stats.Removed = total, s.stats.Removed+removed
	s.mu.Unlock()
}

// sync sees to it that what was written is on the disk.
func (w *segmentWriter) sync() error {
	if w.file == nil || !w.dirty {
		return nil
	}
	w.dirty = false
	return w.file.Sync()
}

// close ends the segment; the next record begins another.
func (w *segmentWriter) close() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.sync(), w.file.Close())
	w.file, w.spans = nil, nil
	return err
}

// escaped is a path in which nothing is a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
