// Package run is one execution of a graph: its row, its state, and the
// questions it asks people.
//
// It may import fault, graph, id and identity. It knows no Temporal: a run's
// workflow id is only a string here.
package run

import (
	"context"
	"encoding/json"
	"time"

	"liminal/internal/id"
	"liminal/internal/identity"
)

// Kind is what a run is for; it names the Temporal workflow type too.
type Kind string

// The kinds of run.
const (
	KindChat   Kind = "chat"
	KindIngest Kind = "ingest"
	KindTool   Kind = "tool"
	KindGraph  Kind = "graph" // a workflow artifact run by itself
	// KindPatch and KindArchitect are the system's own: a proposed change on
	// its way, and the graph that proposes changes (CFG-15, CFG-13).
	KindPatch     Kind = "patch"
	KindArchitect Kind = "architect"
	// KindCluster is what the house does with what people say of answers: a
	// person's run finds their situations and what they want there, the system's
	// those of everybody. KindLearn is its part about one situation (PLAT-11).
	KindCluster Kind = "cluster"
	KindLearn   Kind = "learn"
	// KindTrain trains an adapter of a person's own with what they said of
	// answers (TRAIN-08).
	KindTrain Kind = "train"
	// KindPalace looks after what the capture proxy kept of a person's agents (PAL-22).
	KindPalace Kind = "palace"
)

// Status is where a run stands.
type Status string

// The states of a run. Queued runs wait for an earlier turn of the same
// conversation; waiting runs wait for a person and count against no cap (C-23).
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Waiting   Status = "waiting"
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// UnkeptFor is how long a run of which nothing is kept can be read after its end:
// as long as a reader whose connection broke may take to come back (STREAM-24).
const UnkeptFor = 30 * time.Second

// KeepStream is how long the stream of a run that ended stays readable.
func KeepStream(runID string) time.Duration {
	if id.Unkept(runID) {
		return UnkeptFor
	}
	return keepStream
}

// keepStream is after which readers of a run that ended are answered from the
// store.
const keepStream = 5 * time.Minute

// Ended reports whether nothing more will happen.
func (s Status) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Pin is an artifact at the version a run opened with (PLAT-08).
type Pin struct {
	ArtifactID string `json:"artifact_id"`
	Name       string `json:"name"`
	Version    int    `json:"version"`
}

// Run is the row of one execution.
type Run struct {
	ID             string
	WorkflowID     string // chat:{conversation}:{request}, ingest:{document}, …
	Kind           Kind
	UserID         string
	KeyID          string // the access key it was begun with; empty: none
	ConversationID string // empty unless Kind is chat
	RequestID      string
	Status         Status
	Input          json.RawMessage // what the run was asked, small; large values by reference
	Pins           []Pin
	Result         json.RawMessage
	Error          json.RawMessage // {"code","message","node"}
	Trace          json.RawMessage // a Trace; of runs of early programs its Steps alone
	CreatedAt      time.Time
	StartedAt      time.Time
	EndedAt        time.Time
}

// Option is one choice of a question.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// InterruptStatus is where a question stands.
type InterruptStatus string

// The states of a question. One answer wins; later ones are refused (INT-31).
const (
	Pending  InterruptStatus = "pending"
	Answered InterruptStatus = "answered"
	Skipped  InterruptStatus = "cancelled"
	Expired  InterruptStatus = "expired"
)

// Interrupt is a question a run asks a person (INT-01, INT-15).
type Interrupt struct {
	ID             string // derived from run and effect
	RunID          string
	WorkflowID     string // where the answer is signalled; a child's own id
	EffectID       string
	UserID         string
	ConversationID string
	Type           string // doc_choice, text_input, action_choice, retrieval_low, or another
	Message        string
	Options        []Option
	AnswerSchema   json.RawMessage
	Status         InterruptStatus
	Answer         json.RawMessage // nil until answered; null when cancelled
	Delivered      bool            // the workflow has the answer
	CreatedAt      time.Time
	AnsweredAt     time.Time
	ExpiresAt      time.Time // zero: it waits without limit (INT-04)
}

// MaxAtWork is how many tools and workflows by themselves one person may have
// at work at once; those that wait for a person do not count.
const MaxAtWork = 8

// Runs reads runs and moves their state.
type Runs interface {
	Run(ctx context.Context, v identity.Viewer, id string) (Run, error)
	RunByRequest(ctx context.Context, v identity.Viewer, requestID string) (Run, error)
	// CreateRun stores a run that is not a chat turn. The same WorkflowID while
	// an earlier run of it has not ended is a Conflict; more than MaxAtWork tools
	// and workflows of one person is RateLimited.
	CreateRun(ctx context.Context, v identity.Viewer, r Run) error
	// OpenRun records what a run pinned when it opened; doing it again changes
	// nothing. A run that ends without it is recorded by its End.
	OpenRun(ctx context.Context, v identity.Viewer, id string, pins []Pin) error
	// EndRun closes a run that is not a chat turn; ending it twice changes nothing.
	EndRun(ctx context.Context, v identity.Viewer, id string, e End) error
	// Unfinished lists runs of every user that are running or waiting and are
	// older than age, oldest first, for the reconciler.
	Unfinished(ctx context.Context, v identity.Viewer, age time.Duration) ([]Run, error)
	// ListRuns lists the viewer's runs, newest first.
	ListRuns(ctx context.Context, v identity.Viewer, f Filter) ([]Run, string, error)
}

// Filter narrows ListRuns; zero values do not narrow.
type Filter struct {
	Kind   Kind
	Status Status
	// Artifact is the id of the graph the run is pinned to first.
	Artifact string
	// Conversation is the id of the one the run is a turn of.
	Conversation string
	// All lists everybody's runs without their inputs and results, for an
	// administrator; Forbidden for anybody else.
	All    bool
	Cursor string
	Limit  int // 1 to 100, 20 by default
}

// End is how a run ended.
type End struct {
	Status Status
	Result json.RawMessage
	Error  json.RawMessage
	Trace  json.RawMessage
	Pins   []Pin // what OpenRun would record, where nothing was recorded yet
	// Audit is what completes the row that a run of a surface left, as JSON of
	// chat.TurnEnd; nil: nobody knows more than how it ended.
	Audit json.RawMessage
	// Recording is kept for rehearsals, with the end; nil: nothing is.
	Recording *Recording
}

// Interrupts keeps the questions.
type Interrupts interface {
	// Ask stores pending questions of one run and marks the run waiting when
	// waiting is true; asking the same id again changes nothing.
	Ask(ctx context.Context, v identity.Viewer, waiting bool, asked ...Interrupt) error
	// Answer claims a question: pending → s with the answer. Exactly one caller
	// wins. A question already settled is a Conflict (409); an unknown one, or
	// another person's, is NotFound.
	Answer(ctx context.Context, v identity.Viewer, id string, s InterruptStatus, answer json.RawMessage) (Interrupt, error)
	// Interrupt returns one question.
	Interrupt(ctx context.Context, v identity.Viewer, id string) (Interrupt, error)
	// PendingInterrupts lists what waits for the viewer, oldest first; only of
	// one conversation when conversationID is not empty.
	PendingInterrupts(ctx context.Context, v identity.Viewer, conversationID string) ([]Interrupt, error)
	// Deliver marks answers the workflow has received by a signal, and the run as
	// running; without ids the run alone.
	Deliver(ctx context.Context, v identity.Viewer, runID string, ids ...string) error
	// Delivered marks answers that runs have taken in as updates, whoever's they
	// are; only for the system.
	Delivered(ctx context.Context, v identity.Viewer, ids ...string) error
	// Undelivered lists answers of every user that may have been lost on their
	// way to the run, also to one whose row has ended.
	Undelivered(ctx context.Context, v identity.Viewer, age time.Duration) ([]Interrupt, error)
}

// Blobs keeps values too large for a workflow payload (PLAT-14). A reference
// is "blob:<id>"; it lives as long as its run's row.
type Blobs interface {
	PutBlob(ctx context.Context, v identity.Viewer, runID, key string, value []byte) (ref string, err error)
	Blob(ctx context.Context, v identity.Viewer, ref string) ([]byte, error)
}
