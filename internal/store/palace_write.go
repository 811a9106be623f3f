package store

import (
	"fmt"
	"slices"
	"time"

	"liminal/internal/palace"
)

// palaceTx is a palace.Tx. What can wait is written at the end, many rows by a
// statement; what is read before that has it.
type palaceTx struct {
	tx   Tx
	user string
	now  time.Time

	chunks, parts, blocks bulk
	held                  int // bytes of chunks that wait
	lineages              []palace.Lineage
	lineageAt             map[string]int
	seen                  map[string]time.Time // agents
	byKey                 map[string]palace.Place
	lines                 []*line
	lineOf                map[string]*line
	shown                 []shown
	free                  []shown // display ids that had a block before, the lowest first
	looked                bool    // for those
	next                  int     // the display id behind all that were ever given
	away                  *bool   // whether any block is put away
}

// line is what is written of a timeline.
type line struct {
	lineage, of string
	fork        int // the first blocks of that one
	from        int
	blocks      []string
	fresh       bool // there is nothing of it yet
}

// shown is a display id and whose it is.
type shown struct {
	number, generation int
	block              string
}

const (
	// mostHeldChunks is how many bytes of chunks wait at most.
	mostHeldChunks = 4 << 20
	// mostDisplayIDs is how many there are: 0 to 9999 (003).
	mostDisplayIDs = 10_000
	// freeAtOnce is how many of them are looked for at once.
	freeAtOnce = 512
)

func newPalaceTx(tx Tx, user string, now time.Time) *palaceTx {
	return &palaceTx{
		tx: tx, user: user, now: now, lineageAt: map[string]int{}, seen: map[string]time.Time{}, byKey: map[string]palace.Place{}, lineOf: map[string]*line{},
		chunks: bulk{text: `INSERT INTO palace_chunk (user_id, hash, size, body, erased_at) VALUES (@user, @hash, @size, @body, @erased) ON CONFLICT (user_id, hash) DO NOTHING`},
		parts:  bulk{text: `INSERT INTO palace_part (user_id, chunk, block_id) VALUES (@user, @chunk, @block) ON CONFLICT (user_id, chunk, block_id) DO NOTHING`},
		blocks: bulk{text: `INSERT INTO palace_block (id, user_id, display_id, generation, key, hash, sum, type, role, tool, scope, project, agent_id, channels, tier, tier_by, active, tokens, size, label,
		exchange_id, form, chunk, start, created_at, erased_at, erased_by)
		VALUES (@id, @user, @display, @generation, @key, @hash, @sum, @type, @role, @tool, @scope, @project, @agent, @channels, @tier, @by, @active, @tokens, @size, @label, @exchange, @form, @chunk, @start, @created, @erased, @erased_by)`},
	}
}

// flush writes everything that waits, in an order in which what a row names is there.
func (p *palaceTx) flush() error {
	for _, write := range []func() error{p.flushLineages, func() error { return p.blocks.flush(p.tx) }, p.flushShown, p.flushLines, p.flushChunks, func() error { return p.parts.flush(p.tx) }, p.flushSeen} {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// PutChunk implements palace.Tx.
func (p *palaceTx) PutChunk(c palace.Chunk) error {
	row := Args{"user": p.user, "hash": c.Hash, "size": c.Size, "body": c.Packed, "erased": nil}
	if c.Packed == nil {
		row["body"], row["erased"] = []byte{}, p.now
	}
	p.chunks.rows = append(p.chunks.rows, row)
	if p.held += len(c.Packed); p.held > mostHeldChunks {
		return p.flushChunks()
	}
	return nil
}

func (p *palaceTx) flushChunks() error {
	p.held = 0
	return p.chunks.flush(p.tx)
}

// PutParts implements palace.Tx.
func (p *palaceTx) PutParts(chunk string, blocks []string) error {
	for _, b := range blocks {
		p.parts.rows = append(p.parts.rows, Args{"user": p.user, "chunk": chunk, "block": b})
	}
	return nil
}

// PutLineage implements palace.Tx.
func (p *palaceTx) PutLineage(l palace.Lineage) error {
	if at, ok := p.lineageAt[l.ID]; ok {
		p.lineages[at] = l
		return nil
	}
	p.lineageAt[l.ID] = len(p.lineages)
	p.lineages = append(p.lineages, l)
	return nil
}

func (p *palaceTx) flushLineages() error {
	b := bulk{text: `INSERT INTO palace_lineage (id, user_id, agent_id, key, run, supersedes, why, fork, length, sent, digest, input, output, open, summarised, model, exchanges, created_at, seen_at)
		VALUES (@id, @user, @agent, @key, @run, @supersedes, @why, @fork, @length, @sent, @digest, @input, @output, @open, @summarised, @model, @exchanges, @created, @seen)
		ON CONFLICT (id) DO UPDATE SET run = excluded.run, length = excluded.length, sent = excluded.sent, digest = excluded.digest, input = excluded.input, output = excluded.output, open = excluded.open,
		summarised = excluded.summarised, model = excluded.model, exchanges = excluded.exchanges, seen_at = excluded.seen_at`}
	for _, l := range p.lineages {
		b.rows = append(b.rows, Args{
			"id": l.ID, "user": p.user, "agent": l.AgentID, "key": writable(l.Key), "run": l.Run, "supersedes": optional(l.Supersedes), "why": l.Why, "fork": l.Fork, "length": l.Length, "sent": l.Sent, "digest": l.Digest,
			"input": l.Input, "output": l.Output, "open": l.Open, "summarised": l.Summarised, "model": writable(l.Model), "exchanges": l.Exchanges, "created": stamp(l.CreatedAt), "seen": stamp(l.SeenAt),
		})
	}
	p.lineages = nil
	clear(p.lineageAt)
	return b.flush(p.tx)
}

// SeeAgent implements palace.Tx.
func (p *palaceTx) SeeAgent(agent string, at time.Time) error {
	if at.After(p.seen[agent]) {
		p.seen[agent] = at
	}
	return nil
}

func (p *palaceTx) flushSeen() error {
	for agent, at := range p.seen {
		if _, err := p.tx.Exec(`UPDATE palace_agent SET seen_at = @at WHERE user_id = @user AND id = @id AND seen_at < @at`, Args{"user": p.user, "id": agent, "at": stamp(at)}); err != nil {
			return err
		}
	}
	clear(p.seen)
	return nil
}

func (p *palaceTx) line(lineage string) *line {
	l := p.lineOf[lineage]
	if l == nil {
		l = &line{lineage: lineage, from: -1}
		p.lineOf[lineage] = l
		p.lines = append(p.lines, l)
	}
	return l
}

// ForkTimeline implements palace.Tx.
func (p *palaceTx) ForkTimeline(lineage, of string, n int) error {
	l := p.line(lineage)
	l.of, l.fork, l.fresh = of, n, true
	return nil
}

// SetTimeline implements palace.Tx.
func (p *palaceTx) SetTimeline(lineage string, from int, blocks []string) error {
	l := p.line(lineage)
	if l.from < 0 || from < l.from {
		l.from, l.blocks = from, nil
	}
	if from > l.from+len(l.blocks) {
		return fmt.Errorf("the timeline of %s would have a gap before %d", lineage, from)
	}
	l.blocks = append(l.blocks[:from-l.from], blocks...)
	return nil
}

// flushLines writes timelines in the order in which they were begun: one that forks
// finds what it begins with.
func (p *palaceTx) flushLines() error {
	b := bulk{text: `INSERT INTO palace_timeline (user_id, lineage_id, position, block_id) VALUES (@user, @lineage, @position, @block)`}
	for _, l := range p.lines {
		args := Args{"user": p.user, "lineage": l.lineage, "of": l.of, "n": l.fork, "from": l.from}
		if l.fork > 0 {
			if err := b.flush(p.tx); err != nil {
				return err
			}
			if _, err := p.tx.Exec(`INSERT INTO palace_timeline (user_id, lineage_id, position, block_id)
				SELECT t.user_id, l.id, t.position, t.block_id FROM palace_timeline t JOIN palace_lineage l ON l.user_id = t.user_id
				WHERE t.user_id = @user AND l.id = @lineage AND t.lineage_id = @of AND t.position < @n`, args); err != nil {
				return err
			}
		}
		if l.from < 0 {
			continue
		}
		if !l.fresh {
			if _, err := p.tx.Exec(`DELETE FROM palace_timeline WHERE user_id = @user AND lineage_id = @lineage AND position >= @from`, args); err != nil {
				return err
			}
		}
		for i, block := range l.blocks {
			b.rows = append(b.rows, Args{"user": p.user, "lineage": l.lineage, "position": l.from + i, "block": block})
		}
	}
	p.lines = nil
	clear(p.lineOf)
	return b.flush(p.tx)
}

// NewBlock implements palace.Tx.
func (p *palaceTx) NewBlock(b palace.Block) error {
	number, generation, err := p.display(b.UUID)
	if err != nil {
		return err
	}
	channels, err := encoded(b.Channels, false)
	if err != nil {
		return err
	}
	p.blocks.rows = append(p.blocks.rows, Args{
		"id": b.UUID, "user": p.user, "display": number, "generation": generation, "key": writable(b.Key), "hash": b.Hash, "sum": b.Sum, "type": string(b.Type), "role": writable(b.Role), "tool": writable(b.Tool), "scope": b.Scope,
		"project": writable(b.Project), "agent": optional(b.AgentID), "channels": channels, "tier": string(b.Tier), "by": b.TierBy, "active": b.Active, "tokens": b.Tokens, "size": b.Size, "label": writable(b.Label),
		"exchange": b.ExchangeID, "form": b.Form, "chunk": b.Chunk, "start": b.Start, "created": stamp(b.CreatedAt),
		"erased": optionalMoment(b.ErasedAt), "erased_by": b.ErasedBy,
	})
	p.byKey[writable(b.Key)] = palace.Place{UUID: b.UUID, Key: b.Key, Hash: b.Hash, Tool: b.Tool, Type: b.Type}
	return nil
}

// Blocks implements palace.Tx.
func (p *palaceTx) Blocks(keys []string) (found []palace.Place, err error) {
	var ask []string
	for _, k := range keys {
		k = writable(k)
		if at, ok := p.byKey[k]; ok {
			found = append(found, at)
			continue
		}
		ask = append(ask, k)
	}
	err = inSets(ask, func(set []string) error {
		args := Args{"user": p.user}
		list, err := all(p.tx, `SELECT `+placeColumns+` FROM palace_block b WHERE b.user_id = @user AND b.key IN `+args.in("key", set), args, scanPlace)
		found = append(found, list...)
		return err
	})
	return found, err
}

// inSets asks for values in sets of few sizes, as bulkSizes are. The last is filled up
// with a value that it has already.
func inSets(values []string, ask func(set []string) error) error {
	for len(values) > 0 {
		size := bulkSizes[0]
		if len(values) <= bulkSizes[1] {
			size = bulkSizes[1]
		}
		set := slices.Clone(values[:min(size, len(values))])
		values = values[len(set):]
		for len(set) < size {
			set = append(set, set[0])
		}
		if err := ask(set); err != nil {
			return err
		}
	}
	return nil
}

// display gives a block the lowest display id that is free; nil: there is none.
func (p *palaceTx) display(block string) (number any, generation int, err error) {
	if !p.looked {
		if err := p.look(); err != nil {
			return nil, 0, err
		}
	}
	if len(p.free) > 0 {
		s := p.free[0]
		p.free, s.block = p.free[1:], block
		p.shown = append(p.shown, s)
		if len(p.free) == 0 { // there may be more
			p.looked = false
			return s.number, s.generation, p.flushShown()
		}
		return s.number, s.generation, nil
	}
	if p.next >= mostDisplayIDs {
		return nil, 0, nil
	}
	s := shown{number: p.next, block: block}
	p.next++
	p.shown = append(p.shown, s)
	return s.number, 0, nil
}

// look finds the display ids that are free.
func (p *palaceTx) look() (err error) {
	args := Args{"user": p.user, "most": freeAtOnce}
	p.free, err = all(p.tx, `SELECT display_id, generation FROM palace_display WHERE user_id = @user AND block_id IS NULL ORDER BY display_id LIMIT @most`, args, func(scan Scan) (s shown, err error) {
		return s, scan(&s.number, &s.generation)
	})
	if err != nil {
		return err
	}
	p.looked = true
	_, err = first(p.tx, `SELECT coalesce(max(display_id) + 1, 0) FROM palace_display WHERE user_id = @user`, args, &p.next)
	return err
}

func (p *palaceTx) flushShown() error {
	b := bulk{text: `INSERT INTO palace_display (user_id, display_id, generation, block_id) VALUES (@user, @n, @generation, @block)
		ON CONFLICT (user_id, display_id) DO UPDATE SET block_id = excluded.block_id, generation = excluded.generation`}
	for _, s := range p.shown {
		b.rows = append(b.rows, Args{"user": p.user, "n": s.number, "generation": s.generation + 1, "block": s.block})
	}
	p.shown = nil
	return b.flush(p.tx)
}

// Revive implements palace.Tx.
func (p *palaceTx) Revive(blocks []string) error {
	if p.away == nil {
		var n int
		found, err := first(p.tx, `SELECT 1 FROM palace_block WHERE user_id = @user AND NOT active LIMIT 1`, Args{"user": p.user}, &n)
		if err != nil {
			return err
		}
		p.away = &found
	}
	if !*p.away {
		return nil
	}
	var list []string
	err := inSets(blocks, func(set []string) error {
		args := Args{"user": p.user}
		found, err := all(p.tx, `SELECT id FROM palace_block WHERE user_id = @user AND NOT active AND id IN `+args.in("id", set), args, scanText)
		list = append(list, found...)
		return err
	})
	if err != nil {
		return err
	}
	for _, block := range list {
		number, generation, err := p.display(block)
		if err != nil {
			return err
		}
		if _, err := p.tx.Exec(`UPDATE palace_block SET active = @yes, deleted_at = NULL, archived_at = NULL, display_id = @display, generation = @generation WHERE user_id = @user AND id = @id`,
			Args{"user": p.user, "id": block, "yes": true, "display": number, "generation": generation}); err != nil {
			return err
		}
	}
	return nil
}
