package storetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// palaceSent takes in what a view made of a request, and the epoch that it was in
// (PAL-25).
func palaceSent(t *testing.T, open Open) {
	p := newSpooled(t, open)
	long := strings.Repeat("what a file says ", 50)
	body := `{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + long + `"}]}]}`
	at := strings.Index(body, `"`+long)
	edit := view.Edit{From: at, To: at + len(long) + 2, Text: `"[palace: block 1-a set aside]"`}
	plain := p.say(passed{session: "s1", body: body, answer: events(textBlock("one"))})
	told := strings.Replace(events(textBlock("two")), `"usage":`, `"input_transformations":[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"},"of next year"],"usage":`, 1)
	changed := p.say(passed{session: "s1", body: body, answer: told, sent: &capture.Sent{Epoch: 1, Client: "session:s1", Why: capture.SentView, Edits: []view.Edit{edit}}})
	raw := p.say(passed{session: "s1", body: body, answer: events(textBlock("three")), sent: &capture.Sent{Epoch: 1, Client: "session:s1", Why: capture.SentRaw, Refused: "messages.1: no\x00"}})
	dir := filepath.Join(p.dir, "intake", "epochs")
	need(t, os.MkdirAll(dir, 0o700))
	ended := time.Now().UTC().Truncate(time.Millisecond)
	write := func(epochs ...view.Epoch) {
		doc, err := json.Marshal(epochs)
		need(t, err)
		need(t, os.WriteFile(filepath.Join(dir, "a.json"), doc, 0o600))
	}
	epoch := view.Epoch{Number: 1, Client: "session:s1", Policy: "p", Why: view.Cold, Replace: []view.Replacement{{Result: "t1", Block: "1-a", Bytes: len(long)}}, OpenedAt: ended, At: 3}
	write(epoch)
	p.take()

	want(t, "what was sent", string(secondOf(p.Sent(t.Context(), p.v, changed))(t)), body[:edit.From]+edit.Text+body[edit.To:])
	want(t, "what was sent as it was", string(secondOf(p.Sent(t.Context(), p.v, plain))(t)), body)
	want(t, "what was sent after a refusal", string(secondOf(p.Sent(t.Context(), p.v, raw))(t)), body)
	e := got(p.PalaceExchange(t.Context(), p.v, changed))(t)
	want(t, "the exchange", fmt.Sprint(e.Sent.Epoch, e.Sent.Why, e.Sent.Size), fmt.Sprint(1, "view", len(body)-(edit.To-edit.From)+len(edit.Text)))
	if e := got(p.PalaceExchange(t.Context(), p.v, plain))(t); e.Sent != nil {
		t.Errorf("%+v", e.Sent)
	}
	list := pageOf(p.PalaceExchanges(t.Context(), p.v, palace.ExchangeFilter{}, "", 10))(t)
	want(t, "in a list", fmt.Sprintf("%s %s %v", list[0].Sent.Why, list[1].Sent.Why, list[2].Sent == nil), "raw view true")
	_, changes, err := p.Changes(t.Context(), p.v, changed)
	need(t, err)
	want(t, "what differs", fmt.Sprint(len(changes), changes[0].Message, changes[0].Result, changes[0].Is, len(changes[0].Was)), fmt.Sprint(1, 2, "t1", edit.Text, edit.To-edit.From))

	lineage := p.timeline(1).Lineage.ID
	epochs := got(p.PalaceEpochs(t.Context(), p.v, lineage))(t)
	want(t, "epochs", fmt.Sprint(len(epochs), epochs[0].Why, epochs[0].Exchanges, epochs[0].Refused, epochs[0].Bytes, epochs[0].Replace[0].Block), fmt.Sprint(1, "cold", 1, 1, edit.To-edit.From-len(edit.Text), "1-a"))
	// What the requests on both sides of its beginning were charged for, and what thinking
	// that cost (proxy.md: E7).
	beside := got(p.Epochs(t.Context(), p.v, lineage))(t)[0]
	want(t, "before it", *beside.Before, palace.EpochTokens{Exchange: plain, Input: 10, Read: 20, Write: 70})
	want(t, "after it", *beside.After, palace.EpochTokens{Exchange: changed, Input: 10, Read: 20, Write: 70, Dropped: 1})
	heads := got(palace.OpenWire(got(p.PalaceExchange(t.Context(), p.v, changed))(t).Wire))(t)
	want(t, "what the backend changed", fmt.Sprint(heads.Transformed), "[{thinking_dropped messages.1.content.0 prefix_binding_mismatch} {unknown  }]")
	d := got(p.Difference(t.Context(), p.v, changed))(t)
	want(t, "the request before", d.Before, plain)
	epoch.Ended, epoch.EndedAt = "refused", &ended
	write(epoch, view.Epoch{Number: 2, Client: "session:s1", Why: view.Pays, Lineage: lineage, OpenedAt: ended})
	p.take()
	epochs = got(p.PalaceEpochs(t.Context(), p.v, lineage))(t)
	want(t, "epochs later", fmt.Sprintf("%d %s %s", len(epochs), epochs[0].Ended, epochs[1].Why), "2 refused pays")

	bob := person(t, p.store)
	if _, _, err := p.Sent(t.Context(), bob, changed); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("another's request: %v", err)
	}
	want(t, "another's epochs", len(got(p.PalaceEpochs(t.Context(), bob, lineage))(t)), 0)
}

// secondOf is the second of two values, without an error.
func secondOf[A, B any](_ A, b B, err error) func(testing.TB) B {
	return func(t testing.TB) B { t.Helper(); need(t, err); return b }
}

// pageOf is the first of two values, without an error.
func pageOf[A, B any](a A, _ B, err error) func(testing.TB) A {
	return func(t testing.TB) A { t.Helper(); need(t, err); return a }
}
