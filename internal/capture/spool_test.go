package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"liminal/internal/id"
)

const key = "sk-ant-api03-an-invented-key-of-nobody"

// spool opens one that is closed with the test, unless that closes it before.
func spool(t *testing.T, o Options) *Spool {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.Disk == 0 {
		o.Disk = 1 << 30
	}
	if o.create == nil {
		o.create = func(name string) (file, error) {
			f, err := createFile(name)
			return unsynced{f}, err
		}
	}
	o.Log = slog.New(slog.DiscardHandler)
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

// unsynced is a file that the disk may have later: what is tested is no power cut.
type unsynced struct{ file }

func (unsynced) Sync() error { return nil }

func shut(t *testing.T, s *Spool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 30*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func request(body []byte) Request {
	header := http.Header{"X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"}}
	return Request{ID: id.New(), Agent: "claude", Started: time.Now(), Method: "POST", Path: "/v1/messages", Query: "beta=true", Header: header, Size: int64(len(body)), Secrets: SecretsOf(header, "")}
}

// pass records one exchange.
func pass(s *Spool, body []byte, chunks ...[]byte) string {
	r := request(body)
	x := s.Begin(r, body)
	x.Answer(200, http.Header{"Request-Id": {"req_1"}, "Set-Cookie": {"session=0123456789"}})
	for _, c := range chunks {
		x.Chunk(c)
	}
	x.End(Ending{Ended: time.Now(), Complete: true})
	return r.ID
}

func all(Request) bool { return true }

// read is everything in a spool, by id.
func read(t *testing.T, dir string) map[string]*Exchange {
	t.Helper()
	found := map[string]*Exchange{}
	for e, err := range Exchanges(dir, nil, all) {
		if err != nil {
			t.Fatal(err)
		}
		found[e.Request.ID] = e
	}
	return found
}

// history is the body of the n-th request of a conversation.
func history(n, size int) []byte {
	said := []string{}
	for i := range n {
		said = append(said, noise(uint64(i), size))
	}
	return conversation(said)
}

// conversation is a request as agents send them: each has everything of the one
// before, with the mark of the cache moved on.
func conversation(said []string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"m","system":[{"type":"text","text":"` + strings.Repeat("be kind; ", 90) + `"}],"tools":[{"name":"Bash","description":"` + strings.Repeat("runs a command ", 70) + `"}],"messages":[`)
	for i, text := range said {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"role":"user","content":[{"type":"text","text":`)
		b.WriteString(strconv.Quote(text))
		if i == len(said)-1 {
			b.WriteString(`,"cache_control":{"type":"ephemeral"}`)
		}
		b.WriteString(`}]}`)
	}
	b.WriteString(`],"stream":true}`)
	return b.Bytes()
}

// noise is text that compresses about as source code does.
func noise(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%s%d := %x\n", []string{"if ", "for ", "return ", "value", "\t", "func ", "string "}[r.IntN(7)], r.IntN(1000), r.IntN(1<<20))
	}
	return b.String()[:n]
}

// Requirements: PAL-03 (bytes as they came), PAL-24 (exchanges)
func TestAnExchangeComesOutOfTheSpoolAsItWent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	bodies := [][]byte{
		history(3, 2000), history(4, 2000), nil, {}, []byte("no JSON\x00\xff"), []byte(`{"messages":[`), []byte(`{"messages":{"a":1},"system":"` + strings.Repeat("x", 300) + `"}`),
		[]byte(` { "tools" : [ ] , "messages" : [ "` + strings.Repeat(`\"`, 200) + `" , 1 ] , "messages":[{"a":"` + strings.Repeat("y", 300) + `"}]} trailing`),
	}
	ids := []string{}
	for _, body := range bodies {
		ids = append(ids, pass(s, body, []byte("event: ping\n"), []byte("data: \xff{}\n\n"), bytes.Repeat([]byte("z"), 3*partSize)))
	}
	shut(t, s)
	found := read(t, dir)
	if len(found) != len(bodies) {
		t.Fatalf("%d exchanges of %d", len(found), len(bodies))
	}
	for i, id := range ids {
		e := found[id]
		if !bytes.Equal(e.Asked, bodies[i]) || e.Request.Lost != "" || e.Masked {
			t.Errorf("request %d came out as %.80q", i, e.Asked)
		}
		want := "event: ping\ndata: \xff{}\n\n" + strings.Repeat("z", 3*partSize)
		if string(e.Answered) != want || e.Response.Lost != "" || e.Response.Size != int64(len(want)) {
			t.Errorf("response %d came out as %.80q (%+v)", i, e.Answered, e.Response.Lost)
		}
		if m := e.Response.Marks; len(m) != 3 || m[0].End != 12 || m[1].End != 23 || m[2].End != int64(len(want)) || m[2].After < m[0].After {
			t.Errorf("response %d came at %v", i, m)
		}
		if e.Ending == nil || !e.Ending.Complete || e.Response.Status != 200 || e.Request.Query != "beta=true" || e.Request.Header.Get("Anthropic-Version") == "" {
			t.Errorf("exchange %d: %+v", i, e)
		}
	}
}

// What a conversation sends again is written once.
func TestAConversationOfTwentyMegabytesTakesTwo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	sent := 0
	said := []string{}
	for n := range 100 {
		said = append(said, noise(uint64(n), 3500))
		body := conversation(said)
		sent += len(body)
		pass(s, body, []byte("data: an answer\n\n"))
	}
	shut(t, s)
	if disk := s.Stats().Disk; sent < 18<<20 || disk > 2<<20 {
		t.Errorf("%d bytes were sent, %d are on disk", sent, disk)
	}
}

// A key is not written, wherever it stands.
func TestNoKeyIsEverWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	body := []byte(`{"messages":[{"role":"user","content":"` + strings.Repeat("before ", 100) + key + `"}]}`)
	r := request(body)
	r.Header.Set("Authorization", "Bearer another-invented-key")
	r.Header.Set("X-Custom", "has "+key+" in it")
	r.Query = "beta=true&api_key=a-third-invented-key"
	r.Secrets = SecretsOf(r.Header, r.Query)
	x := s.Begin(r, body)
	x.Answer(200, http.Header{"X-Echo": {key}, "Anthropic-Ratelimit-Tokens-Remaining": {"99"}})
	x.Chunk(append(bytes.Repeat([]byte("a"), partSize-10), key[:15]...)) // at the border of two parts
	x.Chunk([]byte(key[15:] + " and another-invented-key"))
	x.End(Ending{Error: "with " + key})
	shut(t, s)
	if !bytes.Contains(body, []byte(key)) {
		t.Error("the body on its way was changed")
	}
	e := read(t, dir)[r.ID]
	if !e.Masked || len(e.Asked) != len(body) || len(e.Answered) != int(e.Response.Size) || !bytes.HasPrefix(e.Asked, body[:100]) {
		t.Errorf("%+v", e)
	}
	whole := fmt.Sprintf("%+v %+v %s %s", e, e.Ending, e.Asked, e.Answered)
	for _, secret := range []string{key, key[:20], "another-invented-key", "a-third-invented-key"} {
		if strings.Contains(whole, secret) {
			t.Errorf("%q is kept", secret)
		}
	}
	if e.Response.Header.Get("Anthropic-Ratelimit-Tokens-Remaining") != "99" || e.Request.Query != "beta=true&api_key=[withheld]" {
		t.Errorf("%+v", e)
	}
}

// A power cut may end a segment anywhere: what was whole before is read.
//
// Requirements: PAL-24 (exchanges)
func TestASegmentThatIsCutAnywhereIsReadUpToThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	first := pass(s, history(1, 300), []byte("one"))
	pass(s, history(2, 300), []byte("two"))
	shut(t, s)
	names, _ := segments(dir)
	whole, err := os.ReadFile(names[0])
	if err != nil || len(names) != 1 {
		t.Fatal(len(names), err)
	}
	in, err := newDecoder(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cut := filepath.Join(t.TempDir(), "a.seg")
	most := 0
	for n := range len(whole) {
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		r := spoolReader{in: in, want: all, open: map[string]*Exchange{}}
		ended := 0
		for e, err := range r.segment(cut) {
			if ended++; err != nil || ended == 1 && (e.Request.ID != first || string(e.Answered) != "one") {
				t.Fatalf("%d bytes: %+v %v", n, e, err)
			}
		}
		if ended < most {
			t.Fatalf("%d bytes have %d exchanges, fewer had %d", n, ended, most)
		}
		most = ended
	}
	if most != 1 { // the last byte of the second is missing
		t.Errorf("%d exchanges", most)
	}
	whole[len(whole)/2] ^= 1
	if err := os.WriteFile(cut, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, err := range Exchanges(filepath.Dir(cut), nil, all) {
		if err != nil && strings.Contains(err.Error(), "a.seg is damaged at byte") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("a changed byte was told %d times", told)
	}
}

// stuck is a disk that takes nothing until it is let.
type stuck struct {
	file
	free chan struct{}
}

func (s stuck) Write(p []byte) (int, error) { <-s.free; return s.file.Write(p) }

// Whoever records does not wait for the disk: what it cannot take is dropped, the
// oldest first, and told.
func TestADiskThatHangsHoldsNothingBack(t *testing.T) {
	t.Parallel()
	dir, free := t.TempDir(), make(chan struct{})
	s := spool(t, Options{Dir: dir, Memory: 1 << 20, create: func(name string) (file, error) {
		f, err := createFile(name)
		return stuck{unsynced{f}, free}, err
	}})
	ids := []string{}
	for range 40 { // 5 MB, while not one byte can be written
		ids = append(ids, pass(s, bytes.Repeat([]byte("q"), 64<<10), bytes.Repeat([]byte("a"), 64<<10)))
	}
	if at := s.Stats(); at.Held > 1<<20 || at.Lost[LostMemory] == 0 || at.Exchanges != 40 {
		t.Errorf("meanwhile: %+v", at)
	}
	close(free)
	shut(t, s)
	found := read(t, dir)
	last, old := found[ids[39]], found[ids[10]]
	if len(found) != 40 || len(last.Asked) != 64<<10 || last.Request.Lost != "" || last.Response.Lost != "" {
		t.Errorf("%d exchanges, the last %+v", len(found), last)
	}
	if old.Request.Lost != LostMemory || old.Response.Lost != LostMemory || old.Response.Size != 64<<10 || old.Ending == nil {
		t.Errorf("an old one: %+v", old)
	}
}

// full is a disk that has no room at times, and takes half of what is written then.
type full struct {
	file
	no *atomic.Bool
}

func (f full) Write(p []byte) (int, error) {
	if f.no.Load() {
		n, _ := f.file.Write(p[:len(p)/2])
		return n, errors.New("no space left on device")
	}
	return f.file.Write(p)
}

func TestAFullDiskLosesWhatItRefusedAndNothingElse(t *testing.T) {
	t.Parallel()
	dir, no := t.TempDir(), &atomic.Bool{}
	s := spool(t, Options{Dir: dir, create: func(name string) (file, error) {
		f, err := createFile(name)
		return full{unsynced{f}, no}, err
	}})
	before := pass(s, history(2, 500), []byte("before"))
	written(t, s, dir, before)
	no.Store(true)
	lost := pass(s, history(3, 500), []byte("lost"))
	for s.Stats().Waiting > 0 || s.Stats().Lost[LostDisk] < 3 {
		wait(t)
	}
	no.Store(false)
	after := pass(s, history(4, 500), []byte("after"))
	shut(t, s)
	found := read(t, dir)
	if found[lost] != nil || string(found[before].Answered) != "before" || string(found[after].Answered) != "after" || !bytes.Equal(found[after].Asked, history(4, 500)) {
		t.Errorf("found %v", found)
	}
	if at := s.Stats(); !strings.Contains(at.Error, "no space left") || at.ErrorAt == nil || at.Held != 0 {
		t.Errorf("%+v", at)
	}
}

// written waits until an exchange is on the disk.
func written(t *testing.T, s *Spool, dir, id string) {
	t.Helper()
	for read(t, dir)[id] == nil || read(t, dir)[id].Ending == nil {
		wait(t)
	}
}

// wait lets others work, as long as the test may last.
func wait(t *testing.T) {
	t.Helper()
	select {
	case <-t.Context().Done():
		t.Fatal("it did not come")
	case <-time.After(time.Millisecond):
	}
}

func TestTheOldestMakesRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir, Disk: 256 << 10})
	var last string
	for n := range 60 {
		last = pass(s, []byte(noise(uint64(n), 40<<10)))
	}
	shut(t, s)
	total := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, _ error) error {
		if info, err := d.Info(); err == nil && !d.IsDir() {
			total += info.Size()
		}
		return nil
	})
	found := read(t, dir)
	if at := s.Stats(); total > 256<<10 || at.Disk != total || at.Removed == 0 || found[last] == nil || len(found) > 30 {
		t.Errorf("%d bytes, %d exchanges, %+v", total, len(found), at)
	}
}

// A recorder that is killed leaves what has come so far.
//
// Requirements: PAL-24 (exchanges)
func TestWhatHadNotEndedIsThereAsFarAsItCame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	body := history(2, 400)
	r := request(body)
	x := s.Begin(r, body)
	x.Answer(200, nil)
	x.Chunk(bytes.Repeat([]byte("b"), partSize+100))
	for e := read(t, dir)[r.ID]; e == nil || len(e.Answered) == 0; e = read(t, dir)[r.ID] {
		wait(t)
	}
	e := read(t, dir)[r.ID]
	if e.Ending != nil || !bytes.Equal(e.Asked, body) || len(e.Answered) < partSize-100 || strings.Trim(string(e.Answered), "b") != "" {
		t.Errorf("%+v: %d bytes", e, len(e.Answered))
	}
}

func TestManyRecordAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := spool(t, Options{Dir: dir})
	var group sync.WaitGroup
	want := sync.Map{}
	for i := range 16 {
		group.Go(func() {
			for n := range 20 {
				answer := fmt.Sprintf("answer %d of %d", n, i)
				want.Store(pass(s, history(n%5+1, 300), []byte(answer[:5]), []byte(answer[5:])), answer)
			}
		})
	}
	group.Wait()
	shut(t, s)
	found := read(t, dir)
	want.Range(func(id, answer any) bool {
		if e := found[id.(string)]; e == nil || string(e.Answered) != answer {
			t.Errorf("%v: %+v", id, e)
		}
		return true
	})
	if len(found) != 320 {
		t.Errorf("%d exchanges", len(found))
	}
}

// However a body is made, its parts are the body again, and none overlap.
func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"system":"s","tools":[1,{"a":"]"}],"messages":[{"a":"\\\""},[],{}],"x":null}`))
	f.Add(history(3, 300))
	f.Add([]byte(`{"messages":[1,,2]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		at := 0
		for _, s := range Split(body) {
			if s.From < at || s.To < s.From+leastSpan || s.To > len(body) {
				t.Fatalf("span %v behind %d of %d", s, at, len(body))
			}
			at = s.To
		}
	})
}
