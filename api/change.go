package api

import (
	"context"
	"encoding/json"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/quota"
)

func (s *server) changeRoutes() {
	add(s, route("POST /v1/config/patches", "proposePatch", "Propose a change to behaviour; it is checked, rehearsed and waits to be decided", scopePropose), s.proposePatch)
	add(s, route("POST /v1/config/propose_patch", "proposePatchToo", "The same as POST /v1/config/patches", scopePropose), s.proposePatch)
	add(s, route("POST /v1/config/patches/try", "tryPatch", "Check and rehearse a change without proposing it", scopePropose), s.tryPatch)
	add(s, route("GET /v1/config/patches", "listPatches", "Proposed changes, latest first: an administrator's are everybody's", scopePropose), s.listPatches)
	add(s, route("GET /v1/config/patches/{id}", "patch", "A proposed change with its documents, checks, rehearsal and history", scopePropose), s.patch)
	add(s, route("POST /v1/config/patches/{id}/decide", "decidePatch", "Approve or reject, for administrators, and for whom it was learnt from"), s.decidePatch)
	add(s, route("POST /v1/config/patches/{id}/apply", "applyPatch", "Make an approved change the next version, for administrators, and for whom it was learnt from"), s.applyPatch)
	add(s, route("POST /v1/config/apply", "applyPatchToo", "The same, by the patch's id"), s.applyByID)
	add(s, route("POST /v1/config/patches/{id}/rollback", "rollBackPatch", "Back to the version before, as a new version"), s.rollBackPatch)
	add(s, route("POST /v1/config/patches/{id}/promote", "promotePatch", "End the trial: every new run takes the new version"), s.promotePatch)
	add(s, route("POST /v1/config/patches/{id}/withdraw", "withdrawPatch", "Take a proposal back before it is applied", scopePropose), s.withdrawPatch)
	add(s, route("POST /v1/config/patches/{id}/rebase", "rebasePatch", "The same change for the versions that are current now, as a new patch", scopePropose), s.rebasePatch)
	add(s, route("POST /v1/config/patches/{id}/rehearse", "rehearsePatch", "Rehearse a patch that waits to be decided again", scopePropose), s.rehearsePatch)
	add(s, route("GET /v1/config/patches/{id}/watch", "watchPatch", "How runs of the new version go beside those of the one before", scopePropose), s.watchPatch)
}

// ChangeOfOne names an artifact and what to change of it.
type ChangeOfOne struct {
	ArtifactID   string     `json:"artifact_id,omitempty" maxLength:"128" doc:"an id, or with artifact_type a name"`
	ArtifactType string     `json:"artifact_type,omitempty" doc:"workflow, policy, tool, adapter, or a kind in full; only with a name"`
	Patch        Operations `json:"patch,omitempty"`
	Base         int        `json:"base_version,omitempty" minimum:"0" doc:"the version it is made for; 0 or missing: whichever is current"`
}

// ArtifactChange is one change of a set that is applied whole or not at all.
type ArtifactChange struct {
	ChangeOfOne
	Create *NewArtifact `json:"create,omitempty" doc:"instead of all others: a new artifact, a draft until the patch is applied"`
}

// ChangeProposal is what to change, and how to rehearse it.
type ChangeProposal struct {
	ChangeOfOne
	HowToRehearse
	Changes []ArtifactChange `json:"changes,omitempty" doc:"instead of one artifact: 1 to 16"`
}

// NewPatch is a proposal (CFG-01).
type NewPatch struct {
	ChangeProposal
	Justification string `json:"justification" minLength:"1" maxLength:"4000"`
}

func (p ChangeProposal) proposal(justification string) changes.Proposal {
	out := changes.Proposal{
		ArtifactID: p.ArtifactID, ArtifactType: p.ArtifactType, Patch: json.RawMessage(p.Patch), Base: p.Base,
		Justification: justification, Unknowns: artifacts.Unknowns(p.Unknown), Script: p.Script, Sample: p.Sample,
	}
	for _, c := range p.Changes {
		one := changes.ProposedChange{ArtifactID: c.ArtifactID, ArtifactType: c.ArtifactType, Patch: json.RawMessage(c.Patch), Base: c.Base}
		if c.Create != nil {
			d := c.Create.draft()
			one.Create = &d
		}
		out.Changes = append(out.Changes, one)
	}
	return out
}

type proposeInput struct {
	Key  string `header:"Idempotency-Key"`
	Body NewPatch
}

// proposePatch queues a change. What is wrong with the documents, the checks
// tell: a patch that fails them is kept, with what they found.
func (s *server) proposePatch(ctx context.Context, in *proposeInput) (Patch, error) {
	k := quota.Key{Route: "POST /v1/config/patches", Key: in.Key}
	made, _, err := once(ctx, s, k, in.Body, func(ctx context.Context) (Patch, error) {
		p, err := s.Proposals.Propose(ctx, viewerOf(ctx), in.Body.proposal(in.Body.Justification))
		return s.whole(ctx, p, err)
	})
	return made, err
}

// whole is a patch after an act, as the viewer sees it then.
func (s *server) whole(ctx context.Context, p changes.Patch, err error) (Patch, error) {
	if err != nil {
		return Patch{}, err
	}
	v, err := s.Proposals.Get(ctx, viewerOf(ctx), p.ID)
	return s.patchView(v), err
}

type tryInput struct {
	Body struct {
		ChangeProposal
		Justification string `json:"justification,omitempty" maxLength:"4000"`
	}
}

func (s *server) tryPatch(ctx context.Context, in *tryInput) (Tried, error) {
	t, err := s.Proposals.Try(ctx, viewerOf(ctx), in.Body.proposal(in.Body.Justification))
	return triedView(t), err
}

type listPatchesInput struct {
	Paged
	Status     string `query:"status" enum:"pending,approved,applied,rejected,invalid,expired,withdrawn,superseded,rolled_back"`
	ArtifactID string `query:"artifact_id" format:"uuid"`
	Mine       bool   `query:"mine" doc:"only what I proposed"`
}

func (s *server) listPatches(ctx context.Context, in *listPatchesInput) (Page[PatchRow], error) {
	v := viewerOf(ctx)
	f := changes.Filter{Status: changes.Status(in.Status), ArtifactID: in.ArtifactID, Cursor: in.Cursor, Limit: in.Limit}
	if in.Mine {
		f.UserID = v.UserID
	}
	list, next, err := s.Proposals.List(ctx, v, f)
	by := names{desk: s.Proposals}
	return page(list, next, func(p changes.Patch) PatchRow {
		return PatchRow{PatchHead: s.patchHead(p, by.of(ctx, p.By())), Changes: each(p.Changes, changeHead)}
	}), err
}

// PatchByID is the path of a patch.
type PatchByID struct {
	ID int64 `path:"id" minimum:"1"`
}

func (s *server) patch(ctx context.Context, in *PatchByID) (Patch, error) {
	v, err := s.Proposals.Get(ctx, viewerOf(ctx), in.ID)
	return s.patchView(v), err
}

type decideInput struct {
	PatchByID
	Body struct {
		Decision string `json:"decision" enum:"approve,reject"`
		Reason   string `json:"reason,omitempty" maxLength:"4000" doc:"a rejection needs one"`
		Confirm  string `json:"confirm,omitempty" doc:"the first artifact's name, where the rehearsal warns"`
	}
}

func (s *server) decidePatch(ctx context.Context, in *decideInput) (Patch, error) {
	b := in.Body
	p, err := s.Decisions.Decide(ctx, viewerOf(ctx), in.ID, changes.Decision{Approve: b.Decision == "approve", Reason: b.Reason, Confirm: b.Confirm})
	return s.whole(ctx, p, err)
}

// NewRollout is how a patch is applied.
type NewRollout struct {
	Share    int  `json:"share,omitempty" minimum:"0" maximum:"100" doc:"percent of new runs that take the new version first; 0 or 100: all"`
	Hours    *int `json:"hours,omitempty" minimum:"0" maximum:"168" doc:"it is watched; missing: 24"`
	RollBack bool `json:"roll_back,omitempty" doc:"go back by itself when the rule is met"`
}

// watchedHours is how long an applied version is watched unless somebody says
// otherwise.
const watchedHours = 24

func (t NewRollout) plan() changes.RolloutPlan {
	out := changes.RolloutPlan{Share: t.Share, Hours: watchedHours, RollBack: t.RollBack}
	if t.Hours != nil {
		out.Hours = *t.Hours
	}
	return out
}

type applyInput struct {
	PatchByID
	Body *NewRollout `required:"false"`
}

func (s *server) applyPatch(ctx context.Context, in *applyInput) (Patch, error) {
	p, err := s.Decisions.Apply(ctx, viewerOf(ctx), in.ID, value(in.Body).plan())
	return s.whole(ctx, p, err)
}

type applyByIDInput struct {
	Body struct {
		PatchID int64 `json:"patch_id" minimum:"1"`
		NewRollout
	}
}

func (s *server) applyByID(ctx context.Context, in *applyByIDInput) (Patch, error) {
	return s.applyPatch(ctx, &applyInput{PatchByID: PatchByID{ID: in.Body.PatchID}, Body: &in.Body.NewRollout})
}

// Reason is why somebody does something.
type Reason struct {
	Reason string `json:"reason,omitempty" maxLength:"4000"`
}

type reasonInput struct {
	PatchByID
	Body *Reason `required:"false"`
}

func (s *server) rollBackPatch(ctx context.Context, in *reasonInput) (Patch, error) {
	p, err := s.Decisions.RollBack(ctx, viewerOf(ctx), in.ID, value(in.Body).Reason)
	return s.whole(ctx, p, err)
}

func (s *server) withdrawPatch(ctx context.Context, in *reasonInput) (Patch, error) {
	p, err := s.Decisions.Withdraw(ctx, viewerOf(ctx), in.ID, value(in.Body).Reason)
	return s.whole(ctx, p, err)
}

func (s *server) promotePatch(ctx context.Context, in *PatchByID) (Patch, error) {
	p, err := s.Decisions.Promote(ctx, viewerOf(ctx), in.ID)
	return s.whole(ctx, p, err)
}

func (s *server) rebasePatch(ctx context.Context, in *PatchByID) (Patch, error) {
	p, err := s.Decisions.Rebase(ctx, viewerOf(ctx), in.ID)
	return s.whole(ctx, p, err)
}

// HowToRehearse says what to play a patch on; what is missing stays as it was.
type HowToRehearse struct {
	Unknown string                     `json:"unknown,omitempty" enum:"unknown,live,scripted" doc:"what becomes of an effect the record does not hold"`
	Script  map[string]json.RawMessage `json:"script,omitempty" doc:"outputs by a tool's name or an effect's id, where unknown is scripted"`
	Sample  int                        `json:"sample,omitempty" minimum:"0" maximum:"5000" doc:"recorded runs to rehearse"`
}

type rehearsePatchInput struct {
	PatchByID
	Body *HowToRehearse `required:"false"`
}

func (s *server) rehearsePatch(ctx context.Context, in *rehearsePatchInput) (Patch, error) {
	b := value(in.Body)
	p, err := s.Proposals.Rehearse(ctx, viewerOf(ctx), in.ID, changes.Replay{Sample: b.Sample, Unknowns: artifacts.Unknowns(b.Unknown), Script: b.Script})
	return s.whole(ctx, p, err)
}
