package capture

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"liminal/internal/vault"
)

// Erase overwrites, in the segments of a spool, every content whose SHA-256 (in
// hexadecimal) is gone: a system prompt, a list of tools, a message, a response. An
// exchange that had it stays, without the body, and says so. It returns how many
// records were overwritten.
//
// The writer of a segment may write on, and a Tail read on, meanwhile. Whoever is
// killed in between leaves records that are erased, or are as they were.
func Erase(dir string, keys *vault.Ring, gone func(sum string) bool) (n int, err error) {
	return eraseIn(dir, keys, gone, false)
}

// Clear erases everything that a spool has: the segments that nobody writes any more
// are removed, and the records of the others overwritten. What is still under way goes
// on being written.
func Clear(dir string, keys *vault.Ring) (n int, err error) {
	return eraseIn(dir, keys, func(string) bool { return true }, true)
}

func eraseIn(dir string, keys *vault.Ring, gone func(string) bool, all bool) (n int, err error) {
	names, err := segments(dir)
	if err != nil {
		return 0, err
	}
	out, err := newEncoder(keys)
	if err != nil {
		return 0, err
	}
	in, err := newDecoder(keys)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	e := eraser{out: out, gone: gone, all: all, answers: map[string]*answer{}}
	e.reader = spoolReader{in: in, open: map[string]*Exchange{}}
	for _, name := range names {
		if all && !writable(dir, name) {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return n, err
			}
			n++
			continue
		}
		if err := e.look(name); err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, a := range e.answers {
		e.answered(a)
	}
	for _, name := range names {
		did, err := e.overwrite(name)
		n += did
		if err != nil {
			return n, fmt.Errorf("%s: %w", name, err)
		}
	}
	return n, nil
}

// writable reports whether a segment may still be written to.
func writable(dir, name string) bool {
	alive, err := filepath.Glob(filepath.Join(escaped(dir), "*"+aliveSuffix))
	if err != nil || len(alive) == 0 {
		return false
	}
	writer := writerOf(name)
	return writer != "" && lives(dir, writer)
}

// writerOf is who wrote a segment; "": nobody says.
func writerOf(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	form := make([]byte, len(segmentForm))
	if _, err := io.ReadFull(f, form); err != nil || string(form) != segmentForm {
		return ""
	}
	in, err := newDecoder(nil)
	if err != nil {
		return ""
	}
	defer in.Close()
	k, payload, err := readRecord(f)
	var head writerRecord
	if err != nil || k != kindWriter {
		return ""
	}
	if _, err := opened(in, payload, &head); err != nil {
		return ""
	}
	return head.ID
}

// eraser finds what is to be erased, and then overwrites it: a record is read with
// spans before it, which must be there until then.
type eraser struct {
	reader  spoolReader
	out     *encoder
	gone    func(string) bool
	all     bool
	answers map[string]*answer // by exchange
	records []erasable
}

// erasable is a record that is overwritten.
type erasable struct {
	name string
	at   int64
	size int64          // of what follows the sum
	head *requestRecord // what stays of it; nil: nothing
}

// answer is a response, whose parts may lie in several segments.
type answer struct {
	sum   hash.Hash
	parts []erasable
}

// look goes over the records of a segment.
func (e *eraser) look(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	from := bufio.NewReaderSize(f, 256<<10)
	if n, err := from.Discard(len(segmentForm)); n < len(segmentForm) {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
	s := &openSegment{file: f, at: int64(len(segmentForm)), near: newSpanCache()}
	for {
		k, payload, err := readRecord(from)
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return nil
		}
		if err == nil {
			err = e.record(name, s, k, payload)
		}
		if err != nil {
			return err
		}
		s.at += recordHead + 1 + int64(len(payload))
	}
}

// record notes what of a record is to be overwritten.
func (e *eraser) record(name string, s *openSegment, k kind, payload []byte) error {
	here := erasable{name: name, at: s.at, size: 1 + int64(len(payload))}
	switch k {
	case kindSpan, kindSpan | kindErased:
		s.spans = append(s.spans, s.at)
		if k != kindSpan {
			return nil
		}
		span, err := opened(e.reader.in, payload, nil)
		if err == nil && e.gone(sumOf(span)) {
			e.records = append(e.records, here)
		}
		return err
	case kindRequest:
		var head requestRecord
		own, err := opened(e.reader.in, payload, &head)
		if err != nil || len(own) == 0 && !e.all {
			return err
		}
		if !e.all {
			body, err := e.reader.body(s, head, own)
			if err != nil && !errors.Is(err, errErased) {
				return err
			}
			if err == nil && !e.owns(body) {
				return nil
			}
			// The body is not to be had any more, and what is in it by itself may be gone.
			here.head = &head
		}
		e.records = append(e.records, here)
	case kindPart:
		var head partRecord
		content, err := opened(e.reader.in, payload, &head)
		if err != nil {
			return err
		}
		a := e.answers[head.ID]
		if a == nil {
			a = &answer{sum: sha256.New()}
			e.answers[head.ID] = a
		}
		_, _ = a.sum.Write(content) // it never fails
		a.parts = append(a.parts, here)
	case kindEnding:
		var head endingRecord
		if _, err := opened(e.reader.in, payload, &head); err != nil {
			return err
		}
		if a := e.answers[head.ID]; a != nil {
			e.answered(a)
			delete(e.answers, head.ID)
		}
		if e.all {
			e.records = append(e.records, here)
		}
	}
	return nil
}

// owns reports whether something is gone that is too short for a span of its own.
func (e *eraser) owns(body []byte) bool {
	for _, at := range Spans(body, 1) {
		if at.To-at.From < leastSpan && e.gone(sumOf(body[at.From:at.To])) {
			return true
		}
	}
	return false
}

func (e *eraser) answered(a *answer) {
	if e.gone(hex.EncodeToString(a.sum.Sum(nil))) {
		e.records = append(e.records, a.parts...)
	}
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// overwrite does so with the records of a segment.
func (e *eraser) overwrite(name string) (n int, err error) {
	var f *os.File
	for _, r := range e.records {
		if r.name != name {
			continue
		}
		if f == nil {
			if f, err = os.OpenFile(name, os.O_RDWR, 0); errors.Is(err, os.ErrNotExist) {
				return 0, nil
			} else if err != nil {
				return 0, err
			}
		}
		if err = e.one(f, r); err != nil {
			break
		}
		n++
	}
	if f == nil {
		return 0, nil
	}
	return n, errors.Join(err, f.Sync(), f.Close())
}

// one overwrites a record. First its sum says that it is erased, which four bytes do at
// once; then the content goes; and where something of it stays, a sum comes again.
func (e *eraser) one(f *os.File, r erasable) error {
	sum := binary.LittleEndian.AppendUint32(nil, erasedSum)
	if _, err := f.WriteAt(sum, r.at+4); err != nil {
		return err
	}
	payload := make([]byte, r.size-1)
	kept := r.head != nil && e.headOnly(payload, *r.head)
	if _, err := f.WriteAt(payload, r.at+recordHead+1); err != nil {
		return err
	}
	if !kept {
		return nil
	}
	sum = binary.LittleEndian.AppendUint32(nil, crc32.Checksum(append([]byte{byte(kindRequest)}, payload...), castagnoli))
	_, err := f.WriteAt(sum, r.at+4)
	return err
}

// A frame of zstd that a reader skips fills what a shorter head leaves.
const (
	skippable     = 0x184D2A50
	skippableHead = 8
)

// headOnly makes payload that of a request without its body; false: there is no room.
func (e *eraser) headOnly(payload []byte, head requestRecord) bool {
	head.Lost, head.Recipe, head.Sum = LostErased, nil, ""
	doc, err := json.Marshal(head)
	if err != nil {
		return false
	}
	raw := append(binary.LittleEndian.AppendUint32(nil, uint32(len(doc))), doc...)
	z := e.out.Encoder.EncodeAll(raw, nil)
	over := 0 // what sealing adds
	if e.out.ring != nil {
		over = len(e.out.ring.Seal(sealedAs, nil))
	}
	fill := len(payload) - over - len(z)
	if fill != 0 && fill < skippableHead {
		return false
	}
	if fill > 0 {
		z = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(z, skippable), uint32(fill-skippableHead))
		z = append(z, make([]byte, fill-skippableHead)...)
	}
	if e.out.ring != nil {
		z = e.out.ring.Seal(sealedAs, z)
	}
	return copy(payload, z) == len(payload)
}
