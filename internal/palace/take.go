package palace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"liminal/internal/id"
	"liminal/internal/view"
)

// candidates is how many lineages of a session are looked at for one that goes on.
const candidates = 32

// taking takes one exchange in.
type taking struct {
	tx     Tx
	memory *memory
	e      Exchange
	asked  asked
	sums   []string // digests of the messages
	answer answered
	who    who
	chunks []Chunk         // that it brings
	left   *time.Time      // since when contents are left out; nil: they are not
	shun   map[string]bool // chunks that are not kept, for something in them was erased

	prompt       view.Prompt // what was sent
	whole        view.Prompt // the client's own, where that was not sent
	opens        bool        // the first epoch of the history began with it
	less         int         // how many bytes of it were not
	subscription bool
}

func errOf(exchange string, err error) error {
	return fmt.Errorf("the exchange %s cannot be taken in: %w", exchange, err)
}

// put writes an exchange and what it brings, and gives the lineage that grew by it; "":
// none did. The transaction may be run again, with the taking as it was.
func (t taking) put(tx Tx, m *memory) (lineage string, err error) {
	t.tx, t.memory, t.shun = tx, m, map[string]bool{}
	var l *known
	history := t.e.Kind == Main || t.e.Kind == Subagent
	if history {
		l, err = t.lineage()
	} else if t.who.named {
		err = t.beside()
	}
	if err != nil {
		return "", err
	}
	if l != nil {
		t.e.LineageID, t.e.AgentID, t.e.Number = l.ID, l.AgentID, l.Exchanges+1
	}
	if err := t.charge(l); err != nil {
		return "", err
	}
	if err := t.tx.PutExchange(t.e); err != nil {
		return "", err
	}
	if t.e.Sent != nil {
		if err := t.tx.PutSent(t.e.ID, *t.e.Sent); err != nil {
			return "", err
		}
	}
	if l != nil {
		err = t.grow(l)
	} else {
		err = t.shunEqual()
	}
	if err != nil {
		return "", err
	}
	for _, c := range t.chunks {
		if t.shun[c.Hash] {
			c.Packed = nil
		}
		if err := t.tx.PutChunk(c); err != nil {
			return "", err
		}
	}
	return t.e.LineageID, nil
}

// shunEqual sees to it that a request beside the histories does not bring back what a
// person erased.
func (t *taking) shunEqual() error {
	for _, p := range slices.Concat(t.asked.system, t.asked.tools, t.asked.messages, t.answer.parts) {
		erased, err := t.memory.wasErased(t.tx, p.hash)
		if err != nil {
			return err
		}
		if erased {
			t.shun[p.chunk] = true
		}
	}
	return nil
}

// lies notes that blocks lie in chunks. Where one of them was erased, the chunk is not
// kept: a client sends all of its history again.
func (t *taking) lies(parts []part, places []Place) error {
	in := map[string][]string{}
	for i, p := range parts {
		if places[i].Erased {
			t.shun[p.chunk] = true
		}
		in[p.chunk] = append(in[p.chunk], places[i].UUID)
	}
	for chunk, blocks := range in {
		if t.memory.noted(chunk) {
			continue
		}
		if err := t.tx.PutParts(chunk, blocks); err != nil {
			return err
		}
	}
	return nil
}

// CutByProxy says that an exchange is not whole because its proxy was killed.
const CutByProxy = "proxy"

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
	list, err := t.memory.lineages(t.tx, t.who.key)
	if err != nil {
		return nil, err
	}
	var best *known
	for _, l := range list {
		if l.Sent <= len(t.asked.messages) && t.sums[l.Sent] == l.Digest && (best == nil || l.Sent > best.Sent) {
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
	l.loaded, l.fresh = true, true
	l.Length, l.Sent = l.Fork, l.Fork
	if err := t.tx.PutLineage(l.Lineage); err != nil {
		return nil, err
	}
	t.memory.add(l)
	// What the one before had in its requests stays as it is; its last answer may be
	// another by and by.
	same := min(l.Fork, before.Sent)
	if err := t.tx.ForkTimeline(l.ID, before.ID, same); err != nil {
		return nil, err
	}
	if rest := uuids(l.places[same:]); len(rest) > 0 {
		if err := t.tx.SetTimeline(l.ID, same, rest); err != nil {
			return nil, err
		}
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
	l.AgentID, l.loaded, l.fresh = a.ID, true, true
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
	said := t.answer.parts
	if t.e.Status >= 400 {
		said = nil
	}
	found, err := t.elsewhere(l, fresh, said)
	if err != nil {
		return err
	}
	for i, p := range fresh {
		if err := t.place(l, p, found, FormJSON, rate.fresh[i]); err != nil {
			return err
		}
	}
	sent := len(l.places)
	for _, p := range said {
		if err := t.place(l, p, found, t.answer.form, rate.answer(p)); err != nil {
			return err
		}
	}
	if err := t.lies(t.asked.messages, l.places[:sent]); err != nil {
		return err
	}
	if err := t.lies(said, l.places[sent:]); err != nil {
		return err
	}
	if err := t.tx.SetTimeline(l.ID, from, uuids(l.places[from:])); err != nil {
		return err
	}
	if err := t.tx.Revive(uuids(l.places[from:])); err != nil {
		return err
	}
	l.Sent, l.Digest, l.Length = sent, t.sums[len(t.asked.messages)], len(l.places)
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
	places := make([]Place, len(list))
	for i, p := range list {
		key := "global:" + p.hash
		at, known := t.memory.globals[key]
		if !known {
			found, err := t.tx.Blocks([]string{key})
			if err != nil {
				return err
			}
			if len(found) == 0 {
				b := t.block(p, key, FormJSON, rate.global[i])
				b.Scope, b.AgentID = ScopeGlobal, ""
				if err := t.tx.NewBlock(b); err != nil {
					return err
				}
				found = []Place{{UUID: b.UUID}}
			}
			if len(t.memory.globals) >= mostKnown {
				clear(t.memory.globals)
			}
			at = found[0]
			t.memory.globals[key] = at
		}
		places[i] = at
	}
	return t.lies(list, places)
}

// elsewhere are the blocks that may be there though the lineage does not have them now:
// those that the protocol names, as another lineage may have them from which a client
// went on, and answers that were followed by another answer to the same.
func (t *taking) elsewhere(l *known, lists ...[]part) (map[string]Place, error) {
	var keys []string
	seen := map[string]int{}
	for _, p := range slices.Concat(lists...) {
		switch {
		case p.ident == "" && !l.fresh:
			n := seen[p.hash]
			if n == 0 {
				n = l.count(p.hash)
			}
			seen[p.hash] = n + 1
			if n >= len(l.unnamed[p.hash]) {
				keys = append(keys, l.nth(p.hash, n))
			}
		case p.ident != "" && l.byKey(p.ident, p.hash, p.typ) == nil:
			keys = append(keys, p.ident, p.ident+"#"+p.hash)
		}
	}
	found := map[string]Place{}
	if len(keys) == 0 {
		return found, nil
	}
	places, err := t.tx.Blocks(keys)
	for _, p := range places {
		found[p.Key] = p
	}
	return found, err
}

// place puts a part at the end of a lineage: the block that it is, or a new one.
func (t *taking) place(l *known, p part, found map[string]Place, form string, tokens int64) error {
	if p.typ == ToolResult {
		p.tool = l.toolOf(p.ident)
	}
	if p.ident != "" {
		if was := l.byKey(p.ident, p.hash, p.typ); was != nil {
			l.places = append(l.places, *was)
			return nil
		}
		key := p.ident
		for _, k := range []string{p.ident, p.ident + "#" + p.hash} {
			f, ok := found[k]
			if ok && f.Hash == p.hash {
				l.remember(f)
				l.places = append(l.places, f)
				return nil
			}
			if _, mine := l.named[k]; ok || mine {
				key = p.ident + "#" + p.hash // the same name for something else
			}
		}
		return t.create(l, p, key, form, tokens)
	}
	n := l.count(p.hash)
	if list := l.unnamed[p.hash]; n < len(list) {
		l.places = append(l.places, list[n])
		return nil
	}
	key := l.nth(p.hash, n)
	if f, ok := found[key]; ok {
		l.remember(f)
		l.places = append(l.places, f)
		return nil
	}
	return t.create(l, p, key, form, tokens)
}

func (t *taking) create(l *known, p part, key, form string, tokens int64) error {
	b := t.block(p, key, form, tokens)
	b.AgentID = l.AgentID
	if err := t.tx.NewBlock(b); err != nil {
		return err
	}
	at := Place{UUID: b.UUID, Key: key, Hash: p.hash, Tool: p.tool, Type: p.typ}
	l.remember(at)
	l.places = append(l.places, at)
	return nil
}

// block is a new one.
func (t *taking) block(p part, key, form string, tokens int64) Block {
	b := Block{
		UUID: id.New(), Type: p.typ, Role: p.role, Tool: p.tool, Project: t.who.project, Tier: TierOf(p.typ), TierBy: "rule", Active: true, Tokens: tokens,
		Size: p.span.To - p.span.From, Label: p.label, ExchangeID: t.e.ID, Form: form, CreatedAt: t.e.StartedAt, Key: key, Hash: p.hash, Sum: p.sum, Channels: []string{}, Chunk: p.chunk, Start: p.start,
	}
	if p.secret {
		b.Channels, b.Tier = append(b.Channels, ChannelSecret), Short
	}
	if b.ErasedAt = t.left; t.left != nil {
		b.ErasedBy, b.Label = ByRoom, ""
	}
	switch {
	case p.typ == ToolResult:
		b.Scope = ScopeTool
	case p.role == "assistant":
		b.Scope = ScopeAgent
	default:
		b.Scope = ScopeProject
	}
	return b
}

func uuids(places []Place) []string {
	out := make([]string, len(places))
	for i, p := range places {
		out[i] = p.UUID
	}
	return out
}

func (r rates) answer(p part) int64 {
	return int64(float64(p.span.To-p.span.From)*r.perByte + 0.5)
}

// isIdent reports whether the protocol itself names a block so.
func isIdent(key string) bool {
	return strings.HasPrefix(key, "use:") || strings.HasPrefix(key, "result:") || strings.HasPrefix(key, "thinking:")
}
