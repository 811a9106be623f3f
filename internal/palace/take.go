package palace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"liminal/internal/capture"
	"liminal/internal/id"
	"liminal/internal/view"
)

// candidates is how many lineages of a session are looked at for one that goes on.
const candidates = 32

// taking takes one exchange in.
type taking struct {
	tx     Tx
	memory *memory
	raw    *capture.Exchange
	e      Exchange
	asked  asked
	answer answered
	who    who
	spans  []capture.Span // of the body that are chunks

	prompt       view.Prompt // what was sent
	whole        view.Prompt // the client's own, where that was not sent
	less         int         // how many bytes of it were not
	subscription bool
}

// take puts an exchange into the store, and gives the lineage that grew by it; one
// that is there already is left alone.
func take(tx Tx, m *memory, raw *capture.Exchange) (lineage string, err error) {
	known, err := tx.Has(raw.Request.ID)
	if err != nil || known {
		return "", err
	}
	t := &taking{tx: tx, memory: m, raw: raw}
	if err := t.read(); err != nil {
		return "", err
	}
	err = t.put()
	return t.e.LineageID, err
}

// put writes the exchange and what it brings.
func (t *taking) put() (err error) {
	var l *known
	history := t.e.Kind == Main || t.e.Kind == Subagent
	if history {
		l, err = t.lineage()
	} else if t.who.named {
		err = t.beside()
	}
	if err != nil {
		return err
	}
	if l != nil {
		t.e.LineageID, t.e.AgentID, t.e.Number = l.ID, l.AgentID, l.Exchanges+1
	}
	if err := t.charge(l); err != nil {
		return err
	}
	if err := t.tx.PutExchange(t.e); err != nil {
		return err
	}
	if t.e.Sent != nil {
		if err := t.tx.PutSent(t.e.ID, *t.e.Sent); err != nil {
			return err
		}
	}
	if err := t.store(); err != nil || l == nil {
		return err
	}
	return t.grow(l)
}

// read makes the exchange of what the spool has.
func (t *taking) read() error {
	r := t.raw
	t.e = Exchange{
		ID: r.Request.ID, Name: r.Request.Agent, Run: r.Request.Run, Method: r.Request.Method, Path: r.Request.Path, Query: r.Request.Query,
		Status: r.Response.Status, StartedAt: r.Request.Started, Masked: r.Masked, RequestID: r.Response.Header.Get("Request-Id"),
		Asked: Kept{Size: r.Request.Size, Lost: r.Request.Lost}, Answered: Kept{Size: r.Response.Size, Lost: r.Response.Lost},
	}
	if end := r.Ending; end != nil {
		t.e.EndedAt, t.e.Complete, t.e.CutBy, t.e.Error = &end.Ended, end.Complete, end.CutBy, end.Error
	} else if t.e.Answered.Lost == "" {
		t.e.CutBy = CutByProxy
	}
	t.asked = readAsked(r.Asked)
	t.e.Kind, t.who = kindOf(r.Request, t.asked, r.Asked), whoOf(r.Request, t.asked)
	t.e.Project, t.e.Model = t.who.project, t.asked.model
	if t.e.Answered.Lost == "" {
		t.answer = readAnswered(r.Response.Header.Get("Content-Type"), r.Answered)
		t.e.Stop, t.e.Usage = t.answer.stop, t.answer.usage
		if t.answer.model != "" {
			t.e.Model = t.answer.model
		}
	}
	t.prompt, t.subscription = promptOf(r, t.asked), subscribed(r)
	if r.Sent != nil && r.Sent.Sum != "" && r.Asked != nil {
		body, err := r.Sent.Of(r.Asked)
		if err != nil {
			return err
		}
		t.whole, t.prompt, t.less = t.prompt, promptOf(r, readAsked(body)), len(r.Asked)-len(body)
		t.prompt.Epoch = r.Sent.Epoch
	}
	wire, err := json.Marshal(Wire{r.Request.Header, r.Response.Header, r.Response.Marks})
	if err != nil {
		return err
	}
	if t.e.Wire, err = packed(wire); err != nil {
		return err
	}
	if r.Request.Lost == "" && r.Asked != nil {
		var re recipe
		re, t.spans = recipeOf(r.Asked)
		t.e.Asked.Hash = hashOf(r.Asked)
		if t.e.Recipe, err = re.pack(); err != nil {
			return err
		}
	}
	if len(r.Answered) > 0 {
		t.e.Answered.Hash = hashOf(r.Answered)
	}
	t.e.Sent, err = sentOf(r.Sent)
	return err
}

// CutByProxy says that an exchange is not whole because its proxy was killed.
const CutByProxy = "proxy"

// store puts the bytes away.
func (t *taking) store() error {
	for _, s := range t.spans {
		if _, err := t.chunk(t.raw.Asked[s.From:s.To]); err != nil {
			return err
		}
	}
	if len(t.raw.Answered) == 0 {
		return nil
	}
	_, err := t.chunk(t.raw.Answered)
	return err
}

// chunk puts bytes away, once.
func (t *taking) chunk(b []byte) (hash string, err error) {
	hash = hashOf(b)
	if t.memory.has(hash) {
		return hash, nil
	}
	c, err := chunkOf(b)
	if err != nil {
		return "", err
	}
	t.memory.put(hash)
	return hash, t.tx.PutChunk(c)
}

// beside notes what a request that belongs to no history says of one.
func (t *taking) beside() error {
	list, err := t.memory.lineages(t.tx, t.who.key)
	if err != nil || len(list) == 0 {
		return err
	}
	l := list[0]
	t.e.AgentID = l.AgentID
	if t.e.Kind != Compact || t.e.Status >= 400 {
		return nil
	}
	l.Summarised = true
	return t.tx.PutLineage(l.Lineage)
}

// lineage is the one that the request goes on, or a new one.
func (t *taking) lineage() (*known, error) {
	sums := digests(t.asked.messages)
	list, err := t.memory.lineages(t.tx, t.who.key)
	if err != nil {
		return nil, err
	}
	var best *known
	for _, l := range list {
		if l.Sent <= len(t.asked.messages) && sums[l.Sent] == l.Digest && (best == nil || l.Sent > best.Sent) {
			best = l
		}
	}
	if best != nil {
		return best, nil
	}
	return t.begin(list)
}

// begin makes a lineage beside others of its session, the newest first.
func (t *taking) begin(list []*known) (*known, error) {
	l := &known{Lineage: Lineage{ID: id.Derive("lineage", t.e.ID), Key: t.who.key, Run: t.e.Run, CreatedAt: t.e.StartedAt, SeenAt: t.e.StartedAt}}
	var before *known
	switch {
	case len(list) > 0:
		before = list[0]
	case t.e.Kind == Main && t.who.named && t.e.Run != "":
		// Another session of the same command. After /clear nothing of the one before
		// is under way; where it waits for a tool, the tool has begun this one.
		found, ok, err := t.tx.LineageOfRun(t.e.Run)
		if err != nil {
			return nil, err
		}
		if ok && !found.Open {
			if before, err = t.memory.load(t.tx, found); err != nil {
				return nil, err
			}
			l.Why = Clear
		} else if ok {
			t.who.parent = found.Key
		}
	}
	if before == nil {
		return l, t.agent(l)
	}
	l.AgentID, l.Supersedes = before.AgentID, before.ID
	if err := before.need(t.tx); err != nil {
		return nil, err
	}
	for l.Fork < min(len(before.places), len(t.asked.messages)) && before.places[l.Fork].Hash == t.asked.messages[l.Fork].hash {
		l.Fork++
	}
	switch {
	case l.Why == Clear:
	case !t.who.named:
		l.Why, l.Supersedes = Apart, ""
	case before.Summarised:
		l.Why = Compacted
	case l.Fork > 0:
		l.Why = Rewind
	default:
		l.Why = Clear
	}
	l.places = slices.Clone(before.places[:l.Fork])
	l.loaded = true
	l.Length, l.Sent = l.Fork, l.Fork
	if err := t.tx.PutLineage(l.Lineage); err != nil {
		return nil, err
	}
	t.memory.add(l)
	if err := t.tx.SetTimeline(l.ID, 0, uuids(l.places)); err != nil {
		return nil, err
	}
	return l, t.tx.Revive(uuids(l.places))
}

// agent makes the agent of a lineage that is its first.
func (t *taking) agent(l *known) error {
	a := Agent{ID: id.Derive("agent", t.e.ID), Name: t.e.Name, Project: t.who.project, Kind: t.e.Kind, CreatedAt: t.e.StartedAt, SeenAt: t.e.StartedAt}
	if t.who.parent != "" {
		above, err := t.memory.lineages(t.tx, t.who.parent)
		if err != nil {
			return err
		}
		if len(above) > 0 {
			a.ParentID = above[0].AgentID
		}
	}
	if _, err := t.tx.NewAgent(a); err != nil {
		return err
	}
	l.AgentID, l.loaded = a.ID, true
	t.memory.add(l)
	return t.tx.PutLineage(l.Lineage)
}

// grow adds what the exchange brings to its lineage.
func (t *taking) grow(l *known) error {
	if err := l.need(t.tx); err != nil {
		return err
	}
	global := slices.Concat(t.asked.system, t.asked.tools)
	fresh := t.asked.messages[min(l.Sent, len(t.asked.messages)):]
	rate := t.rates(l, global, fresh)
	if err := t.globals(global, rate); err != nil {
		return err
	}
	from := l.Sent
	l.places = l.places[:min(from, len(l.places))]
	for i, p := range fresh {
		if err := t.place(l, p, FormJSON, t.raw.Asked, rate.fresh[i]); err != nil {
			return err
		}
	}
	sent := len(l.places)
	if t.e.Status < 400 {
		for _, p := range t.answer.parts {
			if err := t.place(l, p, t.answer.form, t.raw.Answered, rate.answer(p)); err != nil {
				return err
			}
		}
	}
	if err := t.tx.SetTimeline(l.ID, from, uuids(l.places[from:])); err != nil {
		return err
	}
	if err := t.tx.Revive(uuids(l.places[from:])); err != nil {
		return err
	}
	l.Sent, l.Digest, l.Length = sent, digests(t.asked.messages)[len(t.asked.messages)], len(l.places)
	l.Exchanges++
	l.SeenAt, l.Summarised = t.e.StartedAt, false
	if t.e.Model != "" {
		l.Model = t.e.Model
	}
	if n := t.e.Usage.Total(); n > 0 {
		l.Input, l.Output = n, t.e.Usage.Output
	}
	l.Open = t.e.Stop == "tool_use"
	if err := t.tx.SeeAgent(l.AgentID, t.e.StartedAt); err != nil {
		return err
	}
	return t.tx.PutLineage(l.Lineage)
}

// globals makes the blocks of system prompts and tools, which are everybody's.
func (t *taking) globals(list []part, rate rates) error {
	for i, p := range list {
		key := "global:" + p.hash
		if t.memory.block(key) {
			continue
		}
		found, err := t.tx.Blocks([]string{key})
		if err != nil {
			return err
		}
		t.memory.put("block:" + key)
		if len(found) > 0 {
			continue
		}
		b, err := t.block(p, key, FormJSON, t.raw.Asked, rate.global[i])
		if err != nil {
			return err
		}
		b.Scope, b.AgentID = ScopeGlobal, ""
		if err := t.tx.NewBlock(b); err != nil {
			return err
		}
	}
	return nil
}

// place puts a part at the end of a lineage: the block that it is, or a new one.
func (t *taking) place(l *known, p part, form string, body []byte, tokens int64) error {
	if p.typ == ToolResult {
		p.tool = l.toolOf(p.ident)
	}
	if p.ident != "" {
		if was := l.byKey(p.ident, p.hash, p.typ); was != nil {
			l.places = append(l.places, *was)
			return nil
		}
		keys := []string{p.ident, p.ident + "#" + p.hash}
		found, err := t.tx.Blocks(keys)
		if err != nil {
			return err
		}
		key := p.ident
		for _, f := range found {
			if f.Hash == p.hash {
				l.remember(f)
				l.places = append(l.places, f)
				return nil
			}
			key = keys[1] // the same name for something else
		}
		return t.create(l, p, key, form, body, tokens)
	}
	// The n-th of its kind in this lineage.
	n := 0
	for _, was := range l.places {
		if was.Hash == p.hash {
			n++
		}
	}
	if list := l.unnamed[p.hash]; n < len(list) {
		l.places = append(l.places, list[n])
		return nil
	}
	return t.create(l, p, "at:"+l.ID+"/"+p.hash+"/"+strconv.Itoa(n), form, body, tokens)
}

func (t *taking) create(l *known, p part, key, form string, body []byte, tokens int64) error {
	b, err := t.block(p, key, form, body, tokens)
	if err != nil {
		return err
	}
	b.AgentID = l.AgentID
	if err := t.tx.NewBlock(b); err != nil {
		return err
	}
	at := Place{UUID: b.UUID, Key: key, Hash: p.hash, Tool: p.tool, Type: p.typ}
	l.remember(at)
	l.places = append(l.places, at)
	return nil
}

// block is a new one. Where its bytes lie in a chunk that is kept anyway, they are
// not kept again.
func (t *taking) block(p part, key, form string, body []byte, tokens int64) (b Block, err error) {
	b = Block{
		UUID: id.New(), Type: p.typ, Role: p.role, Tool: p.tool, Project: t.who.project, Tier: TierOf(p.typ), TierBy: "rule", Active: true, Tokens: tokens,
		Size: p.span.To - p.span.From, Label: p.label, ExchangeID: t.e.ID, Form: form, CreatedAt: t.e.StartedAt, Key: key, Hash: p.hash, Sum: p.sum, Channels: []string{},
	}
	switch {
	case p.typ == ToolResult:
		b.Scope = ScopeTool
	case p.role == "assistant":
		b.Scope = ScopeAgent
	default:
		b.Scope = ScopeProject
	}
	if form == FormSSE || len(t.raw.Asked) == 0 || &body[0] != &t.raw.Asked[0] {
		b.Chunk, b.Start = t.e.Answered.Hash, p.span.From
		return b, nil
	}
	for _, s := range t.spans {
		if s.From <= p.span.From && p.span.To <= s.To {
			b.Chunk, b.Start = hashOf(body[s.From:s.To]), p.span.From-s.From
			return b, nil
		}
	}
	b.Chunk, err = t.chunk(body[p.span.From:p.span.To])
	return b, err
}

func uuids(places []Place) []string {
	out := make([]string, len(places))
	for i, p := range places {
		out[i] = p.UUID
	}
	return out
}

// rates are the tokens of the parts of an exchange.
type rates struct {
	global, fresh []int64
	perByte       float64 // of the answer
}

func (r rates) answer(p part) int64 {
	return int64(float64(p.span.To-p.span.From)*r.perByte + 0.5)
}

// rates lays what the backend counted to the parts, by their bytes. Of a lineage that
// goes on what is new is what this request has more than the last one and its answer;
// where that is nothing (a model may drop its earlier thinking), and at first, all
// parts have the same rate.
func (t *taking) rates(l *known, global, fresh []part) rates {
	total := t.e.Usage.Total()
	all, news := 0, 0
	for _, p := range slices.Concat(global, t.asked.messages) {
		all += p.span.To - p.span.From
	}
	echoed := map[string]bool{}
	for _, p := range l.places[min(l.Sent, len(l.places)):] {
		echoed[p.Hash] = true
	}
	for _, p := range fresh {
		if !echoed[p.hash] {
			news += p.span.To - p.span.From
		}
	}
	per := 0.0
	if all -= t.less; all > 0 { // the backend counted what was sent
		per = float64(total) / float64(all)
	}
	perFresh := per
	if more := total - l.Input - l.Output; l.Input > 0 && more > 0 && news > 0 {
		perFresh = float64(more) / float64(news)
	}
	of := func(list []part, per float64) (out []int64) {
		for _, p := range list {
			out = append(out, int64(float64(p.span.To-p.span.From)*per+0.5))
		}
		return out
	}
	r := rates{global: of(global, per), fresh: of(fresh, perFresh)}
	said := 0
	for _, p := range t.answer.parts {
		said += p.span.To - p.span.From
	}
	if said > 0 {
		r.perByte = float64(t.e.Usage.Output) / float64(said)
	}
	return r
}

// isIdent reports whether the protocol itself names a block so.
func isIdent(key string) bool {
	return strings.HasPrefix(key, "use:") || strings.HasPrefix(key, "result:") || strings.HasPrefix(key, "thinking:")
}
