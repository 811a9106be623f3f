package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// heardText is what a client has at the end of a stream.
type heardText struct {
	text   string
	failed string // the protocol's error; empty: none
	ended  int    // how often the stream said that it is over
}

// client is a protocol: how it is written, and how its clients read it.
type client struct {
	name   string
	words  func(p played) encoder
	read   func(t *testing.T, body string) heardText
	whole  bool // it has an answer that is not streamed
	stops  bool // that a person stopped the run is an error
	spaces bool // what is between parts is not text
}

func clientsOf() []client {
	asked := func(p played) func() ([]run.Interrupt, error) {
		return func() ([]run.Interrupt, error) { return p.asked, nil }
	}
	ended := func(string) {}
	return []client{
		{name: "grounded", words: func(played) encoder { return &groundedEncoder{turn: "t"} }, read: readGrounded, stops: true},
		{name: "lines", words: func(p played) encoder { return &sessionEncoder{session: "s", run: "r", asked: asked(p)} }, read: readLines, stops: true, spaces: true},
		{name: "OpenAI's completions", words: func(p played) encoder { return &completionEncoder{id: "c", asked: asked(p), ended: ended} }, read: readChunks, whole: true},
		{name: "OpenAI's responses", words: func(p played) encoder {
			return &responseEncoder{part: "p", last: -1, seen: -1, asked: asked(p), ended: ended}
		}, read: readResponse, whole: true, stops: true},
		{name: "Anthropic's messages", words: func(p played) encoder { return &messageEncoder{id: "m", asked: asked(p), ended: ended} }, read: readAnthropic, whole: true},
	}
}

// writes are the bytes of a stream.
func writes(t *testing.T, words encoder, log []entry) string {
	t.Helper()
	var body strings.Builder
	for _, e := range log {
		pieces, err := words.encode(e.Event)
		for _, piece := range pieces {
			body.Write(piece)
		}
		if errors.Is(err, errOver) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return body.String()
}

// eachEvent goes through server-sent events.
func eachEvent(t *testing.T, body string, see func(name string, data []byte)) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		name, data := "", ""
		for line := range strings.SplitSeq(block, "\n") {
			if rest, ok := strings.CutPrefix(line, "event: "); ok {
				name = rest
			} else if rest, ok := strings.CutPrefix(line, "data: "); ok {
				data = rest
			}
		}
		if data == "" && body != "" {
			t.Fatalf("an event without data: %q", block)
		}
		see(name, []byte(data))
	}
}

func unjson(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

func readGrounded(t *testing.T, body string) (h heardText) {
	eachEvent(t, body, func(name string, data []byte) {
		var got struct {
			Text, Message string
			Code          string `json:"error_code"`
		}
		unjson(t, data, &got)
		switch name {
		case "content_delta":
			h.text += got.Text
		case "end", "error":
			h.ended++
			h.failed = got.Code
		}
	})
	return h
}

func readLines(t *testing.T, body string) (h heardText) {
	for line := range strings.Lines(body) {
		var got struct{ Type, Delta, Message string }
		unjson(t, []byte(line), &got)
		switch got.Type {
		case "text":
			h.text += got.Delta
		case "tool_use":
			h.text += "\n"
		case "session", "error":
			h.ended++
			h.failed = got.Message
		}
	}
	return h
}

func readChunks(t *testing.T, body string) (h heardText) {
	eachEvent(t, body, func(_ string, data []byte) {
		if string(data) == "[DONE]" {
			h.ended++
			return
		}
		var got struct {
			CompletionChunk
			Error *OpenAIReason
		}
		unjson(t, data, &got)
		if got.Error != nil {
			h.ended++
			h.failed = got.Error.Message
		}
		for _, c := range got.Choices {
			h.text += value(c.Delta.Content)
		}
	})
	return h
}

func readResponse(t *testing.T, body string) (h heardText) {
	var deltas, items []string
	eachEvent(t, body, func(name string, data []byte) {
		var got struct {
			Type, Delta, Text string
			Response          *Response
		}
		unjson(t, data, &got)
		switch name {
		case "response.content_part.added":
			deltas = append(deltas, "")
		case "response.output_text.delta":
			deltas[len(deltas)-1] += got.Delta
		case "response.completed", "response.incomplete", "response.failed":
			h.ended++
			items = responseTexts(*got.Response)
			if name == "response.failed" {
				h.failed = got.Response.Error.V.Message
			} else if got.Response.Status == statusCancelled {
				h.failed = statusCancelled
			}
		}
	})
	if h.failed == "" && !slices.Equal(items, deltas) {
		t.Fatalf("its pieces are %q and its items %q", deltas, items)
	}
	h.text = strings.TrimSpace(strings.Join(deltas, "\n\n"))
	return h
}

func responseTexts(r Response) (texts []string) {
	for _, item := range r.Output {
		if item.Type == "message" && len(item.Content) > 0 { // it was said to its end
			texts = append(texts, item.Content[0].Text)
		}
	}
	return texts
}

func readAnthropic(t *testing.T, body string) (h heardText) {
	var blocks []string
	open, began := false, false
	eachEvent(t, body, func(name string, data []byte) {
		var got struct {
			Type  string
			Index int
			Delta struct {
				Text       string
				StopReason string `json:"stop_reason"`
			}
			Error AnthropicReason
		}
		unjson(t, data, &got)
		if got.Type != name || h.ended > 0 || began == (name == "message_start") {
			t.Fatalf("%s out of place in %s", name, body)
		}
		began = true
		switch name {
		case "content_block_start":
			if open || got.Index != len(blocks) {
				t.Fatalf("block %d begins in %s", got.Index, body)
			}
			open, blocks = true, append(blocks, "")
		case "content_block_delta":
			if !open || got.Index != len(blocks)-1 {
				t.Fatalf("block %d goes on in %s", got.Index, body)
			}
			blocks[got.Index] += got.Delta.Text
		case "content_block_stop":
			open = false
		case "message_delta":
			if open || got.Delta.StopReason == "" {
				t.Fatalf("no reason, or a block is open: %s", body)
			}
		case "message_stop":
			h.ended++
		case "error":
			h.ended++
			h.failed = got.Error.Type
		}
	})
	h.text = strings.Join(blocks, "\n\n")
	return h
}

// means is the text that a log comes to: the parts that were said whole, the
// stored answer, and the question where it waits.
func (p played) means(whole int) string {
	list := slices.Clone(p.parts[:whole])
	list = append(list, p.final())
	if len(p.asked) > 0 {
		list = append(list, askedAll(p.asked, "en"))
	}
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), "\n\n")
}

// atOnce is the answer of a run whose words nobody streamed.
func (p played) atOnce() string {
	if len(p.asked) > 0 {
		return askedAll(p.asked, "en")
	}
	return p.final()
}

// alike compares texts but for the space around them, or for all space.
func alike(a, b string, spaces bool) bool {
	if spaces {
		return plain(a) == plain(b)
	}
	return strings.TrimSpace(a) == strings.TrimSpace(b)
}

func plain(s string) string { return strings.Join(strings.Fields(s), "") }

// judge says what is wrong with what a client heard of a log that is cut after an
// event, or is not; empty: nothing.
func (p played) judge(c client, log []entry, h heardText, cut int) string {
	gap := cut < len(p.log)
	whole := len(p.parts) - 1
	if gap {
		whole = min(whole, p.whole(p.log[:cut]))
	}
	switch {
	case h.ended != 1:
		return fmt.Sprintf("it ends %d times", h.ended)
	case strings.Contains(h.text, "hidden"):
		return "it shows what is hidden"
	case p.end == stream.Error || p.end == stream.CancelAck && c.stops:
		if h.failed == "" {
			return "it hides that the run failed"
		}
		if alike(h.text, p.means(whole), c.spaces) {
			return ""
		}
		return p.unmixed(log, h.text)
	case h.failed != "":
		begun := slices.ContainsFunc(p.log[:cut], func(e entry) bool { return e.Kind == stream.Token && e.part >= whole && e.part < len(p.parts)-1 })
		if !begun && !p.contradicts(log) {
			return "it fails with " + h.failed + ", though nothing was taken back"
		}
		return p.unmixed(log, h.text)
	case p.skipped: // what was said before the question stays
		return p.unmixed(log, h.text)
	case gap && len(p.asked) > 0: // what was said before the question is kept nowhere else
		asked := plain(askedAll(p.asked, "en"))
		before, ok := strings.CutSuffix(plain(h.text), asked)
		if !ok {
			return "it does not end with the question"
		}
		return p.unmixed(log, before)
	case !alike(h.text, p.means(whole), c.spaces):
		return fmt.Sprintf("it is not %q", p.means(whole))
	}
	return ""
}

// unmixed says whether a text that ends before its end is of what was said: the
// parts before, and then one attempt at the next.
func (p played) unmixed(log []entry, text string) string {
	text = plain(text)
	before := ""
	for part, attempts := range p.attempts(log) {
		attempts = append(attempts, p.parts[part])
		if rest, ok := strings.CutPrefix(text, before); ok && slices.ContainsFunc(attempts, func(a string) bool { return strings.HasPrefix(plain(a), rest) }) {
			return ""
		}
		before += plain(p.parts[part])
	}
	return "it mixes what was said at different times"
}

// Whatever happens to a run, and wherever, what a client ends with is the stored
// answer or its protocol's error, and never a text of two attempts.
//
// Requirements: STREAM-24 (missed events are replayed), STREAM-28 (paliadin; NDJSON), STREAM-32
func TestEveryDialectEndsWithTheStoredAnswerOrFails(t *testing.T) {
	t.Parallel()
	logs := make([]played, 1000/logsLess)
	for i := range logs {
		logs[i] = compose(uint64(i))
	}
	for _, c := range clientsOf() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failed, whole, cuts := 0, 0, 0
			for seed, p := range logs {
				for at := range len(p.log) + 1 {
					log, cut := p.crashed(at), len(p.log)
					if (seed+at)%2 == 0 && at < len(p.log) {
						log, cut = p.forgotten(at), at
					}
					h := c.read(t, writes(t, c.words(p), log))
					if wrong := p.judge(c, log, h, cut); wrong != "" {
						t.Fatalf("log %d after event %d, forgotten from %d: %s\n%s\nheard %q", seed, at, cut, wrong, lines(log), h.text)
					}
					cuts++
					if h.failed != "" {
						failed++
					} else {
						whole++
					}
				}
				if d, ok := c.words(p).(dialect); ok != c.whole {
					t.Fatalf("it tells an answer at once: %v", ok)
				} else if ok && p.end != stream.Error {
					answer, err := d.whole(p.last)
					if err != nil || !alike(wholeText(t, answer), p.atOnce(), false) {
						t.Fatalf("log %d: at once it is %+v, %v, not %q", seed, answer, err, p.atOnce())
					}
				}
			}
			if failed*10 < cuts || whole*2 < cuts {
				t.Errorf("of %d streams %d fail and %d are whole: the logs prove little", cuts, failed, whole)
			}
		})
	}
}

// What was said before a question is taken back, and nothing is said instead.
//
// Requirements: STREAM-32
func TestAQuestionDoesNotFollowWordsThatWereTakenBack(t *testing.T) {
	t.Parallel()
	asks := func(reason string) []entry {
		p := played{asked: []run.Interrupt{{ID: "q", Message: "Which?"}}}
		c := &composer{played: p}
		c.add(stream.Token, "I think")
		c.add(stream.Reset, stream.ResetData{Reason: reason})
		c.add(stream.Interrupt, chat.Asked(p.asked[0]))
		c.add(stream.Paused, stream.PausedData{InterruptIDs: []string{"q"}})
		return c.log
	}
	for _, c := range clientsOf() {
		p := played{asked: []run.Interrupt{{ID: "q", Message: "Which?"}}}
		if h := c.read(t, writes(t, c.words(p), asks(stream.ResetRetry))); h.failed == "" || plain(h.text) != "Ithink" {
			t.Errorf("%s: %+v", c.name, h)
		}
		if h := c.read(t, writes(t, c.words(p), asks(stream.ResetGap))); h.failed != "" || plain(h.text) != "IthinkWhich?" {
			t.Errorf("%s, of what is lost: %+v", c.name, h)
		}
	}
}

// A reader of a protocol that goes on where it was reads the same in two pieces.
//
// Requirements: STREAM-24 (missed events are replayed)
func TestAGroundedReaderThatComesBackReadsTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000 / logsLess) {
		p := compose(seed)
		want := writes(t, &groundedEncoder{turn: "t"}, p.log)
		for at := range p.log {
			head := writes(t, &groundedEncoder{turn: "t"}, p.log[:at])
			var after int64
			if at := strings.LastIndex(head, "id: "); at >= 0 {
				id, _, _ := strings.Cut(head[at+len("id: "):], "\n")
				unjson(t, []byte(id), &after)
			}
			if got := head + writes(t, &groundedEncoder{turn: "t", after: after}, p.log); after > 0 && got != want {
				t.Fatalf("log %d, back after %d:\n%s\nwant\n%s", seed, after, got, want)
			}
		}
	}
}

func lines(log []entry) string {
	var b strings.Builder
	for _, e := range log {
		fmt.Fprintf(&b, "%d %s %s\n", e.Seq, e.Kind, e.Data)
	}
	return b.String()
}

// wholeText is the text of an answer that is given at once.
func wholeText(t *testing.T, answer any) (text string) {
	t.Helper()
	switch a := answer.(type) {
	case Completion:
		return value(a.Choices[0].Message.Content)
	case Response:
		return strings.Join(responseTexts(a), "\n\n")
	case MessageAnswer:
		for _, b := range a.Content {
			text += value(b.Text)
		}
	default:
		t.Fatalf("%T is no answer", answer)
	}
	return text
}
