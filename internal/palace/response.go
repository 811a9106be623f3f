package palace

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"

	"liminal/internal/capture"
)

// answered is what a response says.
type answered struct {
	model string
	stop  string
	usage Usage
	parts []part
	form  string

	reason string // why the cache was missed, as the backend says
	edited bool   // the backend took something out of the context

	transformed []Transformation // what it changed of the request; nil: it does not say
}

// cacheDoc is what a message says of the cache and of its context.
type cacheDoc struct {
	Diagnostics *struct {
		Reason *struct{ Type string } `json:"cache_miss_reason"`
	}
	Context *struct {
		Edits []json.RawMessage `json:"applied_edits"`
	} `json:"context_management"`
	// Transformed comes at the beginning and, where another model took over, once more
	// at the end, which holds then.
	Transformed json.RawMessage `json:"input_transformations"`
}

func (d cacheDoc) into(a *answered) {
	if d.Diagnostics != nil && d.Diagnostics.Reason != nil {
		a.reason = shortened(d.Diagnostics.Reason.Type)
	}
	a.edited = a.edited || d.Context != nil && len(d.Context.Edits) > 0
	if list, told := transformationsOf(d.Transformed); told {
		a.transformed = list
	}
}

// usageDoc is a usage as the protocol has it.
type usageDoc struct {
	Input    *int64 `json:"input_tokens"`
	Read     *int64 `json:"cache_read_input_tokens"`
	Write    *int64 `json:"cache_creation_input_tokens"`
	Output   *int64 `json:"output_tokens"`
	Creation *struct {
		Five int64 `json:"ephemeral_5m_input_tokens"`
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// into takes over what a later event says: all of it is the state so far, and what is
// missing has not changed.
func (d usageDoc) into(u *Usage) {
	for _, f := range []struct {
		from *int64
		to   *int64
	}{{d.Input, &u.Input}, {d.Read, &u.Read}, {d.Output, &u.Output}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	switch {
	case d.Creation != nil && d.Write != nil && d.Creation.Five+d.Creation.Hour == *d.Write,
		d.Creation != nil && d.Write == nil:
		u.Write5m, u.Write1h = d.Creation.Five, d.Creation.Hour
	case d.Write != nil && *d.Write != u.Write5m+u.Write1h:
		u.Write5m, u.Write1h = *d.Write, 0
	}
}

// frame is an event of a stream, where it stands.
type frame struct {
	capture.Span
	data []byte
}

// frames are the events of a stream, with what separates them, so that all of them
// together are the stream; the last may not be whole.
func frames(b []byte) iter.Seq[frame] {
	return func(yield func(frame) bool) {
		for at := 0; at < len(b); {
			f := frame{Span: capture.Span{From: at, To: len(b)}}
			whole := false
			for line := at; line < len(b); {
				end, next := lineEnd(b, line)
				if end == line { // empty: the event ends
					f.To, whole = next, true
					break
				}
				if data, ok := bytes.CutPrefix(b[line:end], []byte("data:")); ok {
					f.data = append(f.data, bytes.TrimPrefix(data, []byte(" "))...)
				}
				line = next
			}
			if !whole {
				f.data = nil
			}
			if !yield(f) {
				return
			}
			at = f.To
		}
	}
}

// lineEnd is where a line ends, and where the next begins.
func lineEnd(b []byte, at int) (end, next int) {
	i := bytes.IndexAny(b[at:], "\r\n")
	if i < 0 {
		return len(b), len(b)
	}
	end = at + i
	if b[end] == '\r' && end+1 < len(b) && b[end+1] == '\n' {
		return end, end + 2
	}
	return end, end + 1
}

// eventDoc is what is read of an event.
type eventDoc struct {
	Type    string
	Index   int
	Message struct {
		Model string
		Usage usageDoc
		cacheDoc
	}
	Delta map[string]any
	Usage usageDoc
	cacheDoc
}

// readAnswered reads a response: a stream, or a message as JSON.
func readAnswered(kind string, body []byte) (a answered) {
	if !strings.HasPrefix(kind, "text/event-stream") {
		return readMessage(body)
	}
	a.form = FormSSE
	open := map[int]*growing{}
	for f := range frames(body) {
		var e eventDoc
		if len(f.data) == 0 || json.Unmarshal(f.data, &e) != nil {
			continue
		}
		switch e.Type {
		case "message_start":
			a.model = e.Message.Model
			e.Message.Usage.into(&a.usage)
			e.Message.cacheDoc.into(&a)
		case "message_delta":
			if s, ok := e.Delta["stop_reason"].(string); ok {
				a.stop = s
			}
			e.Usage.into(&a.usage)
			e.cacheDoc.into(&a)
		case "content_block_start":
			var exact struct {
				Block json.RawMessage `json:"content_block"`
			}
			_ = json.Unmarshal(f.data, &exact) // it was read once
			block, _ := decoded(exact.Block).(map[string]any)
			if block == nil {
				block = map[string]any{}
			}
			open[e.Index] = &growing{block: block, from: f.From}
		case "content_block_delta":
			if g := open[e.Index]; g != nil {
				g.add(e.Delta)
			}
		case "content_block_stop":
			g := open[e.Index]
			if g == nil {
				continue
			}
			delete(open, e.Index)
			a.parts = append(a.parts, partOf(g.whole(), "assistant", capture.Span{From: g.from, To: f.To}))
		}
	}
	return a
}

// growing is a block whose events come.
type growing struct {
	block map[string]any
	texts map[string]*strings.Builder // of its members, as they were and what came
	input strings.Builder             // JSON
	from  int
}

// add adds a delta.
func (g *growing) add(delta map[string]any) {
	switch delta["type"] {
	case "text_delta":
		g.text("text", delta)
	case "thinking_delta":
		g.text("thinking", delta)
	case "signature_delta":
		g.text("signature", delta)
	case "input_json_delta":
		more, _ := delta["partial_json"].(string)
		g.input.WriteString(more)
	case "citations_delta":
		list, _ := g.block["citations"].([]any)
		g.block["citations"] = append(list, delta["citation"])
	}
}

func (g *growing) text(name string, delta map[string]any) {
	b := g.texts[name]
	if b == nil {
		if g.texts == nil {
			g.texts = map[string]*strings.Builder{}
		}
		b = &strings.Builder{}
		before, _ := g.block[name].(string)
		b.WriteString(before)
		g.texts[name] = b
	}
	more, _ := delta[name].(string)
	b.WriteString(more)
}

// whole is the block as it has come.
func (g *growing) whole() map[string]any {
	for name, b := range g.texts {
		g.block[name] = b.String()
	}
	if g.input.Len() > 0 {
		if input := decoded([]byte(g.input.String())); input != nil {
			g.block["input"] = input
		}
	}
	return g.block
}

// readMessage reads a response that came at once.
func readMessage(body []byte) (a answered) {
	a.form = FormJSON
	var doc struct {
		Type  string
		Model string
		Stop  string `json:"stop_reason"`
		Usage usageDoc
		cacheDoc
	}
	if json.Unmarshal(body, &doc) != nil || doc.Type != "message" {
		return a
	}
	a.model, a.stop = doc.Model, doc.Stop
	doc.Usage.into(&a.usage)
	doc.cacheDoc.into(&a)
	for name, v := range capture.Members(body, 0) {
		if name == "content" {
			a.parts = parts(body, v, "assistant")
		}
	}
	return a
}

// assembled is the block whose events these are, as JSON.
func assembled(events []byte) []byte {
	var g growing
	for f := range frames(events) {
		e, _ := decoded(f.data).(map[string]any)
		switch e["type"] {
		case "content_block_start":
			g.block, _ = e["content_block"].(map[string]any)
		case "content_block_delta":
			if delta, ok := e["delta"].(map[string]any); ok && g.block != nil {
				g.add(delta)
			}
		}
	}
	if g.block != nil {
		g.whole()
	}
	out, err := json.Marshal(g.block)
	if err != nil {
		panic(err) // of what was JSON
	}
	return out
}
