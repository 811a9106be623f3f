package palace

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// kept is a Store in memory: what internal/store/storetest proves of the databases holds
// of it as far as these tests need it, and it costs no time under the race detector.
type kept struct {
	state
	dies int // transactions that end well before one that does not; -1: all do
	lost bool
}

type state struct {
	exchanges map[string]Exchange
	chunks    map[string]Chunk
	parts     map[string][]string
	lineages  map[string]Lineage
	agents    []Agent
	timelines map[string][]string
	blocks    map[string]Block
	byKey     map[string]string
	segment   string
	whole     []string
	costs     []Cost
	cache     []byte
	prompts   map[string][]byte // the last of each lineage
}

func newKept() *kept {
	return &kept{dies: -1, state: state{
		exchanges: map[string]Exchange{}, chunks: map[string]Chunk{}, parts: map[string][]string{}, lineages: map[string]Lineage{}, timelines: map[string][]string{}, blocks: map[string]Block{}, byKey: map[string]string{}, prompts: map[string][]byte{},
	}}
}

func (s state) clone() state {
	s.exchanges, s.chunks, s.parts, s.lineages = maps.Clone(s.exchanges), maps.Clone(s.chunks), maps.Clone(s.parts), maps.Clone(s.lineages)
	s.timelines, s.blocks, s.byKey, s.agents, s.whole = maps.Clone(s.timelines), maps.Clone(s.blocks), maps.Clone(s.byKey), slices.Clone(s.agents), slices.Clone(s.whole)
	s.costs, s.prompts = slices.Clone(s.costs), maps.Clone(s.prompts)
	return s
}

func (k *kept) PalaceKey(context.Context, identity.Viewer, func([]byte) ([]byte, error)) error {
	return nil
}
func (k *kept) TakenFrom(context.Context, identity.Viewer) (string, error)  { return k.segment, nil }
func (k *kept) PalaceBytes(context.Context, identity.Viewer) (int64, error) { return 0, nil }
func (k *kept) MakePalaceRoom(context.Context, identity.Viewer, int64) (int64, error) {
	return 0, nil
}
func (k *kept) SegmentsTaken(context.Context, identity.Viewer, time.Time) ([]string, error) {
	return nil, nil
}
func (k *kept) ForgetSegments(context.Context, identity.Viewer, []string) error { return nil }

var errDied = fmt.Errorf("killed")

// TakeIn implements Store. One that dies has committed, and nobody was told, or has not.
func (k *kept) TakeIn(_ context.Context, _ identity.Viewer, f func(Tx) error) error {
	before := k.state.clone()
	if err := f(k); err != nil {
		k.state = before
		return err
	}
	if k.dies == 0 {
		if k.lost {
			k.state = before
		}
		return errDied
	}
	k.dies--
	return nil
}

func (k *kept) Exchanges(ids []string) (map[string]bool, error) {
	there := map[string]bool{}
	for _, id := range ids {
		if _, ok := k.exchanges[id]; ok {
			there[id] = true
		}
	}
	return there, nil
}

func (k *kept) PutExchange(e Exchange) error {
	if _, twice := k.exchanges[e.ID]; twice {
		return fmt.Errorf("%s is there", e.ID)
	}
	k.exchanges[e.ID] = e
	return nil
}

func (k *kept) PutChunk(c Chunk) error {
	if _, ok := k.chunks[c.Hash]; !ok {
		k.chunks[c.Hash] = c
	}
	return nil
}

func (k *kept) PutParts(chunk string, blocks []string) error {
	k.parts[chunk] = append(slices.Clone(k.parts[chunk]), blocks...)
	return nil
}
func (k *kept) Erasures() (int64, error)                  { return 0, nil }
func (k *kept) Erased() ([]Place, error)                  { return nil, nil }
func (k *kept) PutSent(string, Sent) error                { return nil }
func (k *kept) PutEpoch(view.Epoch) error                 { return nil }
func (k *kept) PutCosts(list []Cost) error                { k.costs = append(k.costs, list...); return nil }
func (k *kept) CacheState() ([]byte, error)               { return k.cache, nil }
func (k *kept) PutCacheState(state []byte) error          { k.cache = state; return nil }
func (k *kept) LastPrompt(lineage string) ([]byte, error) { return k.prompts[lineage], nil }
func (k *kept) PutLastPrompt(lineage string, prompt []byte) error {
	k.prompts[lineage] = prompt
	return nil
}
func (k *kept) PutTakenFrom(segment string) error { k.segment = segment; return nil }
func (k *kept) PutSegments(names []string) error {
	k.whole = append(k.whole, names...)
	return nil
}

func (k *kept) newest(of func(Lineage) bool) (list []Lineage) {
	for _, l := range k.lineages {
		if of(l) {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b Lineage) int {
		if n := b.SeenAt.Compare(a.SeenAt); n != 0 {
			return n
		}
		return strings.Compare(b.ID, a.ID)
	})
	return list
}

func (k *kept) Lineages(key string, most int) ([]Lineage, error) {
	list := k.newest(func(l Lineage) bool { return l.Key == key })
	return list[:min(len(list), most)], nil
}

func (k *kept) LineageOfRun(run string) (Lineage, bool, error) {
	list := k.newest(func(l Lineage) bool {
		return l.Run == run && slices.ContainsFunc(k.agents, func(a Agent) bool { return a.ID == l.AgentID && a.Kind == Main })
	})
	if len(list) == 0 {
		return Lineage{}, false, nil
	}
	return list[0], true, nil
}

func (k *kept) PutLineage(l Lineage) error { k.lineages[l.ID] = l; return nil }

func (k *kept) NewAgent(a Agent) (int, error) {
	a.Number = len(k.agents) + 1
	k.agents = append(k.agents, a)
	return a.Number, nil
}
func (k *kept) SeeAgent(string, time.Time) error { return nil }

func (k *kept) place(uuid string) Place {
	b := k.blocks[uuid]
	return Place{UUID: b.UUID, Key: b.Key, Hash: b.Hash, Tool: b.Tool, Type: b.Type, Label: b.Label}
}

func (k *kept) Timeline(lineage string) (list []Place, err error) {
	for _, uuid := range k.timelines[lineage] {
		list = append(list, k.place(uuid))
	}
	return list, nil
}

func (k *kept) SetTimeline(lineage string, from int, blocks []string) error {
	if from > len(k.timelines[lineage]) {
		return fmt.Errorf("a gap before %d", from)
	}
	k.timelines[lineage] = append(slices.Clone(k.timelines[lineage][:from]), blocks...)
	return nil
}

func (k *kept) ForkTimeline(lineage, of string, n int) error {
	if n > len(k.timelines[of]) {
		return fmt.Errorf("%s has no %d blocks", of, n)
	}
	k.timelines[lineage] = slices.Clone(k.timelines[of][:n])
	return nil
}

func (k *kept) Blocks(keys []string) (list []Place, err error) {
	for _, key := range keys {
		if uuid, ok := k.byKey[key]; ok {
			list = append(list, k.place(uuid))
		}
	}
	return list, nil
}

func (k *kept) NewBlock(b Block) error {
	if _, twice := k.byKey[b.Key]; twice {
		return fmt.Errorf("%s is there", b.Key)
	}
	k.byKey[b.Key], k.blocks[b.UUID] = b.UUID, b
	return nil
}
func (k *kept) Revive([]string) error { return nil }

// body is a body of an exchange, as it is kept.
func (k *kept) body(t *testing.T, exchange string) []byte {
	t.Helper()
	e := k.exchanges[exchange]
	r, err := openRecipe(e.Recipe)
	if err != nil {
		t.Fatal(err)
	}
	chunks := map[string][]byte{}
	for _, h := range r.chunks() {
		if chunks[h], err = unpacked(k.chunks[h].Packed); err != nil {
			t.Fatal(err)
		}
	}
	b, err := r.body(chunks, e.Asked.Hash)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// recorded is a spool and what is taken in of it.
type recorded struct {
	*kept
	t     *testing.T
	dir   string
	spool *capture.Spool
}

func record(t *testing.T) *recorded {
	r := &recorded{kept: newKept(), t: t, dir: t.TempDir()}
	r.open()
	return r
}

func (r *recorded) open() {
	s, err := capture.Open(capture.Options{Dir: r.dir, Memory: 64 << 20, Disk: 1 << 30, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	r.spool = s
	r.t.Cleanup(func() { _ = s.Close(context.Background()) })
}

// spoken is one exchange.
type spoken struct {
	session, agent, run, body, answer string
	status                            int
	cut                               bool // its proxy was killed
}

func (r *recorded) say(s spoken) string {
	r.t.Helper()
	h := http.Header{}
	if s.session != "" {
		h.Set(capture.SessionHeader, s.session)
	}
	if s.agent != "" {
		h.Set(capture.AgentHeader, s.agent)
	}
	if s.status == 0 {
		s.status = http.StatusOK
	}
	x := id.New()
	w := r.spool.Begin(capture.Request{ID: x, Agent: "a", Run: s.run, Project: "p", Started: time.Now(), Method: http.MethodPost, Path: "/v1/messages", Header: h, Size: int64(len(s.body))}, []byte(s.body))
	w.Answer(s.status, http.Header{"Content-Type": {"text/event-stream"}})
	w.Chunk([]byte(s.answer))
	if !s.cut {
		w.End(capture.Ending{Ended: time.Now(), Complete: true})
		return x
	}
	if err := r.spool.Close(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.open()
	return x
}

func (r *recorded) intake() *Intake {
	return NewIntake(IntakeOptions{
		Dir: filepath.Join(r.dir, "intake"), Spool: r.dir, Store: r.kept, Log: slog.New(slog.DiscardHandler), Owner: func(context.Context) (identity.Viewer, error) { return identity.Viewer{UserID: "u"}, nil },
	})
}

// take ends the writer and takes in what there is.
func (r *recorded) take() {
	r.t.Helper()
	if err := r.spool.Close(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.intake().All(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	r.open()
}

// said is a request of messages.
func said(messages ...string) string {
	return `{"model":"m","system":"be kind","tools":[{"name":"Read"}],"messages":[` + strings.Join(messages, ",") + `],"max_tokens":9}`
}

func person(text string) string { return message2("user", text) }
func model(text string) string  { return message2("assistant", text) }

func message2(role, text string) string {
	doc, _ := json.Marshal(map[string]any{"role": role, "content": []any{map[string]string{"type": "text", "text": text}}})
	return string(doc)
}

// answering is a stream that says a text.
func answering(text string) string {
	quoted, _ := json.Marshal(text)
	return `data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":10}}}` + "\n\n" +
		`data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}` + "\n\n" +
		`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + string(quoted) + `}}` + "\n\n" +
		`data: {"type":"content_block_stop","index":0}` + "\n\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}` + "\n\n"
}
