package storetest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/palace"
	"liminal/internal/store"
	"liminal/internal/vault"
	"liminal/internal/view"
)

// folder is the folder that a library forgets in.
func (p *spooled) folder() *palace.Folder {
	return &palace.Folder{Dir: filepath.Join(p.dir, "intake"), Spool: p.dir, Keys: p.keys, Owner: p.owner}
}

func palaceErases(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Folder = p.folder()
	first := p.say(passed{session: "s", body: request(user("hello")), answer: toolAnswer()})
	echo := assistant(rethink, `{"type":"text","text":"I will run a command."}`, useEcho)
	second := p.say(passed{session: "s", body: request(user("hello"), echo, result), answer: events(textBlock("done"))})
	p.take()
	seen := p.timeline(1)
	said, use := seen.Blocks[2], seen.Blocks[3]
	want(t, "type", said.Type, palace.Assistant)
	e := got(p.EraseBlock(t.Context(), p.v, said.UUID))(t)
	// The answer that it came in, and the request that had it again, in the store and in
	// the spool.
	want(t, "chunks", e.Chunks, 2)
	want(t, "records", e.Spool, 2)
	gone := got(p.PalaceBlock(t.Context(), p.v, said.UUID))(t)
	if gone.ErasedAt == nil || gone.ErasedBy != palace.ByPerson || gone.Label != "" || gone.Hash != said.Hash || gone.Size != said.Size {
		t.Errorf("a block that was erased is %+v", gone)
	}
	_, err := p.Content(t.Context(), p.v, gone)
	wantFault(t, err, fault.NotFound)
	for what, read := range map[string]func() error{
		"the answer":      func() error { _, _, err := p.Response(t.Context(), p.v, first); return err },
		"the echo":        func() error { _, _, err := p.Request(t.Context(), p.v, second); return err },
		"another's block": func() error { _, err := p.EraseBlock(t.Context(), person(t, p.store), said.UUID); return err },
	} {
		if err := read(); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What lay beside it is there.
	stays := got(p.PalaceBlock(t.Context(), p.v, use.UUID))(t)
	want(t, "what was said beside it", string(got(p.Content(t.Context(), p.v, stays))(t).JSON), `{"id":"toolu_1","input":{"path":"a.go"},"name":"Read","type":"tool_use"}`)
	_, body, err := p.Request(t.Context(), p.v, first)
	need(t, err)
	want(t, "a request without it", string(body), request(user("hello")))
	// The client sends it again, in other bytes: it is not kept.
	third := p.say(passed{session: "s", body: request(user("hello"), strings.Replace(echo, `"role":"assistant"`, `"role": "assistant"`, 1), result, assistant(`{"type":"text","text":"done"}`), user("go on")), answer: events(textBlock("yes"))})
	p.take()
	_, _, err = p.Request(t.Context(), p.v, third)
	wantFault(t, err, fault.NotFound)
	want(t, "the history", types(p.timeline(1).Blocks), "User Thinking Assistant ToolUse ToolResult Assistant User Assistant")
	_, answer, err := p.Response(t.Context(), p.v, third)
	need(t, err)
	want(t, "its answer", string(answer), events(textBlock("yes")))
	for e, err := range capture.Exchanges(p.dir, nil, func(capture.Request) bool { return true }) {
		need(t, err)
		if e.Request.ID != third && (bytes.Contains(e.Asked, []byte("I will run")) || bytes.Contains(e.Answered, []byte("I will run"))) {
			t.Errorf("the spool has it in %s", e.Request.ID)
		}
	}
}

func palaceErasesAll(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Folder = p.folder()
	one := p.say(passed{session: "s", body: request(user("private")), answer: events(textBlock("noted"))})
	title := p.say(passed{session: "s", body: `{"model":"m","messages":[` + user("private") + `],"tools":[],"output_config":{"format":{"type":"json_schema"}}}`, answer: events(textBlock("A title"))})
	other := p.say(passed{session: "other", body: request(user("public")), answer: events(textBlock("good"))})
	p.take()
	seen := p.timeline(1)
	got(p.EraseLineage(t.Context(), p.v, seen.Lineage.ID))(t)
	_, _, err := p.Request(t.Context(), p.v, one)
	wantFault(t, err, fault.NotFound)
	_, _, err = p.Response(t.Context(), p.v, title)
	need(t, err)
	got(p.EraseAgent(t.Context(), p.v, 1))(t)
	_, _, err = p.Response(t.Context(), p.v, title)
	wantFault(t, err, fault.NotFound)
	for _, b := range p.timeline(1).Blocks {
		if b.ErasedAt == nil {
			t.Errorf("%s stays", b.Label)
		}
	}
	_, body, err := p.Request(t.Context(), p.v, other)
	need(t, err)
	want(t, "another agent's", string(body), request(user("public")))
	shared := got(p.Active(t.Context(), p.v, 2, palace.BlockFilter{Scopes: []string{"global"}}))(t)
	for _, b := range shared.Blocks {
		got(p.Content(t.Context(), p.v, b))(t)
	}
	want(t, "what all agents see", len(shared.Blocks), 2)
	for _, wrong := range []func() error{
		func() error { _, err := p.EraseAgent(t.Context(), p.v, 9); return err },
		func() error { _, err := p.EraseLineage(t.Context(), person(t, p.store), seen.Lineage.ID); return err },
	} {
		wantFault(t, wrong(), fault.NotFound)
	}
	// Whose the spool is leaves.
	p.say(passed{session: "s", body: request(user("later")), answer: ""})
	p.take()
	need(t, p.spool.Close(t.Context()))
	need(t, p.folder().Forget("somebody else"))
	if names := got(filepath.Glob(filepath.Join(p.dir, "*.seg")))(t); len(names) == 0 {
		t.Error("somebody else's leaving took the spool")
	}
	need(t, p.folder().Forget(p.v.UserID))
	if names := got(filepath.Glob(filepath.Join(p.dir, "*.seg")))(t); len(names) > 0 {
		t.Errorf("%d segments are left", len(names))
	}
}

func palaceRoom(t *testing.T, open Open) {
	p := newSpooled(t, open)
	random := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, 2000)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return fmt.Sprint(n, " ", base64.StdEncoding.EncodeToString(b))
	}
	old := p.say(passed{session: "a", body: request(user(text(1)), user(text(2))), answer: ""})
	p.take()
	used := got(p.store.PalaceBytes(t.Context(), p.v))(t)
	p.disk = used + 200
	// Nothing is put away: the next comes without its contents.
	without := p.say(passed{session: "b", body: request(user(text(3))), answer: ""})
	p.take()
	if _, full := p.intake.Room(); !full || p.intake.Health() == nil {
		t.Error("nobody is told that there is no room")
	}
	x, _, err := p.Request(t.Context(), p.v, without)
	wantFault(t, err, fault.NotFound)
	want(t, "why", x.Asked.Lost, palace.LostRoom)
	want(t, "hash", len(x.Asked.Hash), 64)
	want(t, "blocks of it", types(p.timeline(2).Blocks), "User")
	if b := p.timeline(2).Blocks[0]; b.ErasedBy != palace.ByRoom || b.Label != "" {
		t.Errorf("a block without contents is %+v", b)
	}
	if n := got(p.store.PalaceBytes(t.Context(), p.v))(t); n > p.disk {
		t.Errorf("%d bytes are kept of %d", n, p.disk)
	}
	// One is put away, and makes room.
	away := p.timeline(1).Blocks[0]
	need(t, p.store.DropBlocks(t.Context(), p.v, []string{away.UUID}))
	whole := p.say(passed{session: "c", body: request(user("small")), answer: ""})
	p.take()
	if _, full := p.intake.Room(); full || p.intake.Health() != nil {
		t.Error("there is room, and it is said that there is none")
	}
	_, body, err := p.Request(t.Context(), p.v, whole)
	need(t, err)
	want(t, "what came then", string(body), request(user("small")))
	gone := got(p.PalaceBlock(t.Context(), p.v, away.UUID))(t)
	if gone.ErasedBy != palace.ByRoom || gone.ErasedAt == nil || gone.Hash != away.Hash {
		t.Errorf("what made room is %+v", gone)
	}
	_, _, err = p.Request(t.Context(), p.v, old)
	wantFault(t, err, fault.NotFound)
	if b := p.timeline(1).Blocks[1]; b.ErasedAt != nil {
		t.Error("what is still seen made room")
	}
}

func palaceSegments(t *testing.T, open Open) {
	p := newSpooled(t, open)
	now := time.Now()
	p.now = func() time.Time { return now }
	segments := func() int { return len(got(filepath.Glob(filepath.Join(p.dir, "*.seg")))(t)) }
	p.say(passed{session: "s", body: request(user("one")), answer: events(textBlock("hi"))})
	p.take()
	now = now.Add(23 * time.Hour)
	need(t, p.tryIntake())
	want(t, "segments after 23 hours", segments(), 1)
	p.say(passed{session: "s", body: request(user("one"), user("two")), answer: ""}) // not taken in
	now = now.Add(2 * time.Hour)
	need(t, p.spool.Close(t.Context()))
	need(t, p.tryIntake()) // removes the first, and takes in the second
	want(t, "segments after 25 hours", segments(), 1)
	want(t, "exchanges", got(p.PalaceFigures(t.Context(), p.v))(t).Exchanges, 2)
}

// palaceRing is one of keys whose bytes follow from their ids.
func palaceRing(t *testing.T, ids ...string) *vault.Ring {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), 32))
	}
	return got(capture.Keys(strings.Join(list, ",")))(t)
}

func palaceKeys(t *testing.T, open Open) {
	p := newSpooled(t, open)
	need(t, p.spool.Close(t.Context()))
	p.keys = palaceRing(t, "a")
	p.OpenWith(p.keys)
	p.write()
	first := request(user("hello"))
	one := p.say(passed{session: "s", body: first, answer: toolAnswer()})
	p.take()
	was := p.timeline(1)
	want(t, "label", was.Blocks[0].Label, "hello")
	// The key is changed: what is sent again is the block it was.
	need(t, p.spool.Close(t.Context()))
	p.keys = palaceRing(t, "b", "a")
	p.Library = palace.NewLibrary(p.store).OpenWith(p.keys)
	p.write()
	second := request(user("hello"), assistant(rethink, `{"text":"I will run a command.","type":"text"}`, useEcho), result)
	two := p.say(passed{session: "s", body: second, answer: events(textBlock("done"))})
	p.take()
	is := p.timeline(1)
	want(t, "types", types(is.Blocks), "User Thinking Assistant ToolUse ToolResult Assistant")
	want(t, "blocks", strings.Join(blockIDs(is.Blocks)[:4], " "), strings.Join(blockIDs(was.Blocks), " "))
	want(t, "lineages", got(p.PalaceFigures(t.Context(), p.v))(t).Lineages, 1)
	for id, body := range map[string]string{one: first, two: second} {
		_, raw, err := p.Request(t.Context(), p.v, id)
		need(t, err)
		want(t, "request", string(raw), body)
	}
	_, answer, err := p.Response(t.Context(), p.v, one)
	need(t, err)
	want(t, "response", string(answer), toolAnswer())
	want(t, "content", string(got(p.Content(t.Context(), p.v, is.Blocks[4]))(t).JSON) != "", true)
	p.Folder = p.folder()
	e := got(p.EraseBlock(t.Context(), p.v, is.Blocks[2].UUID))(t)
	want(t, "erased", fmt.Sprint(e.Blocks, e.Chunks, e.Spool), "1 2 2")
	_, _, err = p.Request(t.Context(), p.v, two)
	wantFault(t, err, fault.NotFound)
	// Without the key, and with another.
	for name, keys := range map[string]*vault.Ring{"no key": nil, "another key": palaceRing(t, "c")} {
		closed := palace.NewLibrary(p.store).OpenWith(keys)
		if _, _, err := closed.Request(t.Context(), p.v, one); err == nil || !strings.Contains(err.Error(), "PALACE_KEYS") {
			t.Errorf("%s reads: %v", name, err)
		}
		right := p.keys
		p.keys = keys
		if err := p.tryIntake(); err == nil || !strings.Contains(err.Error(), `the key "b", which PALACE_KEYS does not have`) {
			t.Errorf("%s takes in: %v", name, err)
		}
		p.keys = right
	}
	_, raw, err := p.Request(t.Context(), p.v, one)
	need(t, err)
	want(t, "nothing is lost", string(raw), first)
}

// PalaceAtRest proves what a database has on its disk: files are all of its bytes.
// With keys it never has what was said; without, it has not any more what was erased.
func PalaceAtRest(t *testing.T, open func() *store.Store, files func() []byte) {
	const marker = "marker0f8e31b7c2"
	for name, keys := range map[string]*vault.Ring{"plain": nil, "sealed": palaceRing(t, "a")} {
		s := open()
		p := &spooled{Library: palace.NewLibrary(s).OpenWith(keys), t: t, store: s, v: person(t, s), dir: t.TempDir(), keys: keys}
		p.write()
		p.Folder = p.folder()
		body := request(user("say " + marker))
		x := p.say(passed{session: "s", body: body, answer: events(textBlock(marker))})
		p.take()
		_, raw, err := p.Request(t.Context(), p.v, x)
		need(t, err)
		want(t, "request", string(raw), body)
		has := bytes.Contains(files(), []byte(marker))
		want(t, name+": the database has it in plain", has, keys == nil)
		var pieces [][]byte
		for _, b := range p.timeline(1).Blocks {
			for _, packed := range got(s.PalaceChunks(t.Context(), p.v, []string{b.Chunk}))(t) {
				pieces = append(pieces, packed[len(packed)-20:])
			}
		}
		want(t, "chunks", len(pieces), 2)
		for _, piece := range pieces {
			want(t, name+": a chunk is on the disk before", bytes.Contains(files(), piece), true)
		}
		got(p.EraseAgent(t.Context(), p.v, 1))(t)
		after := files()
		want(t, name+": the database has it after it was erased", bytes.Contains(after, []byte(marker)), false)
		for _, piece := range pieces {
			want(t, name+": a chunk is on the disk after", bytes.Contains(after, piece), false)
		}
		palaceBesideAtRest(t, p, name, files)
	}
}

// palaceBesideAtRest proves it of what is made of what was said: announcements, plans,
// and what is in force, in the database and in the files that the proxy shares.
func palaceBesideAtRest(t *testing.T, p *spooled, name string, files func() []byte) {
	const marker = "beside4c1d9a70e3"
	p.Policies = parsed(t, `{"kind":"policy.palace","mode":"view","keep":{"turns":0},"rules":[{"id":"all","when":"type == 'ToolResult'","do":"--"}]}`)
	pl := p.planner()
	b := got(p.Announce(t.Context(), p.v, "Beware of "+marker))(t)
	var messages []string
	for i := range 2 {
		id := fmt.Sprint("toolu_", i)
		messages = append(messages, user("go on"), assistant(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Grep","input":{"pattern":%q}}`, id, marker)),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, fmt.Sprint(marker, i, strings.Repeat(" hit", 500))), assistant(`{"type":"text","text":"I see."}`))
	}
	p.say(passed{session: "beside", body: request(append(messages, user("and now"))...), answer: events(textBlock("yes"))})
	p.take()
	planned := p.plan(pl, 2)
	if len(planned.Plan.Replace) == 0 || planned.Plan.Replace[0].Label != "Grep "+marker {
		t.Fatalf("the plan is %+v", planned.Plan)
	}
	was := got(p.PalacePlan(t.Context(), p.v, planned.Lineage))(t)
	want(t, name+": the plan is read", was.Plan.Replace[0].Label, "Grep "+marker)
	// A proxy puts it in force.
	shared := p.folder().Dir
	epoch, err := json.Marshal([]view.Epoch{{Number: 1, Client: planned.Plan.Client, Lineage: planned.Lineage, Why: view.Cold, Replace: planned.Plan.Replace, Quotes: []view.Quote{{Result: "toolu_0", Label: "Grep " + marker, At: 4}}, OpenedAt: time.Now()}})
	need(t, err)
	file := view.FileName(planned.Plan.Client)
	for _, dir := range []string{shared, p.dir} { // of the intake, and of the planner
		need(t, os.MkdirAll(filepath.Join(dir, "epochs"), 0o700))
		need(t, os.WriteFile(filepath.Join(dir, "epochs", file), capture.SealFile(p.keys, "epochs/"+file, epoch), 0o600))
	}
	p.take()
	epochs := got(p.PalaceEpochs(t.Context(), p.v, planned.Lineage))(t)
	want(t, name+": the epoch is read", len(epochs) == 1 && epochs[0].Replace[0].Label == "Grep "+marker && epochs[0].Quotes[0].Label == "Grep "+marker, true)
	want(t, name+": what is in force is not planned again", len(p.plan(pl, 2).Plan.Replace) < len(planned.Plan.Replace), true)
	want(t, name+": the announcement is read", got(p.PalaceAnnouncements(t.Context(), p.v))(t)[0].Label, "Beware of "+marker)
	want(t, name+": what it says", string(got(p.Content(t.Context(), p.v, b))(t).JSON), `{"text":"Beware of `+marker+`","type":"text"}`)

	want(t, name+": the database has it in plain", bytes.Contains(files(), []byte(marker)), p.keys == nil)
	plain := 0
	need(t, filepath.WalkDir(p.dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && bytes.Contains(got(os.ReadFile(path))(t), []byte(marker)) {
			plain++
		}
		return err
	}))
	want(t, name+": files of the folder have it in plain", plain > 0, p.keys == nil)
	if p.keys == nil {
		return
	}
	// What was written before there were keys is read as well.
	need(t, os.WriteFile(filepath.Join(p.dir, "epochs", file), epoch, 0o600))
	want(t, name+": what is in force in plain", len(p.plan(pl, 2).Plan.Replace) < len(planned.Plan.Replace), true)
	// Without its key nothing is planned: what is set aside already would be again.
	need(t, os.WriteFile(filepath.Join(p.dir, "epochs", file), capture.SealFile(palaceRing(t, "z"), "epochs/"+file, epoch), 0o600))
	if _, err := pl.Plan(t.Context(), p.v, planned.Lineage); err == nil || !strings.Contains(err.Error(), `the key "z"`) || !strings.Contains(err.Error(), "PALACE_KEYS") {
		t.Errorf("what is in force under another key is planned over: %v", err)
	}
}
