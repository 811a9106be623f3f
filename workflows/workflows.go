// Package workflows is the deterministic side: drive, which carries out the
// effects of a graph on Temporal, and the thin named workflows around it.
//
// Each named workflow is the same three steps (open, drive the pinned graph,
// close); they have names of their own so that a person recognises a run by
// its type. Everything with an effect is an activity, called by name. The
// package may import activities (its types), graph, the nouns' types and the
// SDK's workflow side; no store, clock or goroutine of Go's own.
package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"liminal/activities"
	"liminal/internal/run"
)

// The types of workflow.
const (
	ChatTurnType    = "ChatTurn"
	IngestType      = "Ingest"
	ToolRunType     = "ToolRun"
	RunWorkflowType = "RunWorkflow"
	SweepType       = "Sweep"
	ConfigPatchType = "ConfigPatch"
	ArchitectType   = "Architect"
	ClusterType     = "Cluster"
	LearnType       = "Learn"
	TrainType       = "Train"
	PalaceType      = "Palace"
)

// TypeOf is the workflow that runs a kind of run.
func TypeOf(k run.Kind) string {
	switch k {
	case run.KindChat:
		return ChatTurnType
	case run.KindIngest:
		return IngestType
	case run.KindTool:
		return ToolRunType
	case run.KindPatch:
		return ConfigPatchType
	case run.KindArchitect:
		return ArchitectType
	case run.KindCluster:
		return ClusterType
	case run.KindLearn:
		return LearnType
	case run.KindTrain:
		return TrainType
	case run.KindPalace:
		return PalaceType
	default:
		return RunWorkflowType
	}
}

// The signals, the update and the query of a run.
const (
	SignalAnswer = "answer" // activities.Answer
	SignalCancel = "cancel" // no payload: stop, or answer null when paused
	UpdateAnswer = "answer" // activities.Answer, of which the id is enough
	QueryState   = "state"  // → State
)

// The types of the errors that refuse an update.
const (
	TypeAnswered = "answered"  // the run has this answer for good
	TypeNotAsked = "not_asked" // it does not wait with this question, or not yet
)

// The search attributes of a run. They hold ids and words of ours, never text.
var (
	AttributeUser         = temporal.NewSearchAttributeKeyKeyword("liminal_user")
	AttributeConversation = temporal.NewSearchAttributeKeyKeyword("liminal_conversation")
	AttributeStatus       = temporal.NewSearchAttributeKeyKeyword("liminal_status")
	AttributeArtifact     = temporal.NewSearchAttributeKeyKeyword("liminal_artifact")
	AttributeVersion      = temporal.NewSearchAttributeKeyInt64("liminal_version")
)

// Attributes are all search attributes of runs; a namespace must know them
// before the first run.
func Attributes() []temporal.SearchAttributeKey {
	return []temporal.SearchAttributeKey{AttributeUser, AttributeConversation, AttributeStatus, AttributeArtifact, AttributeVersion}
}

// The values of AttributeStatus.
const (
	StatusRunning  = "running"
	StatusAwaiting = "awaiting_user"
)

// Options tune a Flows; the zero value works. Nothing in them may change what
// a workflow does: a history must replay in every process.
type Options struct {
	// Seals make and check the proof that what a run begins with is ours; nil
	// for a replay, which asks nobody on whose behalf.
	Seals *activities.Seals
	// MaxGraphs is how many parsed graphs a process keeps; 0 means 500.
	MaxGraphs int
	// Idle is told each time a run has nothing to do in this process but to
	// wait, and when it has ended; nil: nobody is.
	Idle func(activities.RunInput)
	// Stop is told that a run was cancelled while an activity of this process had
	// it in hand; nil: nobody is.
	Stop func(activities.RunInput)
}

// Flows are the workflows with what a process keeps for them: parsed graphs.
type Flows struct {
	graphs     graphs
	idle, stop func(activities.RunInput)
	seals      *activities.Seals
}

// New makes the workflows of one worker.
func New(o Options) *Flows {
	if o.MaxGraphs <= 0 {
		o.MaxGraphs = 500
	}
	if o.Idle == nil {
		o.Idle = func(activities.RunInput) {}
	}
	if o.Stop == nil {
		o.Stop = func(activities.RunInput) {}
	}
	return &Flows{graphs: graphs{most: o.MaxGraphs}, idle: o.Idle, stop: o.Stop, seals: o.Seals}
}

// Registry takes workflows under names; a worker, a replayer and a test
// environment are ones.
type Registry interface {
	RegisterWorkflowWithOptions(w any, options workflow.RegisterOptions)
}

// Register registers every workflow.
func (f *Flows) Register(r Registry) {
	r.RegisterWorkflowWithOptions(f.ChatTurn, workflow.RegisterOptions{Name: ChatTurnType})
	r.RegisterWorkflowWithOptions(f.Ingest, workflow.RegisterOptions{Name: IngestType})
	r.RegisterWorkflowWithOptions(f.ToolRun, workflow.RegisterOptions{Name: ToolRunType})
	r.RegisterWorkflowWithOptions(f.RunWorkflow, workflow.RegisterOptions{Name: RunWorkflowType})
	r.RegisterWorkflowWithOptions(f.ConfigPatch, workflow.RegisterOptions{Name: ConfigPatchType})
	r.RegisterWorkflowWithOptions(f.Architect, workflow.RegisterOptions{Name: ArchitectType})
	r.RegisterWorkflowWithOptions(f.Cluster, workflow.RegisterOptions{Name: ClusterType})
	r.RegisterWorkflowWithOptions(f.Learn, workflow.RegisterOptions{Name: LearnType})
	r.RegisterWorkflowWithOptions(f.Train, workflow.RegisterOptions{Name: TrainType})
	r.RegisterWorkflowWithOptions(f.Palace, workflow.RegisterOptions{Name: PalaceType})
	r.RegisterWorkflowWithOptions(f.Sweep, workflow.RegisterOptions{Name: SweepType})
}

// The bounds of activities.
const (
	// heartbeatTimeout is how soon a dead worker is noticed. Heartbeats come
	// every second; with the time its sticky queue costs, a run goes on within
	// five (OPS-09).
	heartbeatTimeout = 3 * time.Second
	// startLimit is how long a call of a chat may wait for a worker: a queue
	// nobody polls must end in an error and not in an endless wait (CHAT-27).
	startLimit = 2 * time.Minute
	// directLimit is more than what opens a run goes on with it: each of its calls
	// has a bound of its own.
	directLimit = time.Hour
	// leaveLimit is how long a cancelled run waits for what the child it has told
	// to end has written. Temporal then ends it.
	leaveLimit = 500 * time.Millisecond
	// storeTimeout bounds one attempt of the short activities over the store.
	storeTimeout = 10 * time.Second
)
