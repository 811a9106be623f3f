package architect

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

// The bounds of what is handed in at once. The Desk's own are for an hour.
const (
	MaxProposals = 3
	MaxOps       = 20
	maxLooked    = 10       // proposals of one batch that are looked at
	maxOpsSize   = 16 << 10 // bytes
	maxText      = 2400     // bytes of a justification
	maxSentences = 6        // figures of a proposal
	maxSentence  = 240      // bytes of one
)

// Batch is what is to be handed in, and who thought of it.
type Batch struct {
	ByModel   bool
	Proposals []Proposal
	// Shown are the workflows a model was shown, by id, and at which version: it
	// may change no other. Rules need none.
	Shown map[string]int
}

// Handed is what became of a batch.
type Handed struct {
	Proposed []int64   `json:"proposed"` // ids of patches
	Refused  []Refusal `json:"refused"`
}

// Refusal is a proposal that was dropped, and why.
type Refusal struct {
	Artifact string `json:"artifact"`
	Why      string `json:"why"`
}

// Propose hands proposals in as the system's, each after it has been tried; at
// most MaxProposals (CFG-13). What does not stand is refused and logged, and
// nothing is approved: the Desk waits for a person. An error is a failure of
// ours; doing it again hands nothing in twice.
func (a *Architect) Propose(ctx context.Context, b Batch) (Handed, error) {
	h := Handed{Proposed: []int64{}, Refused: []Refusal{}}
	for i, p := range b.Proposals {
		if i == maxLooked {
			a.refuse(ctx, &h, Proposal{}, refusal("There were %d proposals; %d are looked at.", len(b.Proposals), maxLooked))
			break
		}
		id, err := a.hand(ctx, b, p, len(h.Proposed))
		refused, ok := errors.AsType[*fault.Error](err)
		switch {
		case err == nil:
			h.Proposed = append(h.Proposed, id)
		case !ok || refused.Code == fault.Internal || refused.Code == fault.Unauthorized:
			return h, err
		default:
			a.refuse(ctx, &h, p, refused)
		}
		if errors.Is(err, fault.RateLimited) {
			break // the others wait for another day
		}
	}
	return h, nil
}

// refuse notes what was dropped. That it was proposed before is nothing to
// warn of: the same figures say the same every day.
func (a *Architect) refuse(ctx context.Context, h *Handed, p Proposal, why *fault.Error) {
	artifact, level := cut(p.Artifact, 64), slog.LevelWarn
	if why.Code == fault.Conflict {
		level = slog.LevelInfo
	}
	a.o.Logger.Log(ctx, level, "the architect's proposal was dropped", "artifact", artifact, "rule", p.Rule, "why", why.Message)
	h.Refused = append(h.Refused, Refusal{artifact, why.Message})
}

// hand hands one proposal in. An error that is a fault of the proposal has one
// of the codes of people's mistakes.
func (a *Architect) hand(ctx context.Context, b Batch, p Proposal, already int) (int64, error) {
	if already >= MaxProposals {
		return 0, refusal("%d proposals are handed in at once and no more.", MaxProposals)
	}
	ops, err := sound(b, &p)
	if err != nil {
		return 0, err
	}
	artifact, err := a.o.Library.Get(ctx, identity.Steward(), p.Artifact)
	if err != nil {
		return 0, err
	}
	switch {
	case !readable(artifact):
		return 0, refusal("The architect changes workflows that are everybody's, and not those of its own way; %s is none.", artifact.Name)
	case artifact.Version != p.Base:
		return 0, refusal("%s is at version %d by now; the figures are of version %d.", artifact.Name, artifact.Version, p.Base)
	case artifact.Rollout != nil:
		return 0, refusal("Version %d of %s is on trial; what comes of it is to be seen first.", artifact.Version, artifact.Name)
	}
	if err := a.again(ctx, p, ops); err != nil {
		return 0, err
	}
	proposal := changes.Proposal{ArtifactID: p.Artifact, Patch: ops, Base: p.Base, Justification: justification(b, p)}
	if err := a.try(ctx, proposal); err != nil {
		return 0, err
	}
	patch, err := a.o.Desk.Propose(ctx, identity.Steward(), proposal)
	return patch.ID, err
}

// sound checks the form of a proposal and gives its operations. What a model
// may not say of itself is taken out.
func sound(b Batch, p *Proposal) (json.RawMessage, error) {
	if b.ByModel {
		base, shown := b.Shown[p.Artifact]
		if !shown {
			return nil, refusal("A model changes only what it was shown.")
		}
		p.Base, p.Rule = base, ""
	}
	switch {
	case len(p.Ops) == 0 || len(p.Ops) > MaxOps:
		return nil, refusal("A proposal has 1 to %d operations; this one has %d.", MaxOps, len(p.Ops))
	case clean(p.Justification, maxText) == "":
		return nil, refusal("A proposal says why.")
	case len(p.Figures) == 0:
		return nil, refusal("A proposal names the figures it stands on.")
	}
	ops, err := json.Marshal(p.Ops)
	if err != nil {
		return nil, refusal("The operations are no JSON.")
	}
	if len(ops) > maxOpsSize {
		return nil, refusal("The operations have %d bytes; %d are allowed.", len(ops), maxOpsSize)
	}
	return ops, nil
}

// try has the Desk check and rehearse a proposal, and looks at what the
// document would become.
func (a *Architect) try(ctx context.Context, p changes.Proposal) error {
	tried, err := a.o.Desk.Try(ctx, identity.Steward(), p)
	if err != nil {
		return err
	}
	for _, c := range tried.Checks {
		if c.State == changes.CheckFailed {
			why := c.Name
			if len(c.Problems) > 0 {
				why += ": " + strings.TrimSpace(c.Problems[0].Path+" "+c.Problems[0].Message)
			}
			return refusal("It does not pass its checks: %s", why)
		}
	}
	if !tried.OK || len(tried.After) != 1 || len(tried.After[0].After) == 0 {
		return refusal("It does not pass its checks.")
	}
	if tried.Verdict == rehearsal.Block {
		return refusal("Its rehearsal blocks it: %s", strings.Join(tried.Reasons, " "))
	}
	return a.guard(ctx, tried.After[0].Before, tried.After[0].After)
}

// justification is what people read: who thought of it, why, and the figures.
// A rule's sentence has them in it.
func justification(b Batch, p Proposal) string {
	text := clean(p.Justification, maxText)
	if !b.ByModel {
		return text
	}
	text = "A language model proposes this: " + text + "\n\nThe figures it names:"
	for _, s := range p.Figures[:min(len(p.Figures), maxSentences)] {
		text += "\n- " + clean(s, maxSentence)
	}
	return text
}

// clean is a text of at most so many bytes without control characters.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return strings.TrimSpace(s)
}

// quiet is how long what was turned down, taken back or left to expire is not
// proposed again.
const quiet = 30 * 24 * time.Hour

func refusal(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...)
}
