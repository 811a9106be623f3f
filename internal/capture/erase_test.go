package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"liminal/internal/vault"
)

// ring is one of keys by their ids; the bytes of a key follow from its id.
func ring(t *testing.T, ids ...string) *vault.Ring {
	t.Helper()
	var list []string
	for _, id := range ids {
		list = append(list, id+":"+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), 32)))
	}
	r, err := Keys(strings.Join(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// onDisk is every byte of a folder.
func onDisk(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// records are those on the disk: of which kind, and as they stand there.
func records(t *testing.T, dir string) iter.Seq2[kind, []byte] {
	t.Helper()
	names, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(kind, []byte) bool) {
		for _, name := range names {
			whole, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for r := bytes.NewReader(whole[len(segmentForm):]); ; {
				k, payload, err := readRecord(r)
				if err != nil {
					break
				}
				if !yield(k, payload) {
					return
				}
			}
		}
	}
}

// recordsWith are bytes on the disk of every record that says a text.
func recordsWith(t *testing.T, dir string, keys *vault.Ring, text string) (pieces [][]byte) {
	t.Helper()
	in, err := newDecoder(keys)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for k, payload := range records(t, dir) {
		if k&kindErased != 0 {
			continue
		}
		raw, err := in.DecodeAll(payload, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(text)) {
			pieces = append(pieces, payload[len(payload)-32:])
		}
	}
	return pieces
}

// What is erased is on no disk any more, of a segment that is written on too. The rest
// is as it was, and goes on.
func TestWhatIsErasedIsOnNoDiskAnyMore(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]*vault.Ring{"plain": nil, "sealed": ring(t, "a", "b")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := spool(t, Options{Dir: dir, Keys: keys})
			long, short, answer := strings.Repeat(noise(1, 40), 9), noise(2, 40), noise(3, 40)
			one := pass(s, []byte(`{"model":"m","messages":[{"role":"user","content":"`+long+`"},{"role":"user","content":"stays"}]}`), []byte("answers"))
			two := pass(s, []byte(`{"model":"m","messages":[{"role":"user","content":"`+short+`"},{"role":"user","content":"stays"}]}`), []byte(answer[:20]), []byte(answer[20:]))
			three := pass(s, []byte(`{"model":"m","messages":[{"role":"user","content":"`+long+`"},{"role":"user","content":"more"}]}`), []byte("answers"))
			four := pass(s, history(3, 300), []byte("answers too"))
			settle(s)
			before := onDisk(t, dir)
			var pieces [][]byte
			for text, n := range map[string]int{long[:40]: 1, short: 1, answer: 1} {
				found := recordsWith(t, dir, keys, text)
				if len(found) != n {
					t.Fatalf("what is to be erased stands in %d records before", len(found)) // else the test proves nothing
				}
				pieces = append(pieces, found...)
			}
			gone := map[string]bool{
				sumOf([]byte(`{"role":"user","content":"` + long + `"}`)): true, sumOf([]byte(`{"role":"user","content":"` + short + `"}`)): true, sumOf([]byte(answer)): true,
			}
			n, err := Erase(dir, keys, func(sum string) bool { return gone[sum] })
			if err != nil || n != 3 {
				t.Fatalf("%d records, %v", n, err)
			}
			after := onDisk(t, dir)
			for _, piece := range pieces {
				if !bytes.Contains(before, piece) || bytes.Contains(after, piece) {
					t.Error("what was erased is on the disk")
				}
			}
			if len(after) != len(before) {
				t.Errorf("the spool has %d bytes, and had %d", len(after), len(before))
			}
			five := pass(s, history(4, 300), []byte("and more"))
			shut(t, s)
			found := map[string]*Exchange{}
			for e, err := range Exchanges(dir, keys, all) {
				if err != nil {
					t.Fatal(err)
				}
				found[e.Request.ID] = e
			}
			for _, id := range []string{one, two, three} {
				e := found[id]
				if e == nil || e.Request.Lost != LostErased || e.Asked != nil || e.Request.Path != "/v1/messages" || e.Ending == nil {
					t.Errorf("an exchange that had it: %+v", e)
				}
			}
			if e := found[one]; string(e.Answered) != "answers" {
				t.Errorf("its answer: %q", e.Answered)
			}
			if e := found[two]; len(e.Answered) != 0 || e.Response.Lost == "" {
				t.Errorf("an answer that was erased: %+v", e)
			}
			for id, body := range map[string][]byte{four: history(3, 300), five: history(4, 300)} {
				if e := found[id]; e == nil || !bytes.Equal(e.Asked, body) {
					t.Errorf("an exchange that had nothing of it: %+v", e)
				}
			}
			if _, err := Clear(dir, keys); err != nil {
				t.Fatal(err)
			}
			if left := onDisk(t, dir); len(left) != 0 {
				t.Errorf("%d bytes are left", len(left))
			}
		})
	}
}

// readable is how many records open.
func readable(t *testing.T, dir string, in *decoder) (n int) {
	t.Helper()
	defer in.Close()
	for _, payload := range records(t, dir) {
		if _, err := in.DecodeAll(payload, nil); err == nil {
			n++
		}
	}
	return n
}

// settle waits until everything that was handed over is in the segment.
func settle(s *Spool) {
	for s.Stats().Waiting > 0 || s.Stats().Held > 0 {
		runtime.Gosched() // to who writes
	}
}

func TestASpoolWithKeysOpensWithThemOnlyAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	said := noise(7, 40)
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"` + said + `"}]}`)
	write := func(keys *vault.Ring) string {
		s := spool(t, Options{Dir: dir, Keys: keys})
		id := pass(s, body, []byte(said))
		shut(t, s)
		return id
	}
	plain := write(nil)
	if len(recordsWith(t, dir, nil, said)) == 0 {
		t.Fatal("without keys it cannot be read") // else the next proves nothing
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	first := write(ring(t, "a"))
	second := write(ring(t, "b", "a")) // the key is changed
	if n := len(recordsWith(t, dir, ring(t, "a", "b"), said)); n < 2 {
		t.Errorf("%d records say it", n)
	}
	if plain, err := newDecoder(nil); err != nil || readable(t, dir, plain) > 2 {
		t.Error("what is kept with a key can be read without it") // but who wrote the two segments
	}
	for name, keys := range map[string]*vault.Ring{"none": nil, "another": ring(t, "c")} {
		tail, err := NewTail(dir, "", keys)
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := tail.Next(10)
		unknown := (*vault.UnknownKey)(nil)
		if len(list) > 0 || !errors.As(err, &unknown) || unknown.ID != "a" || !strings.Contains(err.Error(), "PALACE_KEYS") || tail.Done() == "" {
			t.Errorf("%s: %d exchanges, %v", name, len(list), err)
		}
		tail.Close()
	}
	wrong, err := Keys("a:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 32)))
	if err != nil {
		t.Fatal(err)
	}
	tail, err := NewTail(dir, "", wrong)
	if err != nil {
		t.Fatal(err)
	}
	defer tail.Close()
	if _, _, err := tail.Next(10); err == nil || !strings.Contains(err.Error(), "is another than it was") {
		t.Errorf("with another key of the same id: %v", err)
	}
	right, err := NewTail(dir, "", ring(t, "b", "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer right.Close()
	list, _, err := right.Next(10)
	if err != nil || len(list) != 2 || list[0].Request.ID != first || list[1].Request.ID != second || !bytes.Equal(list[1].Asked, body) || plain == first {
		t.Errorf("with both keys: %d exchanges, %v", len(list), err)
	}
	for text, says := range map[string]string{"a:short": "base64", "a": "id:base64", "a:" + base64.StdEncoding.EncodeToString([]byte("short")): "32"} {
		if _, err := Keys(text); err == nil || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "PALACE_KEYS: key 1 ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
