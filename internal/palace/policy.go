package palace

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Pin is the version of a policy.palace that a history follows.
type Pin struct {
	PolicyID string `json:"policy_id,omitempty"` // "": the policy that ships
	Version  int    `json:"version"`
}

// Policies gives policies.
type Policies interface {
	// PinFor is the version that a history that begins follows (CFG-13: a trial gives a
	// share of them the newest).
	PinFor(ctx context.Context, v identity.Viewer, lineage string) (Pin, error)
	// PolicyAt is a policy at a version.
	PolicyAt(ctx context.Context, v identity.Viewer, pin Pin) (*view.Policy, error)
}

// shipped gives the policy that ships to everybody.
type shipped struct{}

func (shipped) PinFor(context.Context, identity.Viewer, string) (Pin, error) { return Pin{}, nil }

func (shipped) PolicyAt(context.Context, identity.Viewer, Pin) (*view.Policy, error) {
	return view.Default(), nil
}

// Planned is the policy that a lineage follows, and what could be set aside of it.
type Planned struct {
	Lineage   string     `json:"lineage"`
	Pin       Pin        `json:"pin"`
	Exchanges int        `json:"exchanges"` // of the lineage, when the plan was made; 0: there is none yet
	Plan      view.Plan  `json:"plan"`
	Asked     *time.Time `json:"asked_at" nullable:"true"` // its person wants the epoch to open
	MadeAt    time.Time  `json:"made_at"`
	// Opened is when an epoch of the lineage opened last; nil: never.
	Opened *time.Time `json:"-"`
}

// Marked is what rules say of a block.
type Marked struct {
	UUID     string
	Was      []string // its channels when the rules were asked; others since stay
	Channels []string
	Tier     Tier // of a block whose person has said none
}

// Event is what became of a block or a lineage, who did it, and why.
type Event struct {
	ID      string    `json:"id"`
	Who     string    `json:"who"`  // person, rules or model
	What    string    `json:"what"` // starred, unstarred, kept, dropped, unwished, tier, deleted, archived, announced, epoch
	Why     string    `json:"why"`
	Block   string    `json:"block,omitempty"`
	Lineage string    `json:"lineage,omitempty"`
	At      time.Time `json:"at"`
}

// Due is a block that may be past its time.
type Due struct {
	Block
	SeenAt time.Time // when a history that has it grew last
}

// Keeper keeps what is wished, planned and put away. Everything is one person's.
type Keeper interface {
	// SetPalaceStar stars a block, or does not any more, and gives it the tier that
	// follows, unless its person has said one.
	SetPalaceStar(ctx context.Context, v identity.Viewer, block string, starred bool, tier Tier) error
	// SetPalaceWish is what its person wishes for a block.
	SetPalaceWish(ctx context.Context, v identity.Viewer, block string, do view.Do) error
	// MarkPalace writes what rules say of blocks.
	MarkPalace(ctx context.Context, v identity.Viewer, list []Marked) error
	// PutAnnouncement keeps a block that all agents see, which is of Announcement.
	PutAnnouncement(ctx context.Context, v identity.Viewer, b Block, c Chunk) (Block, error)
	PalaceAnnouncements(ctx context.Context, v identity.Viewer) ([]Block, error)

	// PalacePlan is the newest of a lineage; fault.NotFound where it has no policy yet.
	PalacePlan(ctx context.Context, v identity.Viewer, lineage string) (Planned, error)
	// PutPalacePlan writes a plan; the pin of the first one stays, and what was asked
	// before an epoch opened is done.
	PutPalacePlan(ctx context.Context, v identity.Viewer, p Planned) error
	// AskPalaceEpoch says that its person wants the epoch of a lineage to open, or not
	// any more.
	AskPalaceEpoch(ctx context.Context, v identity.Viewer, lineage string, asked bool) error
	// PalaceUnplanned are the lineages that grew since a time and after their plan.
	PalaceUnplanned(ctx context.Context, v identity.Viewer, since time.Time) ([]string, error)
	// PalaceHolders are the lineages that hold a block, the newest first.
	PalaceHolders(ctx context.Context, v identity.Viewer, block string) ([]string, error)
	// PalaceTotals are how many requests lineages made that have ended: none for a day.
	PalaceTotals(ctx context.Context, v identity.Viewer) ([]int, error)
	// PalaceRecent are the lineages that grew last, of all agents, the newest first.
	PalaceRecent(ctx context.Context, v identity.Viewer, most int) ([]Lineage, error)
	// PalaceWishes are a model's for a lineage, by the block.
	PalaceWishes(ctx context.Context, v identity.Viewer, lineage string) (map[string]view.Do, error)
	// PutPalaceClassified keeps what a model was asked, and what it wishes. Of a person's
	// the newest 5,000 are kept.
	PutPalaceClassified(ctx context.Context, v identity.Viewer, c Classified, w Wishes) error
	// PalaceClassified are the newest first; of one lineage, or all.
	PalaceClassified(ctx context.Context, v identity.Viewer, lineage, cursor string, limit int) (list []Classified, next string, err error)
	// PalaceOutcomes is how many there are of each outcome.
	PalaceOutcomes(ctx context.Context, v identity.Viewer) (map[Outcome]int64, error)
	// PalaceEnded are lineages of more than a few exchanges that have ended since a time,
	// another of their agent's having begun or none for a day, and of which no notes were
	// asked for.
	PalaceEnded(ctx context.Context, v identity.Viewer, since time.Time, most int) ([]string, error)
	// PutPalaceNotes keeps what was proposed of a lineage, once.
	PutPalaceNotes(ctx context.Context, v identity.Viewer, lineage string, list []Note) error
	// PalaceNotes are the newest first; of a state and a lineage, or all.
	PalaceNotes(ctx context.Context, v identity.Viewer, f NoteFilter, cursor string, limit int) (list []Note, next string, err error)
	PalaceNote(ctx context.Context, v identity.Viewer, id string) (Note, error)
	// DecidePalaceNote says what its person makes of a note.
	DecidePalaceNote(ctx context.Context, v identity.Viewer, id string, s NoteState) error
	// PalaceAgentNumber is the small number of an agent.
	PalaceAgentNumber(ctx context.Context, v identity.Viewer, agent string) (int, error)

	// PalaceOwners are the people of whom anything is kept.
	PalaceOwners(ctx context.Context, limit int) ([]string, error)
	// PalaceDue are active blocks, neither starred nor LONG, that no history had since a
	// time, after one of them; in the order of their ids.
	PalaceDue(ctx context.Context, v identity.Viewer, before time.Time, after string, limit int) ([]Due, error)
	// RetirePalace puts blocks away that are still as Due found them, and gives how
	// many.
	RetirePalace(ctx context.Context, v identity.Viewer, blocks []string, what view.Action, before time.Time, why string) (int, error)
	// PalaceEvents are the newest first; of one block, or all.
	PalaceEvents(ctx context.Context, v identity.Viewer, block, cursor string, limit int) (list []Event, next string, err error)
}

// policyOf is the policy that a lineage follows; "" is the one that a new one would.
func (l *Library) policyOf(ctx context.Context, v identity.Viewer, lineage string) (*view.Policy, error) {
	pin, err := Pin{}, error(nil)
	if lineage != "" {
		var p Planned
		if p, err = l.PalacePlan(ctx, v, lineage); err == nil {
			return l.Policies.PolicyAt(ctx, v, p.Pin)
		}
		if fault.CodeOf(err) != fault.NotFound {
			return nil, err
		}
	}
	if pin, err = l.Policies.PinFor(ctx, v, lineage); err != nil {
		return nil, err
	}
	return l.Policies.PolicyAt(ctx, v, pin)
}

// Star stars a block, or does not any more. What is starred is LONG (003), unless its
// person said another tier.
func (l *Library) Star(ctx context.Context, v identity.Viewer, block string, starred bool) (Block, error) {
	b, err := l.PalaceBlock(ctx, v, block)
	if err != nil {
		return b, err
	}
	policy, err := l.policyOf(ctx, v, "")
	if err != nil {
		return b, err
	}
	b.Starred = starred
	known := seenBy(b)
	if err := l.SetPalaceStar(ctx, v, b.UUID, starred, Tier(policy.TierOf(&known))); err != nil {
		return b, err
	}
	if err := l.changed(ctx, v, b.UUID); err != nil {
		return b, err
	}
	return l.PalaceBlock(ctx, v, b.UUID)
}

// Wish is what its person wishes for a block: to be shown whatever rules say, to be
// set aside, or nothing (PAL-19).
func (l *Library) Wish(ctx context.Context, v identity.Viewer, block string, do view.Do) (Block, error) {
	switch do {
	case view.Show, view.Aside, "":
	default:
		return Block{}, fault.New(fault.Invalid, "%q is nothing to wish for a block; write ++ to keep it in view, -- to set it aside.", do)
	}
	if err := l.SetPalaceWish(ctx, v, block, do); err != nil {
		return Block{}, err
	}
	if err := l.changed(ctx, v, block); err != nil {
		return Block{}, err
	}
	return l.PalaceBlock(ctx, v, block)
}

// changed has the histories that hold a block planned again.
func (l *Library) changed(ctx context.Context, v identity.Viewer, block string) error {
	if l.Grown == nil {
		return nil
	}
	list, err := l.PalaceHolders(ctx, v, block)
	if len(list) > 0 {
		l.Grown(list)
	}
	return err
}

// AskEpoch says that its person wants the epoch of a lineage to open at the next turn,
// or not any more.
func (l *Library) AskEpoch(ctx context.Context, v identity.Viewer, lineage string, asked bool) error {
	if err := l.AskPalaceEpoch(ctx, v, lineage, asked); err != nil {
		return err
	}
	if l.Grown != nil {
		l.Grown([]string{id.Canonical(lineage)})
	}
	return nil
}

// seenBy is a block as rules see it, without what it says.
func seenBy(b Block) view.Block {
	out := view.Block{
		UUID: b.UUID, Display: -1, Away: !b.Active, Type: string(b.Type), Role: b.Role, Tool: b.Tool, Scope: b.Scope, Project: b.Project, Tokens: b.Tokens, Bytes: b.Size, At: b.CreatedAt,
		Channels: b.Channels, Tier: view.Tier(b.Tier), Starred: b.Starred, Person: b.Wish,
	}
	if b.DisplayID != nil {
		out.Display = *b.DisplayID
	}
	return out
}

// read is a block as rules see it, with what it says.
func (c Content) read(b Block) view.Block {
	out := seenBy(b)
	out.ReadValue(inAnthropicTerms(c.JSON))
	return out
}
