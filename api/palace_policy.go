package api

import (
	"context"
	"time"

	"liminal/internal/palace"
	"liminal/internal/view"
)

func (s *server) palacePolicyRoutes() {
	add(s, route("PUT /v1/palace/blocks/{id}/star", "starPalaceBlock", "Star a block, which is kept for ever then, or take the star away", scopeWrite), s.starPalaceBlock)
	add(s, route("PUT /v1/palace/blocks/{id}/keep", "keepPalaceBlock", "Keep a block in view whatever rules say, set it aside, or leave it to them", scopeWrite), s.keepPalaceBlock)
	add(s, route("GET /v1/palace/events", "palaceEvents", "What became of blocks and histories, who did it and why, the newest first", scopeRead), s.palaceEvents)
	add(s, route("POST /v1/palace/classify", "palaceClassify", "What of some blocks an agent should go on to see, by the policy that its history follows", scopeRead), s.palaceClassify)
	add(s, route("GET /v1/palace/lineages/{id}/view", "palaceLineageView", "What could be set aside of a history, at which price, and what is", scopeRead), s.palaceLineageView)
	add(s, route("POST /v1/palace/lineages/{id}/epoch", "openPalaceEpoch", "Have an epoch open at the next turn, whatever it costs, or not any more", scopeWrite), s.openPalaceEpoch)
	add(s, route("GET /v1/palace/announcements", "palaceAnnouncements", "What all my agents are told, the newest first", scopeRead), s.palaceAnnouncements)
	add(s, route("GET /v1/palace/classifications", "palaceClassifications", "What models were asked about histories, and what came of it, the newest first", scopeRead), s.palaceClassifications)
	add(s, route("GET /v1/palace/notes", "palaceNotes", "What models propose to keep of histories that have ended, the newest first", scopeRead), s.palaceNotes)
	add(s, route("POST /v1/palace/notes/{id}/keep", "keepPalaceNote", "Keep a note, whose blocks are kept for ever then", scopeWrite), s.keepPalaceNote)
	add(s, route("POST /v1/palace/notes/{id}/dismiss", "dismissPalaceNote", "Dismiss a note", scopeWrite), s.dismissPalaceNote)
	add(s, route("POST /v1/palace/announcements", "announceToPalace", "Tell all my agents something", scopeWrite), s.announceToPalace)
}

type palaceStarInput struct {
	ByID
	Body struct {
		Starred bool `json:"starred"`
	}
}

func (s *server) starPalaceBlock(ctx context.Context, in *palaceStarInput) (PalaceBlock, error) {
	b, err := s.Palace.Star(ctx, viewerOf(ctx), in.ID, in.Body.Starred)
	return PalaceBlock{b}, err
}

type palaceKeepInput struct {
	ByID
	Body struct {
		Keep *bool `json:"keep" nullable:"true" required:"true" doc:"true: it stays in view; false: it is set aside; null: rules say"`
	}
}

func (s *server) keepPalaceBlock(ctx context.Context, in *palaceKeepInput) (PalaceBlock, error) {
	var do view.Do
	if k := in.Body.Keep; k != nil {
		do = map[bool]view.Do{true: view.Show, false: view.Aside}[*k]
	}
	b, err := s.Palace.Wish(ctx, viewerOf(ctx), in.ID, do)
	return PalaceBlock{b}, err
}

// PalaceEvent is what became of a block or a history.
type PalaceEvent struct{ palace.Event }

type palaceEventsInput struct {
	Paged
	Block string `query:"block" format:"uuid" doc:"of a block"`
}

func (s *server) palaceEvents(ctx context.Context, in *palaceEventsInput) (Page[PalaceEvent], error) {
	list, next, err := s.Palace.PalaceEvents(ctx, viewerOf(ctx), in.Block, in.Cursor, in.Limit)
	return page(list, next, func(e palace.Event) PalaceEvent { return PalaceEvent{e} }), err
}

type palaceClassifyInput struct {
	Body struct {
		Blocks  []int               `json:"blocks" minItems:"1" maxItems:"1000" doc:"display ids"`
		Context PalaceClassifyAgent `json:"agent_context,omitempty"`
	}
}

// PalaceClassifyAgent is what an agent is at.
type PalaceClassifyAgent struct {
	AgentID  int      `json:"agent_id,omitempty" minimum:"0" doc:"its number; 0: none, the blocks stand for themselves"`
	Task     string   `json:"task,omitempty" maxLength:"16384"`
	Channels []string `json:"channels,omitempty" maxItems:"20" doc:"that are active"`
	Tool     string   `json:"tool,omitempty" maxLength:"256" doc:"that it uses now"`
	Window   int      `json:"window,omitempty" minimum:"0" maximum:"1000" doc:"of the blocks, how many at the end are asked about; 0: all"`
}

// PalaceDecision is what of some blocks an agent should see.
type PalaceDecision struct{ palace.Decision }

func (s *server) palaceClassify(ctx context.Context, in *palaceClassifyInput) (PalaceDecision, error) {
	d, err := s.Palace.Classify(ctx, viewerOf(ctx), in.Body.Blocks, palace.AgentContext(in.Body.Context))
	return PalaceDecision{d}, err
}

// PalaceLineageView is what is aside of a history, and what could be.
type PalaceLineageView struct {
	PolicyID string        `json:"policy_id,omitempty" doc:"the artifact that the history follows; none: the policy that ships"`
	Version  int           `json:"policy_version"`
	Mode     view.Mode     `json:"mode"`
	Plan     view.Plan     `json:"plan"`
	Planned  int           `json:"exchanges" doc:"how many exchanges the history had when the plan was made"`
	MadeAt   time.Time     `json:"made_at"`
	AskedAt  *time.Time    `json:"asked_at" nullable:"true" doc:"its person wants the epoch to open"`
	Epochs   []PalaceEpoch `json:"epochs" doc:"the oldest first"`
	Saved    palace.Saved  `json:"saved" doc:"what requests in a view cost, and what the client's own would have"`
}

func (s *server) palaceLineageView(ctx context.Context, in *ByID) (out PalaceLineageView, err error) {
	v := viewerOf(ctx)
	epochs, err := s.Palace.Epochs(ctx, v, in.ID)
	if err != nil {
		return out, err
	}
	saved, err := s.Palace.PalaceSaved(ctx, v, in.ID)
	if err != nil {
		return out, err
	}
	p, err := s.Palace.PalacePlan(ctx, v, in.ID)
	return PalaceLineageView{
		PolicyID: p.Pin.PolicyID, Version: p.Pin.Version, Mode: p.Plan.Mode, Plan: p.Plan, Planned: p.Exchanges, MadeAt: p.MadeAt, AskedAt: p.Asked, Epochs: each(epochs, func(e palace.Epoch) PalaceEpoch { return PalaceEpoch{e} }), Saved: saved,
	}, err
}

type palaceEpochInput struct {
	ByID
	Body struct {
		Open bool `json:"open" default:"true" doc:"false: leave it to the policy again"`
	}
}

func (s *server) openPalaceEpoch(ctx context.Context, in *palaceEpochInput) (PalaceLineageView, error) {
	if err := s.Palace.AskEpoch(ctx, viewerOf(ctx), in.ID, in.Body.Open); err != nil {
		return PalaceLineageView{}, err
	}
	return s.palaceLineageView(ctx, &in.ByID)
}

func (s *server) palaceAnnouncements(ctx context.Context, _ *struct{}) (Page[PalaceBlock], error) {
	list, err := s.Palace.PalaceAnnouncements(ctx, viewerOf(ctx))
	return page(list, "", func(b palace.Block) PalaceBlock { return PalaceBlock{b} }), err
}

type palaceAnnounceInput struct {
	Body struct {
		Text string `json:"text" minLength:"1" maxLength:"16384"`
	}
}

func (s *server) announceToPalace(ctx context.Context, in *palaceAnnounceInput) (PalaceBlock, error) {
	b, err := s.Palace.Announce(ctx, viewerOf(ctx), in.Body.Text)
	return PalaceBlock{b}, err
}

// PalaceClassified is what a model was asked about a history, and what came of it.
type PalaceClassified struct{ palace.Classified }

type palaceClassificationsInput struct {
	Paged
	Lineage string `query:"lineage" format:"uuid" doc:"of a history"`
}

func (s *server) palaceClassifications(ctx context.Context, in *palaceClassificationsInput) (Page[PalaceClassified], error) {
	list, next, err := s.Palace.PalaceClassified(ctx, viewerOf(ctx), in.Lineage, in.Cursor, in.Limit)
	return page(list, next, func(c palace.Classified) PalaceClassified { return PalaceClassified{c} }), err
}

// PalaceNote is what a model proposes to keep of a history that has ended.
type PalaceNote struct {
	palace.Note
	Sources []PalaceBlock `json:"sources" doc:"the blocks that it is drawn from, as they are now"`
}

func palaceNote(n palace.Note) PalaceNote {
	return PalaceNote{n, each(n.Sources, func(b palace.Block) PalaceBlock { return PalaceBlock{b} })}
}

type palaceNotesInput struct {
	Paged
	Lineage string           `query:"lineage" format:"uuid" doc:"of a history"`
	State   palace.NoteState `query:"state" enum:"proposed,kept,dismissed" doc:"what became of them"`
}

func (s *server) palaceNotes(ctx context.Context, in *palaceNotesInput) (Page[PalaceNote], error) {
	list, next, err := s.Palace.PalaceNotes(ctx, viewerOf(ctx), palace.NoteFilter{State: in.State, Lineage: in.Lineage}, in.Cursor, in.Limit)
	return page(list, next, palaceNote), err
}

func (s *server) keepPalaceNote(ctx context.Context, in *ByID) (PalaceNote, error) {
	n, err := s.Palace.KeepNote(ctx, viewerOf(ctx), in.ID, true)
	return palaceNote(n), err
}

func (s *server) dismissPalaceNote(ctx context.Context, in *ByID) (PalaceNote, error) {
	n, err := s.Palace.KeepNote(ctx, viewerOf(ctx), in.ID, false)
	return palaceNote(n), err
}
