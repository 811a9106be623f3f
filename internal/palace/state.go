package palace

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// AgentState is an agent with what it has before it.
type AgentState struct {
	Agent
	Lineage  *Lineage // the one that grew last; nil: it has none
	Lineages int
	// Tokens are those of the active blocks of that lineage, by type. System prompt and
	// tools stand in no lineage: they are what is missing to its Input and Output.
	Tokens    map[Type]int64
	Exchanges int // of all of its lineages
}

// Appearance is where a block stands in a lineage.
type Appearance struct {
	Lineage  string `json:"lineage"`
	Agent    string `json:"agent"`
	Number   int    `json:"agent_id"`
	Position int    `json:"position"` // from 0
	Length   int    `json:"blocks"`   // of the lineage
}

// TimelineOf is a lineage of an agent; "": its newest.
func (l *Library) TimelineOf(ctx context.Context, v identity.Viewer, number int, lineage string) (view View, err error) {
	if lineage == "" {
		return l.Timeline(ctx, v, number)
	}
	if view.Agent, err = l.PalaceAgent(ctx, v, number); err != nil {
		return view, err
	}
	if view.Lineage, err = l.PalaceLineage(ctx, v, lineage); err != nil {
		return view, err
	}
	if view.Lineage.AgentID != view.Agent.ID {
		return view, fault.New(fault.NotFound, "Agent %d has no such history.", number)
	}
	view.Blocks, err = l.PalaceTimeline(ctx, v, view.Lineage.ID)
	return view, err
}
