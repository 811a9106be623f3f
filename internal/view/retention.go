package view

import (
	"slices"
	"time"
)

// TierOf is the tier that the rules give a block: of all that match the longest, else
// the default. A person's word goes before it (PAL-17 to PAL-19).
func (p *Policy) TierOf(b *Block) Tier {
	best := -1
	for _, r := range p.Retention.Rules {
		if r.Tier != "" && r.Match.holds(b) {
			best = max(best, slices.Index(tiers, r.Tier))
		}
	}
	if best < 0 {
		return p.Retention.Default
	}
	return tiers[best]
}

// Due is what becomes of a block that nobody's history had for an age; "": it stays.
// What is LONG, or starred, stays for ever. The first rule that says an action holds.
func (p *Policy) Due(b *Block, unseen time.Duration) Action {
	if b.Tier == Long || b.Starred {
		return ""
	}
	for i, r := range p.Retention.Rules {
		if r.Action != "" && unseen > p.ages[i] && (r.Match.Tier == "" || r.Match.Tier == b.Tier) && r.Match.holds(b) {
			return r.Action
		}
	}
	return ""
}

// LeastAge is the least age that any rule asks for: what is younger need not be looked
// at. 0: no rule does anything.
func (p *Policy) LeastAge() (least time.Duration) {
	for i, r := range p.Retention.Rules {
		if r.Action != "" && (least == 0 || p.ages[i] < least) {
			least = p.ages[i]
		}
	}
	return least
}

// holds reports whether a block is one of those, but for its age and its tier.
func (m Match) holds(b *Block) bool {
	return (m.BlockType == "" || m.BlockType == b.Type) &&
		(m.Tool == "" || m.Tool == b.Tool) &&
		(m.Scope == "" || m.Scope == b.Scope) &&
		(m.Project == "" || m.Project == b.Project) &&
		(m.Starred == nil || *m.Starred == b.Starred) &&
		(len(m.Channels) == 0 || slices.ContainsFunc(m.Channels, func(c string) bool { return slices.Contains(b.Channels, c) }))
}
