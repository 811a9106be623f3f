package serve

import (
	"slices"

	"liminal/internal/lora/llm"
)

// past is a sequence whose answer ended, with its tokens.
type past struct {
	*llm.Sequence
	tokens []int
	owner  string
}

// seat gives a row its sequence: one that was kept and begins alike, or a new
// one. What was kept longest makes place; false when there is still no memory.
// A row that is alone gets it whatever is kept.
func (e *Engine) seat(r *row, alone bool) bool {
	room := len(r.Prompt) + r.MaxTokens
	at, common := e.alike(r)
	need := e.m.CacheBytes(room)
	var old *past
	if at >= 0 {
		old = e.kept[at]
		need -= e.m.CacheBytes(old.Room())
	}
	for i := 0; e.stats.Memory+need > e.o.Memory && i < len(e.kept); {
		if e.kept[i] == old {
			i++
			continue
		}
		e.forget(i)
	}
	if e.stats.Memory+need > e.o.Memory && !alone {
		return false
	}
	if old == nil {
		r.seq = e.m.NewSequence(room, r.Adapters...)
	} else {
		e.kept = slices.DeleteFunc(e.kept, func(p *past) bool { return p == old })
		r.seq = old.Sequence
		r.seq.Cut(common)
		r.seq.Grow(e.m.Config, room)
	}
	e.stats.Memory += max(need, 0)
	r.tokens, r.todo, r.reused = append(make([]int, 0, room), r.Prompt[:common]...), r.Prompt[common:], common
	e.stats.Reused += int64(common)
	return true
}

// worth is how many tokens alike are worth taking a kept sequence for.
const worth = 16

// alike is the kept sequence that begins most like a row's prompt, and for how
// many tokens; the last is always read again. -1: none is worth it.
func (e *Engine) alike(r *row) (at, common int) {
	at = -1
	for i, p := range e.kept {
		if p.owner != r.Owner || !slices.Equal(p.Adapters, r.Adapters) {
			continue
		}
		n, most := 0, min(len(p.tokens), len(r.Prompt)-1)
		for n < most && p.tokens[n] == r.Prompt[n] {
			n++
		}
		if n >= max(worth, common+1) {
			at, common = i, n
		}
	}
	return at, common
}

// forget gives the memory of a kept sequence back.
func (e *Engine) forget(i int) {
	e.stats.Memory -= e.m.CacheBytes(e.kept[i].Room())
	e.kept = slices.Delete(e.kept, i, i+1)
}

// release keeps the sequence of a row that ended.
func (e *Engine) release(r *row) {
	if !r.ended() {
		e.stats.Cancelled++
	}
	e.kept = append(e.kept, &past{r.seq, r.tokens, r.Owner})
	if len(r.tokens) < worth {
		e.forget(len(e.kept) - 1)
	}
	for len(e.kept) > e.o.Rows {
		e.forget(0)
	}
}
