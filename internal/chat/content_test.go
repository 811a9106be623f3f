package chat

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"liminal/internal/model"
)

// Requirements: CHAT-07 (text; code; citation; tool_call)
func TestComposeKeepsProseAndCodeInOrderWithOffsets(t *testing.T) {
	t.Parallel()
	text := "Look:\n```go\nx := 1\n```\nDone [1].\n"
	c := Compose(text,
		[]Citation{{N: 1, Source: model.Source{DocumentID: "d", ChunkID: "c", Title: "T", Start: 3, End: 8, Score: 0.9}, Text: "quote"}},
		[]ToolRecord{{Name: "rag.search_v1", Status: "ok", DurationMS: 12, Arguments: json.RawMessage(`{"question":"q"}`)}})
	var kinds []SegmentType
	for _, s := range c.Segments {
		kinds = append(kinds, s.Type)
		if s.Type == SegmentText && text[s.Start:s.End] != s.Text {
			t.Errorf("text[%d:%d] = %q, segment says %q", s.Start, s.End, text[s.Start:s.End], s.Text)
		}
	}
	want := []SegmentType{SegmentText, SegmentCode, SegmentText, SegmentCitation, SegmentToolCall}
	if !reflect.DeepEqual(kinds, want) {
		t.Fatalf("segments are %v, want %v", kinds, want)
	}
	if c.Segments[1].Language != "go" || c.Segments[1].Text != "x := 1\n" {
		t.Errorf("code segment is %+v", c.Segments[1])
	}
}

// Requirements: CHAT-07 (attachment)
func TestALinkToARecordIsAnAttachmentOfTheMessage(t *testing.T) {
	t.Parallel()
	reply := model.Record{Source: "matters", Entity: "deadline", ID: "d91e07", Title: "Reply", Href: "/r/matters/deadline/d91e07"}
	page := model.Record{Source: "matters", Entity: "deadline", ID: "/r/matters/deadline", Title: "Deadlines", Href: "/r/matters/deadline", Action: model.RecordGoes}
	raw, err := json.Marshal(Compose("It is due.", nil, nil).Attach(reply, page, reply).Normalised())
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Segments []json.RawMessage `json:"segments"`
	}
	if err := json.Unmarshal(raw, &kept); err != nil || len(kept.Segments) != 3 {
		t.Fatalf("%s, %v", raw, err)
	}
	for i, want := range []string{
		`{"type":"attachment","kind":"record","uri":"/r/matters/deadline/d91e07","description":"Reply","meta":{"entity":"deadline","id":"d91e07","source":"matters"}}`,
		`{"type":"attachment","kind":"page","uri":"/r/matters/deadline","description":"Deadlines","meta":{"action":"` + model.RecordGoes + `","entity":"deadline","id":"/r/matters/deadline","source":"matters"}}`,
	} {
		if got := string(kept.Segments[i+1]); got != want {
			t.Errorf("it is kept as\n%s, want\n%s", got, want)
		}
	}
	var given Content
	if err := json.Unmarshal([]byte(`{"segments":[
		{"type":"attachment","kind":"file","uri":"/f/1","mime":"application/pdf","description":"The brief","text":"no"},
		{"type":"attachment","kind":"file","description":"leads nowhere"}]}`), &given); err != nil {
		t.Fatal(err)
	}
	want := []Segment{{Type: SegmentAttachment, Kind: "file", URI: "/f/1", MIME: "application/pdf", Description: "The brief"}}
	if got := given.Normalised().Segments; !reflect.DeepEqual(got, want) {
		t.Errorf("given ones become %+v", got)
	}
}

// Requirements: CHAT-09
func TestCitationsAreDerivedFromSegments(t *testing.T) {
	t.Parallel()
	in := []Citation{
		{N: 1, Source: model.Source{DocumentID: "d1", Title: "A", Start: 1, End: 4}, Text: "abc"},
		{N: 2, Source: model.Source{DocumentID: "d2", Title: "B", Page: 3}, Text: "x"},
	}
	raw, err := json.Marshal(Compose("hi [1] [2]", in, nil))
	if err != nil {
		t.Fatal(err)
	}
	var wire struct {
		Citations []Citation `json:"citations"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || !reflect.DeepEqual(wire.Citations, in) {
		t.Fatalf("citations on the wire: %+v, %v; want %+v", wire.Citations, err, in)
	}
	var back Content
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(back.Citations(), in) {
		t.Fatalf("citations after a round trip: %+v, %v", back.Citations(), err)
	}
}

// Requirements: CHAT-08
func TestNormalisedDropsWhatIsNotASegment(t *testing.T) {
	t.Parallel()
	var given Content
	if err := json.Unmarshal([]byte(`{"segments":[
		{"type":"text","text":"keep","colour":"red","language":"go","meta":{"mine":1}},
		{"type":"hologram","text":"drop"},
		{"type":"citation","text":"no source"},
		{"type":"redaction","text":"[redacted]","reason":"policy","policy":"p0"},
		{"type":"text"},{}],"summary":{"highlights":"","mood":"good"}}`), &given); err != nil {
		t.Fatal(err)
	}
	c := given.Normalised()
	if c == nil || len(c.Segments) != 2 {
		t.Fatalf("kept %+v", c)
	}
	raw, _ := json.Marshal(c.Segments[0])
	if got := string(raw); strings.Contains(got, "colour") || strings.Contains(got, "language") || !strings.Contains(got, `"mine":1`) {
		t.Errorf("the text segment became %s", got)
	}
	if c.Summary != nil {
		t.Errorf("a summary without highlights became %+v", c.Summary)
	}
	if c := (&Content{}).Normalised(); c != nil {
		t.Errorf("no segments became %+v", c)
	}
	if c := (*Content)(nil).Normalised(); c != nil {
		t.Errorf("nothing became %+v", c)
	}
}

// Each kind of segment of a whole answer is stored as it was made.
//
// Requirements: CHAT-08
func TestAWholeAnswerIsNormalAlready(t *testing.T) {
	t.Parallel()
	c := Compose("Look:\n```go\nx := 1\n```\nDone [1].\n", []Citation{{N: 1, Source: model.Source{DocumentID: "d", ChunkID: "c", Score: 0.9}, Text: "quote"}},
		[]ToolRecord{{Name: "rag.search_v1", Node: "n", Status: "ok", DurationMS: 12, Arguments: json.RawMessage(`{"question":"q"}`)}}).
		Add(Removed("[removed]", "p0", "secret", "keys", 3))
	c.Summary = &Summary{Highlights: "x is 1."}
	if got := c.Normalised(); len(c.Segments) != 6 || !reflect.DeepEqual(got, c) {
		t.Errorf("%+v became %+v", c, got)
	}
}

func TestUnclosedFenceStaysText(t *testing.T) {
	t.Parallel()
	c := Compose("a\n```go\nb", nil, nil)
	if len(c.Segments) != 1 || c.Segments[0].Text != "a\n```go\nb" {
		t.Errorf("got %+v", c.Segments)
	}
}

// What messages hold of a citation is stored, and what is unknown of it is left
// out.
//
// Requirements: CHAT-09
func TestACitationIsStoredAsItAlwaysWas(t *testing.T) {
	t.Parallel()
	for want, q := range map[string]Citation{
		`{"n":1,"document_id":"d","title":"T","start":0,"end":0,"score":0,"text":"x"}`: {N: 1, Source: model.Source{DocumentID: "d", Title: "T"}, Text: "x"},
		`{"n":2,"document_id":"d","context_id":"c","chunk_id":"k","title":"T","path":"p","heading":"H","page":3,"start":1,"end":2,"score":0.5,"text":"x"}`: {
			N: 2, Text: "x",
			Source: model.Source{DocumentID: "d", ContextID: "c", ChunkID: "k", Title: "T", Path: "p", Heading: "H", Page: 3, Start: 1, End: 2, Score: 0.5},
		},
	} {
		raw, err := json.Marshal(q)
		if err != nil || string(raw) != want {
			t.Errorf("%s, %v\nwant %s", raw, err, want)
		}
	}
}
