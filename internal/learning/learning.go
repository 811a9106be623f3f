// Package learning is what people say of answers and what is made of it.
//
// Here it records: a preference is an event, kept with what it was about, so
// that clusters and training can read it later. It may import fault, id,
// identity and embed; it knows no database and no HTTP.
package learning

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Bounds of what a person may say, in bytes.
const (
	MaxNotes     = 4 << 10
	MaxCorrected = 256 << 10
	maxContext   = 8 << 10
)

// signals are what a person may say and what it weighs, from -1 to 1 (PREF-01).
var signals = map[string]float64{"like": 1, "always": 1, "dislike": -1, "never": -1}

// Signals lists what a person may say of an answer, sorted.
func Signals() []string { return slices.Sorted(maps.Keys(signals)) }

// Feedback is what a person says of one answer.
type Feedback struct {
	ConversationID string
	MessageID      string // of the answer
	Signal         string // one of Signals
	Notes          string // why, in their own words
	Corrected      string // what the answer should have been (PREF-04)
	HeardIn        string // the message it was read out of; empty: given as such
}

// Event is feedback as it is kept.
type Event struct {
	ID             int64
	UserID         string
	ConversationID string
	MessageID      string
	Signal         string
	Score          float64   // from -1 to 1
	Embedding      []float32 // of where the conversation stood, never empty
	ContextText    string    // what the answer was an answer to
	Corrected      string
	ClusterID      string // empty until it has one
	CreatedAt      time.Time
	Meta           map[string]any // notes, the encoder's version, and where it was heard
}

// Notes are why, in the person's own words.
func (e Event) Notes() string {
	notes, _ := e.Meta[metaNotes].(string)
	return notes
}

// HeardIn is the message of the person's that the feedback was read out of;
// empty for feedback that was given as such (PREF-02).
func (e Event) HeardIn() string {
	heard, _ := e.Meta[metaHeard].(string)
	return heard
}

// The keys of an event's Meta.
const (
	metaNotes = "notes"
	metaHeard = "heard_in"
)

// Retraction takes an event back.
type Retraction struct {
	ID        int64
	MessageID string // of the answer it is about; empty: whichever. Ids of events that are gone may come again.
	Earlier   bool   // with what was said of the same answer before
}

// Use is how an adapter has been used (ROUTE-13).
type Use struct {
	Count int64     // runs whose models were asked with it
	Score float64   // the average of what people said of its answers, from -1 to 1
	Last  time.Time // zero: never
}

// Used is one adapter that a run's models were asked with.
type Used struct {
	AdapterID string
	Version   int     // of the artifact
	Weight    float64 // its gate, 0 to 1
}

// Target is what feedback is about.
type Target struct {
	Role     string // of the message
	Question string // what the person had said before it
	Withheld bool   // the answer was not shown, or its turn was of a kind nothing is learnt from
}

// Store keeps events.
type Store interface {
	// Target returns the viewer's own message; NotFound if the conversation or
	// the message is not theirs, or the one is not of the other.
	Target(ctx context.Context, v identity.Viewer, conversationID, messageID string) (Target, error)
	// PutPreference stores an event of the viewer's and returns it with its ID.
	// It stands in the place of what the viewer said of the answer before. One
	// that was heard in a message marks that message, once: a Conflict when it
	// is marked already. NotFound as above.
	PutPreference(ctx context.Context, v identity.Viewer, e Event) (Event, error)
	// DropPreference removes an event of the viewer's, and says so in the
	// message it was heard in. It returns the event; NotFound if there is none
	// of theirs.
	DropPreference(ctx context.Context, v identity.Viewer, back Retraction) (Event, error)
	// LatestPreferences returns what the viewer said last of each of the
	// messages, by message; those of which nothing stands are left out.
	LatestPreferences(ctx context.Context, v identity.Viewer, messageIDs ...string) (map[string]Event, error)
	// ListPreferences pages through the viewer's events, latest first.
	ListPreferences(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]Event, string, error)
}

// Recorder turns feedback into events.
type Recorder struct {
	store    Store
	embedder embed.Embedder
	changed  func(ctx context.Context, conversationID string)
}

// NewRecorder keeps events in a store, embedded by e.
func NewRecorder(s Store, e embed.Embedder) *Recorder {
	return &Recorder{store: s, embedder: e, changed: func(context.Context, string) {}}
}

// Changed is called with every conversation of which a message was marked, once
// that is written.
func (r *Recorder) Changed(f func(ctx context.Context, conversationID string)) *Recorder {
	r.changed = f
	return r
}

// Record keeps what a person says of an answer. Errors: NotFound for what is
// not theirs; Invalid for a signal there is not, for a message that is no
// answer (PREF-07) and for an answer that was withheld (PREF-03).
func (r *Recorder) Record(ctx context.Context, v identity.Viewer, f Feedback) (Event, error) {
	if err := f.check(); err != nil {
		return Event{}, err
	}
	target, err := r.store.Target(ctx, v, f.ConversationID, f.MessageID)
	switch {
	case err != nil:
		return Event{}, err
	case target.Role != "assistant":
		return Event{}, fault.New(fault.Invalid, "Only an answer can be liked or disliked, and this message is none.").With(map[string]any{"field": "message_id"})
	case target.Withheld:
		return Event{}, fault.New(fault.Invalid, "This answer was withheld or judged unsafe, so nothing is learnt from it.").With(map[string]any{"field": "message_id"})
	}
	about := clip(target.Question, maxContext)
	vec, err := embed.Turn(ctx, r.embedder, about, "")
	if err != nil {
		return Event{}, err
	}
	e := Event{
		UserID: v.UserID, ConversationID: f.ConversationID, MessageID: f.MessageID, Signal: f.Signal, Score: signals[f.Signal],
		Embedding: embed.Fit(vec, embed.Dim), ContextText: about, Corrected: f.Corrected,
		Meta: map[string]any{"encoder": r.embedder.Version()},
	}
	if f.Notes != "" {
		e.Meta[metaNotes] = f.Notes
	}
	if f.HeardIn != "" {
		e.Meta[metaHeard] = f.HeardIn
	}
	e, err = r.store.PutPreference(ctx, v, e)
	if err == nil && f.HeardIn != "" {
		r.changed(ctx, e.ConversationID)
	}
	return e, err
}

// TakeBack removes what a person said of an answer, and returns what stands of
// it then; nil: nothing. NotFound for an event that is not theirs.
func (r *Recorder) TakeBack(ctx context.Context, v identity.Viewer, back Retraction) (*Event, error) {
	gone, err := r.store.DropPreference(ctx, v, back)
	if err != nil {
		return nil, err
	}
	if gone.HeardIn() != "" {
		r.changed(ctx, gone.ConversationID)
	}
	stands, err := r.store.LatestPreferences(ctx, v, gone.MessageID)
	if e, ok := stands[gone.MessageID]; ok {
		return &e, err
	}
	return nil, err
}

// Latest is what a person said last of each message, by its id.
func (r *Recorder) Latest(ctx context.Context, v identity.Viewer, messageIDs ...string) (map[string]Event, error) {
	return r.store.LatestPreferences(ctx, v, messageIDs...)
}

func (f Feedback) check() error {
	if _, ok := signals[f.Signal]; !ok {
		return fault.New(fault.Invalid, "There is no signal %q. There are %s.", f.Signal, strings.Join(Signals(), ", ")).
			With(map[string]any{"field": "signal", "signals": Signals()})
	}
	for field, value := range map[string]string{"conversation_id": f.ConversationID, "message_id": f.MessageID} {
		if !id.Valid(value) {
			return fault.New(fault.Invalid, "%s is not an id.", field).With(map[string]any{"field": field})
		}
	}
	switch {
	case len(f.Notes) > MaxNotes:
		return fault.New(fault.Invalid, "The notes are longer than %d KB.", MaxNotes>>10).With(map[string]any{"field": "notes"})
	case len(f.Corrected) > MaxCorrected:
		return fault.New(fault.Invalid, "The corrected text is longer than %d KB.", MaxCorrected>>10).With(map[string]any{"field": "corrected_text"})
	}
	return nil
}

// clip cuts s to at most n bytes without breaking a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
