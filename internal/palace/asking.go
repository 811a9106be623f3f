package palace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Outcome is what came of asking a model about a window of blocks.
type Outcome string

// The outcomes. All but the first change nothing (PAL-09).
const (
	Understood Outcome = "understood"
	Unreadable Outcome = "unreadable" // the answer is not of the grammar, or names what was not asked about
	Late       Outcome = "late"       // it did not come within the policy's deadline
	Failed     Outcome = "failed"     // the model could not be asked
	NotLocal   Outcome = "remote"     // the model is not on this machine, and the policy does not allow that
	NoModel    Outcome = "none"       // there is no language model to ask
)

// mostKeptAnswer bounds what is kept of an answer, in bytes, and mostKeptRefused why it
// changed nothing.
const mostKeptAnswer, mostKeptRefused = 2000, 500

// Question is what a model is asked about a lineage.
type Question struct {
	Lineage    string
	Agent      int // its number
	Exchanges  int // of the lineage, when it is asked
	Classifier view.Classifier
	Notes      view.Notes
	Window     view.Window
}

// Reply is what came of asking. Outcome is "" where there is a Text.
type Reply struct {
	Model   string
	Text    string
	Outcome Outcome
	Why     string // of an outcome
	Took    time.Duration
}

// Classified is what a model was asked about a lineage, and what came of it.
type Classified struct {
	ID        string    `json:"id"`
	Lineage   string    `json:"lineage"`
	Exchanges int       `json:"exchanges"` // of the lineage, when it was asked
	Who       string    `json:"by"`
	Model     string    `json:"model"`
	Blocks    []string  `json:"blocks"` // the window, by their UUIDs
	Answer    string    `json:"answer"`
	Outcome   Outcome   `json:"outcome"`
	Refused   string    `json:"refused,omitempty"` // why it changed nothing
	Took      int64     `json:"took_us"`
	At        time.Time `json:"at"`
}

// Wishes are those of an answer that was understood, by the UUIDs of blocks, and the
// channels of those in In.
type Wishes struct {
	Do       map[string]view.Do
	Channels []string
	In       []string
}

// mostAnswers is how many of the last answers the figures of models are of.
const mostAnswers = 100

// ModelFigures are those of the models that classified: of the answers that are kept, and
// the quantiles of the last 100, in microseconds.
type ModelFigures struct {
	Calls    int64             `json:"calls"`
	Outcomes map[Outcome]int64 `json:"outcomes"`
	Last     int64             `json:"last_us"`
	P50      int64             `json:"p50_us"`
	P99      int64             `json:"p99_us"`
	Most     int64             `json:"most_us"`
	// Refused is why the last answer that changed nothing did not.
	Refused string `json:"last_refused,omitempty"`
}

// modelFigures are those of answers, the newest first.
func modelFigures(outcomes map[Outcome]int64, list []Classified) ModelFigures {
	f := ModelFigures{Outcomes: outcomes}
	for _, n := range outcomes {
		f.Calls += n
	}
	var times []int64
	for i, c := range list {
		if i == 0 {
			f.Last = c.Took
		}
		if f.Refused == "" {
			f.Refused = c.Refused
		}
		times = append(times, c.Took)
	}
	slices.Sort(times)
	if n := len(times); n > 0 {
		f.P50, f.P99, f.Most = times[n/2], times[n*99/100], times[n-1]
	}
	return f
}

// Stats are figures of what is kept, and how long classifying takes (PAL-08, PAL-14).
type Stats struct {
	Figures
	Classifier LatencyFigures `json:"classifier_latency"`
}

// Stats are those of a person.
func (l *Library) Stats(ctx context.Context, v identity.Viewer) (s Stats, err error) {
	if s.Figures, err = l.PalaceFigures(ctx, v); err != nil {
		return s, err
	}
	outcomes, err := l.PalaceOutcomes(ctx, v)
	if err != nil {
		return s, err
	}
	list, _, err := l.PalaceClassified(ctx, v, "", "", mostAnswers)
	s.Classifier = l.latency.figures()
	s.Classifier.Model = modelFigures(outcomes, list)
	return s, err
}

// readBehind is how many blocks before a window are looked at, for uses whose results
// are in it and for what the agent is at.
const readBehind = 100

// Question is what a model is asked about a lineage now (PAL-07).
func (l *Library) Question(ctx context.Context, v identity.Viewer, lineage string) (q Question, err error) {
	return l.question(ctx, v, lineage, func(p *view.Policy) (int, func([]view.Block) view.Window) {
		return 2*p.Classifier.Window + readBehind, p.Window
	})
}

// question is one about the end of a lineage: how many blocks of it are read, and the
// window of those.
func (l *Library) question(ctx context.Context, v identity.Viewer, lineage string, of func(*view.Policy) (int, func([]view.Block) view.Window)) (q Question, err error) {
	known, err := l.PalaceLineage(ctx, v, lineage)
	if err != nil {
		return q, err
	}
	policy, err := l.policyOf(ctx, v, known.ID)
	if err != nil {
		return q, err
	}
	q = Question{Lineage: known.ID, Exchanges: known.Exchanges, Classifier: policy.Classifier, Notes: policy.Notes}
	if q.Agent, err = l.PalaceAgentNumber(ctx, v, known.AgentID); err != nil {
		return q, err
	}
	list, err := l.PalaceTimeline(ctx, v, known.ID)
	if err != nil {
		return q, err
	}
	most, window := of(policy)
	list = list[max(0, len(list)-most):]
	read := map[string]view.Block{}
	if err := l.readInto(ctx, v, list, read); err != nil {
		return q, err
	}
	blocks := make([]view.Block, len(list))
	for i, b := range list {
		blocks[i] = current(read[b.UUID], b)
	}
	q.Window = window(blocks)
	return q, nil
}

// Heard takes in what came of asking: wishes and channels of an answer that is of the
// grammar and about the window, nothing of any other, and the answer itself. more tells
// that the lineage grew meanwhile.
func (l *Library) Heard(ctx context.Context, v identity.Viewer, q Question, r Reply) (c Classified, more bool, err error) {
	c = Classified{
		ID: id.New(), Lineage: q.Lineage, Exchanges: q.Exchanges, Who: view.ByModel, Model: r.Model, Blocks: []string{},
		Answer: bounded(r.Text, mostKeptAnswer), Outcome: r.Outcome, Refused: bounded(r.Why, mostKeptRefused), Took: r.Took.Microseconds(), At: l.now(),
	}
	for _, b := range q.Window.Blocks {
		c.Blocks = append(c.Blocks, b.UUID)
	}
	w := Wishes{Do: map[string]view.Do{}}
	if c.Outcome == "" {
		answer, err := view.ParseAnswer(r.Text, q.Window.IDs())
		if err == nil && slices.Contains(answer.Channels, ChannelSecret) {
			err = fmt.Errorf("the channel %s is of what is found, and nobody gives it", ChannelSecret)
		}
		if c.Outcome = Understood; err != nil {
			c.Outcome, c.Refused, answer = Unreadable, bounded(err.Error(), mostKeptRefused), view.Answer{}
		}
		w.In, w.Channels = q.Window.UUIDs(answer.Add), answer.Channels
		for _, b := range w.In {
			w.Do[b] = view.Show
		}
		for _, b := range q.Window.UUIDs(answer.Remove) {
			w.Do[b] = view.Aside
		}
	}
	if err := l.PutPalaceClassified(ctx, v, c, w); err != nil {
		return c, false, err
	}
	if l.Answered != nil {
		l.Answered(c)
	}
	if l.Grown != nil && len(w.Do) > 0 {
		l.Grown([]string{q.Lineage})
	}
	now, err := l.PalaceLineage(ctx, v, q.Lineage)
	if fault.CodeOf(err) == fault.NotFound {
		return c, false, nil
	}
	return c, now.Exchanges > q.Exchanges, err
}

// bounded is the beginning of a text.
func bounded(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most] // what is half a character is made whole where it is stored
}
