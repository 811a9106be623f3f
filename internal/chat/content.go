package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"liminal/internal/model"
)

// SegmentType is what a segment of a message holds.
type SegmentType string

// The segment types of CHAT-07. The set is closed: others are dropped when a
// message is stored (CHAT-08).
const (
	SegmentText       SegmentType = "text"
	SegmentCode       SegmentType = "code"
	SegmentCitation   SegmentType = "citation"
	SegmentToolCall   SegmentType = "tool_call"
	SegmentAttachment SegmentType = "attachment"
	SegmentRedaction  SegmentType = "redaction"
)

// Segment is one piece of a message. Which fields are set follows from Type;
// anything a caller wants to add goes under Meta.
type Segment struct {
	Type SegmentType `json:"type"`
	Text string      `json:"text,omitempty"`

	Start int      `json:"start,omitempty"` // text: byte offsets into the message's content
	End   int      `json:"end,omitempty"`
	Tags  []string `json:"tags,omitempty"`

	Language string `json:"language,omitempty"` // code

	SourceID string  `json:"source_id,omitempty"` // citation: the document
	ChunkID  string  `json:"chunk_id,omitempty"`
	Score    float64 `json:"score,omitempty"` // 0 to 1

	Name       string          `json:"name,omitempty"` // tool_call
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	DurationMS int64           `json:"duration_ms,omitempty"`
	Status     string          `json:"status,omitempty"`

	Kind        string `json:"kind,omitempty"` // attachment
	URI         string `json:"uri,omitempty"`
	MIME        string `json:"mime,omitempty"`
	Description string `json:"description,omitempty"`

	Reason string `json:"reason,omitempty"` // redaction
	Policy string `json:"policy,omitempty"`

	Meta json.RawMessage `json:"meta,omitempty"`
}

// Citation is a quote and where it stands: Text is exactly the document's text
// from Start to End. N is the marker [N] in the answer.
type Citation struct {
	N int `json:"n"`
	model.Source
	Text string `json:"text"`
	// Record is what is cited where it is no document: a record of a tool's result,
	// told by Text (GRND-16).
	Record *SourceRecord `json:"record,omitempty"`
}

// SourceRecord is a record of a data.source, as a citation names it.
type SourceRecord struct {
	Source string `json:"source"`
	Entity string `json:"entity"`
	ID     string `json:"id"`
	Title  string `json:"title"`
	Href   string `json:"href" doc:"its page; empty: it has none"`
}

// ToolRecord is a call of a tool as a message keeps it, for replay and audit
// (TOOL-14).
type ToolRecord struct {
	Name       string          `json:"name"`
	Node       string          `json:"node,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	Status     string          `json:"status"`            // "ok" or "error"
	Summary    string          `json:"summary,omitempty"` // the result in a few words
	DurationMS int64           `json:"duration_ms"`
	Mutating   bool            `json:"mutating,omitempty"` // the tool changes something (GRND-49)
	Approved   bool            `json:"approved,omitempty"` // a person approved this very call
}

// Content is a message's structured form (CHAT-07). Its JSON also carries
// `citations`, derived from the citation segments for the client (CHAT-09).
type Content struct {
	Segments []Segment `json:"segments"`
	Summary  *Summary  `json:"summary,omitempty"`
}

// Summary is what a long answer comes to (CHAT-07); a short one has none.
type Summary struct {
	Highlights string `json:"highlights" doc:"sentences of the answer that say most of what it says, in its order"`
}

// Compose builds the structured form of an answer: its prose and code in
// order, then what it cites, then the tools that were called.
func Compose(text string, citations []Citation, tools []ToolRecord) *Content {
	c := &Content{Segments: prose(text)}
	for _, q := range citations {
		c.Segments = append(c.Segments, q.segment())
	}
	for _, t := range tools {
		s := Segment{
			Type: SegmentToolCall, Name: t.Name, Arguments: t.Arguments,
			Result: t.Result, DurationMS: t.DurationMS, Status: t.Status,
		}
		meta := map[string]string{}
		if t.Node != "" {
			meta["node"] = t.Node
		}
		if t.Summary != "" {
			meta["summary"] = t.Summary
		}
		if t.Mutating {
			meta["mutating"] = "true"
		}
		if t.Approved {
			meta["approved"] = "true"
		}
		if len(meta) > 0 {
			s.Meta, _ = json.Marshal(meta)
		}
		c.Segments = append(c.Segments, s)
	}
	return c
}

// ReadCitations reads a tool's or graph's citations list; entries that are
// not citations of a document or a record are dropped, because a chip may exist only for
// a source this turn returned.
func ReadCitations(list []any) []Citation {
	var out []Citation
	for _, e := range list {
		raw, err := json.Marshal(e)
		if err != nil {
			continue
		}
		var c Citation
		if json.Unmarshal(raw, &c) != nil || c.N < 1 || c.DocumentID == "" && (c.Record == nil || c.Record.ID == "") {
			continue
		}
		out = append(out, c)
	}
	return out
}

// KindRecord is the kind of an attachment that is a record of a source: URI is
// its page, Description what the link is called, and Meta its source, entity and
// id.
const KindRecord = "record"

// KindPage is the kind of one that leads to a page of a source that is no
// record's.
const KindPage = "page"

// ReadRecords reads the records of a citations list: {"record": {source, entity,
// id, title, href}} without a number. One without a page is no link.
func ReadRecords(list []any) []model.Record {
	var out []model.Record
	for _, e := range list {
		raw, err := json.Marshal(e)
		if err != nil {
			continue
		}
		var in struct {
			N      int           `json:"n"`
			Record *model.Record `json:"record"`
		}
		if json.Unmarshal(raw, &in) != nil || in.N > 0 || in.Record == nil || in.Record.Href == "" || in.Record.ID == "" {
			continue
		}
		out = append(out, *in.Record)
	}
	return out
}

// Attach adds links to records, each once.
func (c *Content) Attach(records ...model.Record) *Content {
	seen := map[string]bool{}
	for _, r := range records {
		if seen[r.Href] {
			continue
		}
		seen[r.Href] = true
		of, kind := map[string]string{"source": r.Source, "entity": r.Entity, "id": r.ID}, KindRecord
		if r.Action != "" && r.Action != model.RecordOpens {
			of["action"], kind = r.Action, KindPage
		}
		meta, _ := json.Marshal(of)
		c.Segments = append(c.Segments, Segment{Type: SegmentAttachment, Kind: kind, URI: r.Href, Description: r.Title, Meta: meta})
	}
	return c
}

func (q Citation) segment() Segment {
	meta, _ := json.Marshal(q)
	if q.Record != nil {
		return Segment{Type: SegmentCitation, Text: q.Text, SourceID: q.Record.ID, Meta: meta}
	}
	return Segment{
		Type: SegmentCitation, Text: q.Text, SourceID: q.DocumentID,
		ChunkID: q.ChunkID, Score: q.Score, Meta: meta,
	}
}

// Citations are the citations of c, in the order of their segments.
func (c *Content) Citations() []Citation {
	out := []Citation{}
	if c == nil {
		return out
	}
	for _, s := range c.Segments {
		if s.Type != SegmentCitation {
			continue
		}
		q := Citation{N: len(out) + 1, Text: s.Text, Source: model.Source{DocumentID: s.SourceID, ChunkID: s.ChunkID, Score: s.Score}}
		if s.Meta != nil {
			if strings.Contains(string(s.Meta), `"record"`) {
				q.DocumentID = "" // the id is the record's
			}
			_ = json.Unmarshal(s.Meta, &q) // foreign meta leaves the segment's own fields
		}
		out = append(out, q)
	}
	return out
}

// MarshalJSON adds the derived citations.
func (c *Content) MarshalJSON() ([]byte, error) {
	type plain Content
	segments := c.Segments
	if segments == nil {
		segments = []Segment{}
	}
	return json.Marshal(struct {
		*plain
		Segments  []Segment  `json:"segments"`
		Citations []Citation `json:"citations"`
	}{(*plain)(c), segments, c.Citations()})
}

// Normalised is c as it is stored (CHAT-08): segments of an unknown type, or
// without what their type needs, are dropped, and the others keep the fields of
// their type and what stands under meta. Content without segments is nil.
func (c *Content) Normalised() *Content {
	if c == nil || c.Segments == nil {
		return nil
	}
	out := &Content{Segments: make([]Segment, 0, len(c.Segments))}
	if c.Summary != nil && c.Summary.Highlights != "" {
		out.Summary = c.Summary
	}
	for _, s := range c.Segments {
		if s.valid() {
			out.Segments = append(out.Segments, s.only())
		}
	}
	return out
}

func (s Segment) valid() bool {
	switch s.Type {
	case SegmentText, SegmentCode, SegmentRedaction:
		return s.Text != ""
	case SegmentCitation:
		return s.SourceID != ""
	case SegmentToolCall:
		return s.Name != ""
	case SegmentAttachment:
		return s.URI != ""
	default:
		return false
	}
}

// only keeps the fields that belong to the segment's type.
func (s Segment) only() Segment {
	switch s.Type {
	case SegmentText:
		return Segment{Type: s.Type, Text: s.Text, Start: s.Start, End: s.End, Tags: s.Tags, Meta: s.Meta}
	case SegmentCode:
		return Segment{Type: s.Type, Text: s.Text, Language: s.Language, Meta: s.Meta}
	case SegmentCitation:
		return Segment{Type: s.Type, Text: s.Text, SourceID: s.SourceID, ChunkID: s.ChunkID, Score: s.Score, Meta: s.Meta}
	case SegmentToolCall:
		return Segment{Type: s.Type, Name: s.Name, Arguments: s.Arguments, Result: s.Result, DurationMS: s.DurationMS, Status: s.Status, Meta: s.Meta}
	case SegmentAttachment:
		return Segment{Type: s.Type, Kind: s.Kind, URI: s.URI, MIME: s.MIME, Description: s.Description, Meta: s.Meta}
	default:
		return Segment{Type: s.Type, Text: s.Text, Reason: s.Reason, Policy: s.Policy, Meta: s.Meta}
	}
}

// prose cuts Markdown into text and fenced code, with byte offsets.
func prose(text string) []Segment {
	out := []Segment{}
	var code, open int
	language, fenced := "", false
	start := 0
	flush := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			out = append(out, Segment{Type: SegmentText, Text: text[start:end], Start: start, End: end, Tags: []string{"markdown"}})
		}
	}
	for at := 0; at < len(text); {
		end := at + strings.IndexByte(text[at:], '\n') + 1
		if end <= at {
			end = len(text)
		}
		line := strings.TrimSpace(text[at:end])
		switch {
		case !fenced && strings.HasPrefix(line, "```"):
			fenced, language, open, code = true, strings.TrimSpace(strings.TrimLeft(line, "`")), at, end
		case fenced && line == "```":
			flush(open)
			out = append(out, Segment{Type: SegmentCode, Text: text[code:at], Language: language})
			fenced, start = false, end
		}
		at = end
	}
	flush(len(text))
	return slices.Clip(out)
}

// Removed is the segment of a span that was taken out of an answer (SAFE-03):
// what stands for it, why, and the byte of the content it begins at.
func Removed(text, policy, reason, rule string, start int) Segment {
	meta, _ := json.Marshal(map[string]any{"rule": rule, "start": start, "end": start + len(text)})
	return Segment{Type: SegmentRedaction, Text: text, Policy: policy, Reason: reason, Meta: meta}
}

// Withheld reports whether people were not shown what the assistant said: the
// message was suppressed, or something else stands in its place as a whole.
func (m Message) Withheld() bool {
	if m.Meta["suppressed"] == true {
		return true
	}
	return m.Struct != nil && slices.ContainsFunc(m.Struct.Segments, func(s Segment) bool {
		return s.Type == SegmentRedaction && s.Text != "" && s.Text == strings.TrimSpace(m.Content)
	})
}

// Risk is how much the turn of an answer was to be worried about; empty: not at
// all, or nobody looked.
func (m Message) Risk() string {
	judged, _ := m.Meta["safety"].(map[string]any)
	risk, _ := judged["risk"].(string)
	return risk
}

// Strange reports whether the answer was made with what a stranger wrote, as the
// specs said of the tools that its turn called (TRAIN-13).
func (m Message) Strange() bool { return m.Meta["strange"] == true }

// Add appends segments and returns c.
func (c *Content) Add(segments ...Segment) *Content {
	c.Segments = append(c.Segments, segments...)
	return c
}
