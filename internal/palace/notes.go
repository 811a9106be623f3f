package palace

import (
	"context"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/redact"
	"liminal/internal/view"
)

// NoteState is what its person made of a note.
type NoteState string

// The states.
const (
	Proposed  NoteState = "proposed"
	NoteKept  NoteState = "kept"
	Dismissed NoteState = "dismissed"
)

// Note is what a model proposes to keep of a history that has ended. Nothing comes of it
// before a person keeps it.
type Note struct {
	ID        string     `json:"id"`
	Lineage   string     `json:"lineage"`
	Agent     int        `json:"agent_id"` // the number of whose history it is
	Says      string     `json:"says"`
	Blocks    []string   `json:"blocks"`  // that it is drawn from, by their UUIDs
	Sources   []Block    `json:"sources"` // the same, as they are now
	Model     string     `json:"model"`
	State     NoteState  `json:"state"`
	MadeAt    time.Time  `json:"made_at"`
	DecidedAt *time.Time `json:"decided_at" nullable:"true"`
}

// NoteFilter narrows a list of notes; what is empty does not.
type NoteFilter struct {
	State   NoteState
	Lineage string
}

// Draft is a note as a model writes it, with numbers of the window it was asked about.
type Draft struct {
	Says   string `json:"says"`
	Blocks []int  `json:"blocks"`
}

const (
	// endedWithin is how long ago a history may have ended that notes are asked for of, and
	// mostEnded how many of them an hour.
	endedWithin = 72 * time.Hour
	mostEnded   = 50
	// mostReadEnded is how many blocks are looked at for what was said.
	mostReadEnded = 2000
	mostNoteBytes = 2400
)

// Notable are the lineages that have ended and whose policy has notes proposed, with the
// model that is asked.
func (l *Library) Notable(ctx context.Context, v identity.Viewer) (map[string]string, error) {
	list, err := l.PalaceEnded(ctx, v, l.now().Add(-endedWithin), mostEnded)
	out := map[string]string{}
	for _, lineage := range list {
		policy, err := l.policyOf(ctx, v, lineage)
		if err != nil {
			return nil, err
		}
		if policy.Notes.Propose {
			out[lineage] = policy.Classifier.Model
		}
	}
	return out, err
}

// Consolidation is what a model is asked about a lineage that has ended.
func (l *Library) Consolidation(ctx context.Context, v identity.Viewer, lineage string) (Question, error) {
	return l.question(ctx, v, lineage, func(p *view.Policy) (int, func([]view.Block) view.Window) { return mostReadEnded, p.Ended })
}

// Note keeps what a model proposes of a lineage, and gives how many notes that were: those
// that name blocks of the window, and no others.
func (l *Library) Note(ctx context.Context, v identity.Viewer, q Question, model string, drafts []Draft) (int, error) {
	var list []Note
	for _, d := range drafts {
		says, _ := redact.Secrets(strings.TrimSpace(d.Says))
		if says == "" || len(says) > mostNoteBytes || !q.Window.Noted(d.Blocks) || len(list) >= q.Notes.Most {
			continue
		}
		list = append(list, Note{ID: id.New(), Lineage: q.Lineage, Says: says, Blocks: q.Window.UUIDs(d.Blocks), Model: model, State: Proposed, MadeAt: l.now()})
	}
	return len(list), l.PutPalaceNotes(ctx, v, q.Lineage, list)
}

// KeepNote keeps a note, whose blocks are LONG from then on, or dismisses it.
func (l *Library) KeepNote(ctx context.Context, v identity.Viewer, note string, keep bool) (n Note, err error) {
	if n, err = l.PalaceNote(ctx, v, note); err != nil {
		return n, err
	}
	if n.State == NoteKept && !keep {
		return n, fault.New(fault.Conflict, "The note is kept, and its blocks are LONG; give those another tier instead.")
	}
	state := Dismissed
	if keep {
		state = NoteKept
		if err := l.SetPalaceTier(ctx, v, n.Blocks, Long); err != nil {
			return n, err
		}
	}
	if err := l.DecidePalaceNote(ctx, v, n.ID, state); err != nil {
		return n, err
	}
	return l.PalaceNote(ctx, v, n.ID)
}
