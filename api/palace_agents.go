package api

import (
	"context"

	"liminal/internal/palace"
)

// PalaceAgentState is an agent with what it has before it.
type PalaceAgentState struct {
	PalaceAgent
	Lineage   *PalaceLineage        `json:"lineage,omitempty" doc:"the history that grew last; none: it has none"`
	Lineages  int                   `json:"lineages" doc:"how many histories it has"`
	Tokens    map[palace.Type]int64 `json:"tokens_by_type" doc:"of the active blocks of that history; what is missing to its input_tokens and output_tokens is the system prompt and the tools"`
	Exchanges int                   `json:"exchanges" doc:"of all of its histories"`
}

func palaceAgentState(a palace.AgentState) PalaceAgentState {
	out := PalaceAgentState{PalaceAgent: PalaceAgent{a.Agent}, Lineages: a.Lineages, Tokens: a.Tokens, Exchanges: a.Exchanges}
	if a.Lineage != nil {
		out.Lineage = &PalaceLineage{*a.Lineage}
	}
	return out
}

func (s *server) palaceAgents(ctx context.Context, _ *struct{}) (Page[PalaceAgentState], error) {
	list, err := s.Palace.PalaceAgents(ctx, viewerOf(ctx))
	return page(list, "", palaceAgentState), err
}
