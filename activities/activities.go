// Package activities is the effects a workflow asks for, over ports only.
//
// It may import every noun and artifacts, and no driver: what it needs of the
// outside it says as an interface, and wire fills it.
package activities

import (
	"encoding/json"

	"liminal/internal/graph"
	"liminal/internal/identity"
	"liminal/internal/run"
)

// RunInput is the input of every workflow: only references travel (PLAT-14).
type RunInput struct {
	RunID  string          `json:"run_id"` // the row with everything else; the stream's id
	Viewer identity.Viewer `json:"viewer"` // on whose behalf
	Kind   run.Kind        `json:"kind"`
	Child  *ChildInput     `json:"child,omitempty"` // set for a Spawn: there is no row of its own
}

// ChildInput is what a parent run hands to a run it spawned.
type ChildInput struct {
	Workflow string         `json:"workflow"` // artifact name or id
	Inputs   map[string]any `json:"inputs"`
	EffectID string         `json:"effect_id"`        // the parent's; prefixes ids of the child's effects
	Opened   *Opened        `json:"opened,omitempty"` // the parent's conversation, contexts, …
}

// Opened is what Open found: the graph a run is pinned to, and its input.
// It is recorded in the history, so a replay needs no store.
type Opened struct {
	Graph          json.RawMessage    `json:"graph"` // the pinned document
	Tools          map[string]ToolPin `json:"tools"` // those the graph may call
	Pins           []run.Pin          `json:"pins"`
	Input          map[string]any     `json:"input"` // message, context_ids, …
	Persisted      map[string]any     `json:"persisted,omitempty"`
	Conversation   map[string]any     `json:"conversation,omitempty"`
	User           map[string]any     `json:"user,omitempty"`
	ConversationID string             `json:"conversation_id,omitempty"`
	RequestID      string             `json:"request_id,omitempty"`
	UptoSeq        int                `json:"upto_seq,omitempty"`
	ContextIDs     []string           `json:"context_ids,omitempty"`
	Locale         string             `json:"locale,omitempty"`
	Routing        json.RawMessage    `json:"routing,omitempty"` // adapters, gates, trace
	Job            bool               `json:"job,omitempty"`     // background limits instead of chat limits
}

// ToolPin is a tool at the version the run opened with, as the workflow needs it.
type ToolPin struct {
	graph.Tool
	Version   int    `json:"version"`
	Runs      string `json:"runs"`  // tool.Inline or tool.Activity
	Queue     string `json:"queue"` // of an ordinary activity
	TimeoutMS int    `json:"timeout_ms"`
}
