package view

import "time"

// RulesName is the classifier that needs no model: the policy's own rules over these
// fields.
const RulesName = "rules-1"

// Fields are what a condition may read of a block. A turn is an answer of the model.
//
//	type, role, tool, scope, project, tier, starred, channels, tokens
//	text        what it says; of a use its input
//	path        the file that a use, and its result, is about
//	turns_ago   answers since: 0 in the last one, and in results that wait for one
//	age_s       seconds since it was first seen
//	duplicate   a later result of the same tool says the same
//	superseded  a later result shows its file again, or answers the same input
//	error       it is the result of a call that failed, or that call
//	referenced  one of the last six answers names its file, or quotes a line of it
//
// and of what its agent is at:
//
//	task             what it was asked last
//	active_channels  those of the last blocks
//	current_tool     that it used last
var Fields = []string{
	"type", "role", "tool", "path", "text", "tokens", "turns_ago", "age_s", "superseded", "duplicate", "error", "referenced",
	"channels", "tier", "starred", "scope", "project", "task", "active_channels", "current_tool",
}

// Focus is what an agent is at. Of what is left out a history tells itself.
type Focus struct {
	Task     string
	Channels []string
	Tool     string
}

// of is what a history says of what its agent is at.
func (f Focus) of(blocks []Block) Focus {
	for i := len(blocks) - 1; i >= 0; i-- {
		b := &blocks[i]
		if f.Task == "" && b.Type == "User" {
			f.Task = b.Text
		}
		if f.Tool == "" && b.Type == useType {
			f.Tool = b.Tool
		}
		if f.Channels == nil && len(b.Channels) > 0 {
			f.Channels = b.Channels
		}
	}
	return f
}

// Decision is what is wished for a block, and who does.
type Decision struct {
	Do   Do     `json:"do"` // "": nobody has an opinion, so it stays
	By   string `json:"by"`
	Rule string `json:"rule,omitempty"`
}

// Decide says for each block of a history, in order, whether its agent should go on
// to see it: a person's word before the rules, and theirs before a model's. Of what
// nobody speaks of, it stays (PAL-08, PAL-09, PAL-19). The rules that could not be
// evaluated on a block say nothing of it; failed is how often.
func (p *Policy) Decide(blocks []Block, now time.Time, at Focus) (out []Decision, failed int) {
	d := p.decider(historyOf(blocks), len(blocks), now, at)
	out = make([]Decision, len(blocks))
	for i := range blocks {
		out[i] = d.decide(i)
	}
	return out, d.failed
}

// decider decides about blocks of the beginning of a history.
type decider struct {
	policy *Policy
	history
	length int
	env    environment
	failed int
}

func (p *Policy) decider(h history, length int, now time.Time, at Focus) *decider {
	return &decider{policy: p, history: h, length: length, env: environment{now: now, at: at.of(h.blocks[:length])}}
}

func (d *decider) decide(i int) Decision {
	b := &d.blocks[i]
	if b.Person != "" {
		return Decision{Do: b.Person, By: ByPerson}
	}
	facts := d.facts(i, d.length)
	d.env.block, d.env.facts = b, &facts
	for n, rule := range d.policy.rules {
		holds, err := rule.True(d.env.value)
		if err != nil {
			d.failed++
		}
		if err == nil && holds {
			return Decision{Do: d.policy.Rules[n].Do, By: ByRules, Rule: d.policy.Rules[n].ID}
		}
	}
	if b.Model != "" {
		return Decision{Do: b.Model, By: ByModel}
	}
	return Decision{}
}

// ChannelsOf are the channels that the policy finds a block in, in its order.
func (p *Policy) ChannelsOf(b *Block) (list []string) {
	env := environment{now: b.At, block: b, facts: &facts{}}
	for i, c := range p.channels {
		if holds, err := c.True(env.value); err == nil && holds {
			list = append(list, p.Channels[i].Channel)
		}
	}
	return list
}

// environment is what a condition reads.
type environment struct {
	now   time.Time
	block *Block
	facts *facts
	at    Focus
}

func (e *environment) value(name string) any {
	b := e.block
	switch name {
	case "type":
		return b.Type
	case "role":
		return b.Role
	case "tool":
		return b.Tool
	case "path":
		return b.Path
	case "text":
		return b.Text
	case "tokens":
		return b.Tokens
	case "turns_ago":
		return e.facts.ago
	case "age_s":
		return int64(e.now.Sub(b.At).Seconds())
	case "superseded":
		return e.facts.superseded
	case "duplicate":
		return e.facts.duplicate
	case "error":
		return b.Error || e.facts.failed
	case "referenced":
		return e.facts.referenced
	case "channels":
		return b.Channels
	case "tier":
		return string(b.Tier)
	case "starred":
		return b.Starred
	case "scope":
		return b.Scope
	case "project":
		return b.Project
	case "task":
		return e.at.Task
	case "active_channels":
		return e.at.Channels
	case "current_tool":
		return e.at.Tool
	}
	return nil
}
