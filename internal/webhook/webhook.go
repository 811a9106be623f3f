// Package webhook tells people and their programs what happens to their runs: a
// question that waits, a run that is done or has failed. Programs are sent signed
// requests as Standard Webhooks has them, people letters.
//
// What is to be told is written with what happened (an outbox), spread over the
// endpoints that want it, and sent until it was taken or a day is over. It is told
// at least once: the id of a delivery is the same each time it is sent. No text of a
// person is kept here; what a request says of a question is read when it is sent.
//
// It may import fault, id, identity, run and vault.
package webhook

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/run"
)

// Kind is what happened.
type Kind string

// The kinds of event. Test is sent when its person asks for it, and to no letter.
const (
	QuestionWaiting Kind = "question.waiting"
	RunDone         Kind = "run.done"
	RunFailed       Kind = "run.failed"
	Test            Kind = "webhook.test"
)

// Kinds are those an endpoint can be told.
func Kinds() []Kind { return []Kind{QuestionWaiting, RunDone, RunFailed} }

// The channels of an endpoint.
const (
	HTTP = "http"
	Mail = "mail"
)

// The reasons of an endpoint that was turned off by something other than its person.
const (
	Gone    = "gone"    // it answered 410
	Failing = "failing" // nothing got through for FailingFor
)

const (
	// Most is how many endpoints of their own a person may have, and a tenant.
	Most = 20
	// KeepFor is how long a delivery is listed after it has ended.
	KeepFor = 30 * 24 * time.Hour
	// FailingFor is how long nothing gets through before an endpoint is turned off.
	FailingFor = 5 * 24 * time.Hour
	// OverlapFor is how long requests are signed with the secret before too, after
	// there is a new one.
	OverlapFor = 24 * time.Hour
	// MaxAfter is the longest a letter about a question waits.
	MaxAfter = 24 * time.Hour
)

// Endpoint is where somebody is told.
type Endpoint struct {
	ID, UserID  string
	TenantID    string // told of everybody's runs there, and no word of them; empty: of the person's own
	Channel     string
	URL         string
	Description string
	Events      []Kind
	Assistants  []string      // ids and names of workflows; empty: all
	Sealed      []byte        // the secrets of HTTP
	After       time.Duration // how long a question waits before a letter, in whole minutes
	On          bool
	Reason      string // why it is off; empty: its person turned it off
	KeyID       string // the access key it was made with; empty: in a session
	KeyEnded    bool   // and that has ended: it is told nothing
	FailingAt   time.Time
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Event is what happened.
type Event struct {
	ID             string
	Kind           Kind
	UserID         string // whose run it is
	RunID          string
	InterruptID    string // of a question
	ConversationID string // empty: the run is of none
	AssistantID    string // of the workflow; empty: a tool by itself
	Assistant      string // its name
	At             time.Time
}

// Status is where a delivery stands.
type Status string

// The states of a delivery.
const (
	Waiting Status = "waiting"
	Sent    Status = "sent"
	Failed  Status = "failed"
	// Skipped was not sent: the question was answered, or the endpoint turned off.
	Skipped Status = "skipped"
)

// Delivery is an event on its way to an endpoint.
type Delivery struct {
	ID         string // the webhook-id of each request
	EndpointID string
	UserID     string // whose endpoint it is
	Event      Event  // its ID is not kept
	Status     Status
	Attempts   int
	NextAt     time.Time // zero: it has ended
	Lease      string    // of who sends it now
	Code       int       // the last status of HTTP; 0: no answer
	Error      string    // why the last attempt failed, a word
	CreatedAt  time.Time
	EndedAt    time.Time
}

// Endpoints keeps endpoints and what they were told. What a person may not see is
// NotFound: somebody else's, and with an access key those that it did not make.
type Endpoints interface {
	// CreateEndpoint keeps one; Conflict when there are Most of them.
	CreateEndpoint(ctx context.Context, v identity.Viewer, e Endpoint) (Endpoint, error)
	Endpoint(ctx context.Context, v identity.Viewer, id string) (Endpoint, error)
	// Endpoints lists those of HTTP, the latest first.
	Endpoints(ctx context.Context, v identity.Viewer) ([]Endpoint, error)
	// ChangeEndpoint keeps what change makes of one. One that is off afterwards is
	// told nothing that waits.
	ChangeEndpoint(ctx context.Context, v identity.Viewer, id string, change func(*Endpoint) error) (Endpoint, error)
	// RemoveEndpoint forgets one and its deliveries.
	RemoveEndpoint(ctx context.Context, v identity.Viewer, id string) error
	// Letters is what the viewer is written of; the zero one, when of nothing.
	Letters(ctx context.Context, v identity.Viewer) (Endpoint, error)
	// SetLetters changes it; without events there is none any more.
	SetLetters(ctx context.Context, v identity.Viewer, e Endpoint) error
}

// Deliveries keeps what endpoints are told, as Endpoints does for its viewer.
type Deliveries interface {
	// ListDeliveries lists those of an endpoint, the latest first; next is the cursor
	// of the rest.
	ListDeliveries(ctx context.Context, v identity.Viewer, endpointID, cursor string, limit int) (list []Delivery, next string, err error)
	// AddDelivery keeps one that is due; Conflict when its endpoint is off.
	AddDelivery(ctx context.Context, v identity.Viewer, d Delivery) (Delivery, error)
	// Redeliver makes one due again, with its attempts before it.
	Redeliver(ctx context.Context, v identity.Viewer, endpointID, id string) (Delivery, error)
}

// Job is a delivery that was claimed, with what it takes to send it.
type Job struct {
	Delivery
	Endpoint Endpoint
	Person   identity.User // whose endpoint it is
}

// Subject is what is known of what an event is about when it is sent.
type Subject struct {
	Question *run.Interrupt // nil: it is gone
	Code     string         // why a run failed
}

// Outcome is what came of an attempt.
type Outcome struct {
	Status Status
	Code   int
	Error  string
	NextAt time.Time // of one that is Waiting
	Gone   bool      // the endpoint says that it is there no more
}

// Queue is the work of couriers, for the system alone.
type Queue interface {
	// Due reports whether there is anything to do.
	Due(ctx context.Context, v identity.Viewer) (bool, error)
	// Spread makes deliveries of up to limit events, and says of how many.
	Spread(ctx context.Context, v identity.Viewer, limit int) (int, error)
	// Claim gives up to n due deliveries to one courier for a while. Of an endpoint
	// and of a person few are sent at a time.
	Claim(ctx context.Context, v identity.Viewer, n int, lease time.Duration) ([]Job, error)
	// Subject reads what an event is about.
	Subject(ctx context.Context, v identity.Viewer, e Event) (Subject, error)
	// Settle writes what came of an attempt, unless somebody else has the delivery by
	// now; off says that its endpoint was turned off with it.
	Settle(ctx context.Context, v identity.Viewer, j Job, o Outcome) (off bool, err error)
	// Prune forgets deliveries that ended before a time, and says how many.
	Prune(ctx context.Context, v identity.Viewer, before time.Time) (int, error)
}
