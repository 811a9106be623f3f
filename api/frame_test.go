package api

import (
	"encoding/json"
	"os"
	"testing"

	"liminal/internal/run"
	"liminal/internal/stream"
)

// writtenDown are what activities say while a run goes on, and what its end
// says, by their tests.
func writtenDown(t *testing.T) (list []stream.Event) {
	t.Helper()
	var during map[string][]struct {
		Kind stream.Kind
		Data json.RawMessage
	}
	var ends map[string]struct {
		Log, Store struct {
			Kind stream.Kind
			Data json.RawMessage
		}
	}
	for path, into := range map[string]any{"../activities/testdata/events.json": &during, endsPath: &ends} {
		raw, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, events := range during {
		for _, e := range events {
			list = append(list, stream.Event{Kind: e.Kind, Data: e.Data})
		}
	}
	for _, e := range ends {
		list = append(list, stream.Event{Kind: e.Log.Kind, Data: e.Log.Data}, stream.Event{Kind: e.Store.Kind, Data: e.Store.Data})
	}
	return list
}

// Requirements: STREAM-03, API-10
func TestTheDocumentSaysWhatFramesAre(t *testing.T) {
	t.Parallel()
	c, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	schema, err := c.schemas.Compile(contractURL + "#/components/schemas/Frame")
	c.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	fits := func(e stream.Event) error {
		raw, err := json.Marshal(frameOf(e, run.Run{ID: "r", RequestID: "q"}))
		if err != nil {
			t.Fatal(err)
		}
		var frame any
		if err := json.Unmarshal(raw, &frame); err != nil {
			t.Fatal(err)
		}
		return schema.Validate(frame)
	}
	trace, err := stream.New("", stream.TraceData{RawMessage: json.RawMessage(`{"steps":null}`)})
	if err != nil {
		t.Fatal(err)
	}
	asked, err := stream.New("", questionData(run.Interrupt{ID: "i", RunID: "r", Status: run.Pending, WorkflowID: "patch:7"}))
	if err != nil {
		t.Fatal(err)
	}
	all := append(writtenDown(t), trace, asked, stream.Event{Kind: pingKind, Data: json.RawMessage(`{}`)})
	seen := map[stream.Kind]bool{}
	for _, e := range all {
		seen[e.Kind] = true
		if err := fits(e); err != nil {
			t.Errorf("a frame of %s is not what the document says: %#v\n%s", e.Kind, err, e.Data)
		}
	}
	for _, p := range stream.Payloads() {
		if kind := stream.KindOf(p); !seen[kind] {
			t.Errorf("no %s is looked at", kind)
		}
	}
	for kind, data := range map[stream.Kind]string{
		stream.Status: `{"message":"m","done":true}`, stream.Token: `7`, stream.MessageDone: `{"run_id":"r","content":"c","citations":{}}`, "fireworks": `{}`,
	} {
		if fits(stream.Event{Kind: kind, Data: json.RawMessage(data)}) == nil {
			t.Errorf("%s may say %s", kind, data)
		}
	}
}
