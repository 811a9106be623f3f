// Package artifacts is behaviour as data: workflows, routing policies, tools
// and adapters as versioned JSON documents, checked when they are written and
// pinned by the runs that use them.
//
// It may import schemas, check, fault, id, identity, run, chat, tool, graph,
// expr, model, routing and view. It knows no database: Store is its port.
package artifacts

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/identity"
)

// The kinds of artifact (ART-01). Others are accepted once a schema for them
// is registered (ART-12).
const (
	KindWorkflow = "workflow.chat"
	KindPolicy   = "policy.routing"
	KindModels   = "policy.models"
	KindLearning = "policy.learning"
	KindPalace   = "policy.palace"
	KindTool     = "tool.spec"
	KindAdapter  = "adapter.lora"
	KindSummary  = "memory.summary"
	KindContext  = "context.knowledge"
	KindSource   = "data.source"

	KindConnection = "connection.spec"
	KindMCPServer  = "mcp.server"
)

// Artifact is a document at its current version.
type Artifact struct {
	ID          string
	OwnerID     string // empty: global
	Type        string // the kind
	Name        string // unique per owner and type
	Description string
	Visibility  string // private, shared, global (ISO-06)
	Version     int    // from 1
	Schema      json.RawMessage
	FSPath      string
	CreatedBy   string // of the current version: system, user, llm
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Meta        map[string]any
	Rollout     *Rollout // nil: every new run takes the current version
	Opened      bool     // another person's, of which the viewer may write versions
}

// Rollout is a version that is being rolled out: only a share of new runs takes
// the current version, and the others the one before it.
type Rollout struct {
	Patch int64     `json:"patch"` // that made the version
	From  int       `json:"from"`  // the version the others take
	Share int       `json:"share"` // percent of new runs that take the current one: 1 to 99
	Since time.Time `json:"since"`
}

// Version is one immutable version (ART-06).
type Version struct {
	ArtifactID string
	Version    int
	Schema     json.RawMessage
	CreatedBy  string
	ChangeNote string
	CreatedAt  time.Time
}

// Filter narrows ListArtifacts; zero values do not narrow.
type Filter struct {
	Type       string
	Visibility string
	Status     string // active, draft
	Shared     bool   // also what others share with the viewer; what goes by its name is never theirs
	Cursor     string
	Limit      int // 1 to 100, 20 by default
}

// Seed is a default document that ships with the program.
type Seed struct {
	Type, Name, Description string
	Schema                  json.RawMessage
}

// Store keeps artifacts and their versions.
type Store interface {
	CreateArtifact(ctx context.Context, v identity.Viewer, a Artifact, note string) (Artifact, error)
	Artifact(ctx context.Context, v identity.Viewer, id string) (Artifact, error)
	// ArtifactNamed finds by type and name: the viewer's own before a global one.
	ArtifactNamed(ctx context.Context, v identity.Viewer, kind, name string) (Artifact, error)
	// ArtifactsNamed is ArtifactNamed for several names; those there is nothing of
	// are left out.
	ArtifactsNamed(ctx context.Context, v identity.Viewer, kind string, names []string) (map[string]Artifact, error)
	ListArtifacts(ctx context.Context, v identity.Viewer, f Filter) ([]Artifact, string, error)
	// AppendVersion writes version base+1. A base that is no longer the current
	// version is a Conflict and changes nothing (ART-09).
	AppendVersion(ctx context.Context, v identity.Viewer, id string, base int, schema json.RawMessage, by, note string) (Artifact, error)
	Versions(ctx context.Context, v identity.Viewer, id string) ([]Version, error)
	// VersionOf gives one version; NotFound when there is none, or the artifact
	// is not the viewer's to see.
	VersionOf(ctx context.Context, v identity.Viewer, id string, version int) (Version, error)
	// Seed writes defaults that are missing, and new versions of those whose
	// current version was written by "system"; never over a person's (ART-10).
	Seed(ctx context.Context, v identity.Viewer, seeds []Seed) error
}
