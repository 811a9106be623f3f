package palace

import (
	"cmp"
	"encoding/json"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"liminal/internal/capture"
	"liminal/internal/view"
)

const (
	// mostReaders bounds how many exchanges are read at once.
	mostReaders = 4
	// mostParts bounds the parts of messages that are remembered.
	mostParts = 20_000
)

// reader reads exchanges, several at once. What it remembers follows from bytes alone:
// it is right whatever becomes of a transaction.
type reader struct {
	mu    sync.Mutex
	known map[string]knownSpan // by the hash of the bytes
	parts int                  // of all of them together
	// brought are the chunks that an exchange before brings already.
	brought map[string]struct{}
}

// knownSpan is what a message, a system prompt or a list of tools says; the spans of
// its parts begin at its own first byte.
type knownSpan struct {
	parts   []part
	types   []string          // of tools
	offered []view.PromptPart // tools as the cache sees them
}

func newReader() *reader {
	return &reader{known: map[string]knownSpan{}, brought: map[string]struct{}{}}
}

// prepare reads exchanges, as far as that depends on nothing but themselves: the
// transaction that takes them in need not wait for it.
func (r *reader) prepare(list []*capture.Exchange) ([]taking, error) {
	out, errs := make([]taking, len(list)), make([]error, len(list))
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(len(list), mostReaders, runtime.GOMAXPROCS(0)) {
		done.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(list); n = int(next.Add(1)) - 1 {
				out[n], errs[n] = r.taking(list[n])
			}
		})
	}
	done.Wait()
	for n, err := range errs {
		if err != nil {
			return nil, errOf(list[n].Request.ID, err)
		}
	}
	return out, nil
}

// taking makes of an exchange what is put into the store.
func (r *reader) taking(raw *capture.Exchange) (t taking, err error) {
	t.e = Exchange{
		ID: raw.Request.ID, Name: raw.Request.Agent, Run: raw.Request.Run, Method: raw.Request.Method, Path: raw.Request.Path, Query: raw.Request.Query,
		Status: raw.Response.Status, StartedAt: raw.Request.Started, Masked: raw.Masked, RequestID: cmp.Or(raw.Response.Header.Get("Request-Id"), raw.Response.Header.Get("X-Request-Id")),
		Asked: Kept{Size: raw.Request.Size, Lost: raw.Request.Lost}, Answered: Kept{Size: raw.Response.Size, Lost: raw.Response.Lost},
	}
	if end := raw.Ending; end != nil {
		t.e.EndedAt, t.e.Complete, t.e.CutBy, t.e.Error = &end.Ended, end.Complete, end.CutBy, end.Error
	} else if t.e.Answered.Lost == "" {
		t.e.CutBy = CutByProxy
	}
	var spans []hashedSpan
	if raw.Asked != nil {
		re, where := recipeOf(raw.Asked)
		for n, hash := range re.chunks() {
			spans = append(spans, hashedSpan{where[n], hash})
		}
		if raw.Request.Lost == "" {
			t.e.Asked.Hash = hashOf(raw.Asked)
			if t.e.Recipe, err = re.pack(); err != nil {
				return t, err
			}
		}
	}
	t.asked = r.readRequest(raw.Request.Path, raw.Asked, spans)
	t.sums = digests(t.asked.messages)
	t.e.Kind, t.who = kindOf(raw.Request, t.asked, raw.Asked), whoOf(raw.Request, t.asked)
	t.e.Project, t.e.Model = t.who.project, t.asked.model
	if t.e.Answered.Lost == "" {
		t.answer = readResponse(raw.Request.Path, raw.Response.Header.Get("Content-Type"), raw.Answered)
		t.e.Stop, t.e.Usage = t.answer.stop, t.answer.usage
		if t.answer.model != "" {
			t.e.Model = t.answer.model
		}
	}
	if len(raw.Answered) > 0 {
		t.e.Answered.Hash = hashOf(raw.Answered)
	}
	if t.e.Sent, err = sentOf(raw.Sent); err != nil {
		return t, err
	}
	t.prompt, t.subscription = r.sentPrompt(raw, t.asked), subscribed(raw)
	if s := raw.Sent; s != nil && s.Sum != "" {
		t.whole, t.opens, t.less = promptOf(raw, t.asked), s.Opens && s.Epoch == 1, int(raw.Request.Size-s.Size)
	}
	wire, err := json.Marshal(Wire{raw.Request.Header, raw.Response.Header, raw.Response.Marks, t.answer.transformed})
	if err != nil {
		return t, err
	}
	if t.e.Wire, err = packed(wire); err != nil {
		return t, err
	}
	return t, r.chunks(&t, raw, spans)
}

// hashedSpan is a span of a body that is kept as a chunk.
type hashedSpan struct {
	capture.Span
	hash string
}

// chunks puts aside the bytes that an exchange brings, and says of each part in which
// of them it lies. Where it lies in one that is kept anyway, it is not kept again.
func (r *reader) chunks(t *taking, raw *capture.Exchange, spans []hashedSpan) error {
	for _, s := range spans {
		if err := r.bring(t, s.hash, raw.Asked[s.From:s.To]); err != nil {
			return err
		}
	}
	if t.e.Answered.Hash != "" {
		if err := r.bring(t, t.e.Answered.Hash, raw.Answered); err != nil {
			return err
		}
	}
	for i := range t.answer.parts {
		p := &t.answer.parts[i]
		p.chunk, p.start = t.e.Answered.Hash, p.span.From
	}
	for _, list := range [][]part{t.asked.system, t.asked.tools, t.asked.messages} {
		for i := range list {
			p := &list[i]
			n, _ := slices.BinarySearchFunc(spans, p.span.From, func(s hashedSpan, from int) int { return s.To - from - 1 })
			if n < len(spans) && spans[n].From <= p.span.From && p.span.To <= spans[n].To {
				p.chunk, p.start = spans[n].hash, p.span.From-spans[n].From
				continue
			}
			body := raw.Asked[p.span.From:p.span.To]
			p.chunk, p.start = hashOf(body), 0
			if err := r.bring(t, p.chunk, body); err != nil {
				return err
			}
		}
	}
	return nil
}

// bring adds a chunk to what an exchange brings, unless another one does.
func (r *reader) bring(t *taking, hash string, body []byte) error {
	r.mu.Lock()
	_, there := r.brought[hash]
	if !there {
		if len(r.brought) >= mostKnown {
			clear(r.brought)
		}
		r.brought[hash] = struct{}{}
	}
	r.mu.Unlock()
	if there {
		return nil
	}
	p, err := packed(body)
	t.chunks = append(t.chunks, Chunk{Hash: hash, Size: len(body), Packed: p})
	return err
}

// forget is said when chunks may have gone: what comes again is brought again.
func (r *reader) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.brought)
}

// readAsked reads the body of a request for messages. What it cannot read it leaves
// out: nothing of an exchange depends on its being understood.
func (r *reader) readAsked(body []byte, spans []hashedSpan) (a asked) {
	for name, v := range capture.Members(body, 0) {
		raw := body[v.From:v.To]
		a.note(name, raw)
		switch name {
		case "system":
			a.system = r.read(body, v, spans, func(raw []byte) knownSpan {
				return knownSpan{parts: parts(raw, capture.Span{To: len(raw)}, "system")}
			}).parts
		case "tools":
			k := r.read(body, v, spans, readTools)
			a.tools, a.list, a.offered = k.parts, k.types, k.offered
		case "messages":
			a.messages, a.counts = nil, nil
			for e := range capture.Elements(body, v.From) {
				list := r.read(body, e, spans, func(raw []byte) knownSpan {
					return knownSpan{parts: message(raw, capture.Span{To: len(raw)})}
				}).parts
				a.messages, a.counts = append(a.messages, list...), append(a.counts, len(list))
			}
		default:
			a.setting(name, raw)
		}
	}
	return a
}

// read reads a span of a body by one of the functions above, unless it is known what
// that said: a conversation sends it again and again.
func (r *reader) read(body []byte, at capture.Span, spans []hashedSpan, by func(raw []byte) knownSpan) (k knownSpan) {
	n, found := slices.BinarySearchFunc(spans, at.From, func(s hashedSpan, from int) int { return s.From - from })
	hash := ""
	if found && spans[n].To == at.To {
		hash = spans[n].hash
	} else {
		hash = hashOf(body[at.From:at.To])
	}
	r.mu.Lock()
	k, found = r.known[hash]
	r.mu.Unlock()
	if !found {
		k = by(body[at.From:at.To])
		r.remember(hash, k)
	}
	k.parts = slices.Clone(k.parts)
	for i := range k.parts {
		k.parts[i].span.From += at.From
		k.parts[i].span.To += at.From
	}
	return k
}

func (r *reader) remember(hash string, k knownSpan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts += len(k.parts) + 1; r.parts > mostParts {
		clear(r.known)
		r.parts = len(k.parts) + 1
	}
	r.known[hash] = k
}

// readTools reads a list of tools, which is one block.
func readTools(raw []byte) (k knownSpan) {
	k.parts = toolsPart(raw, capture.Span{To: len(raw)})
	for e := range capture.Elements(raw, 0) {
		var t struct{ Type, Name string }
		_ = json.Unmarshal(raw[e.From:e.To], &t) // then neither
		k.types = append(k.types, t.Type)
	}
	k.offered = offeredTools(raw)
	return k
}
