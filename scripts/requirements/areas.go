package main

import (
	"fmt"
	"strconv"
	"strings"
)

// area is a chapter of the specification; its requirements are numbered from 1.
type area struct {
	key, title string
	count      int
}

// areas is every chapter, in the specification's order: 558 requirements.
func areas() []area {
	return []area{
		{"PLAT", "Platform kernel on Go and Temporal", 14},
		{"GRAPH", "The workflow.chat interpreter", 30},
		{"INT", "Interrupts, clarification, resume", 35},
		{"STREAM", "Streaming transports and event vocabularies", 32},
		{"CHAT", "Conversations, messages, turns", 28},
		{"API", "Envelope, errors, pagination, idempotency, surface", 20},
		{"AUTH", "Accounts, sessions, MFA", 21},
		{"ISO", "Isolation, permissions", 12},
		{"DATA", "Database schema and Redis keys", 16},
		{"FILE", "Files", 10},
		{"RAG", "Contexts, ingestion, retrieval", 20},
		{"EMB", "Embeddings", 6},
		{"PREF", "Preference events", 7},
		{"CLUS", "Emergent clusters", 9},
		{"LORA", "Adapters and inference", 27},
		{"TRAIN", "LoRA training", 18},
		{"ROUTE", "Routing policy engine", 13},
		{"ART", "Artifacts", 12},
		{"CFG", "ConfigOps", 16},
		{"TOOL", "Tool registry and sandbox", 17},
		{"SAFE", "Safety and limits", 10},
		{"OBS", "Observability", 10},
		{"OPS", "Build, migrate, deploy", 14},
		{"UI", "Web client", 35},
		{"CLAUDE", "Agent service with file and web tools", 18},
		{"PAL", "Context router", 26},
		{"GRND", "Grounded assistant", 49},
		{"LG", "Intent, documents, validation, actions", 33},
	}
}

// known reports whether the specification has a requirement of this id.
func known(id string) error {
	key, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	for _, a := range areas() {
		if a.key == key && err == nil && n >= 1 && n <= a.count && id == a.id(n) {
			return nil
		}
	}
	return fmt.Errorf("there is no requirement %q", id)
}

func (a area) id(n int) string { return fmt.Sprintf("%s-%02d", a.key, n) }
