package changes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/run"
)

// Propose stores a change and starts it on its way (CFG-01, CFG-15). It is
// quick: what is wrong with the document, the checks say later, and the patch
// is kept with it. Errors: Invalid for what cannot be a patch at all, NotFound,
// Forbidden (CFG-02), Conflict for a base that is not current, RateLimited
// (CFG-12).
func (d *Desk) Propose(ctx context.Context, v identity.Viewer, p Proposal) (Patch, error) {
	p.Justification = visibleText(p.Justification)
	w, err := d.wanted(ctx, v, p)
	if err != nil {
		return Patch{}, err
	}
	if err := d.spend(ctx, v, d.planOf(v)); err != nil {
		return Patch{}, err
	}
	return d.open(ctx, v, w.patch(v, p, d.o.Now()), w.drafts, d.event(ctx, v, "proposed", p.Justification, p.found()))
}

// ProposeFetched proposes, in the house's name, what it read elsewhere because v, an
// administrator, asked for that: they wrote nothing of it, so they may approve it.
// That they asked is in the patch's history, and it counts as a proposal of theirs.
// Errors as Propose's.
func (d *Desk) ProposeFetched(ctx context.Context, v identity.Viewer, p Proposal) (Patch, error) {
	if !v.IsAdmin() {
		return Patch{}, fault.New(fault.Forbidden, "Only administrators have the house propose what it reads elsewhere.")
	}
	p.Justification = visibleText(p.Justification)
	w, err := d.wanted(ctx, identity.Steward(), p)
	if err != nil {
		return Patch{}, err
	}
	if err := d.spend(ctx, v, d.planOf(v)); err != nil {
		return Patch{}, err
	}
	return d.open(ctx, identity.Steward(), w.patch(identity.Steward(), p, d.o.Now()), w.drafts, d.event(ctx, v, "proposed", p.Justification, nil))
}

// open stores a patch and starts its workflow.
func (d *Desk) open(ctx context.Context, v identity.Viewer, p Patch, drafts []artifacts.Artifact, first Event) (Patch, error) {
	stored, r, err := d.o.Store.CreatePatch(ctx, v, p, drafts, first)
	if err != nil {
		return Patch{}, err
	}
	d.o.Launch(context.WithoutCancel(ctx), stored.titled(r))
	return stored, nil
}

// titled is a patch's run with what it is about, for who sees it in the engine;
// the row has the number alone.
func (p Patch) titled(r run.Run) run.Run {
	title := p.about()
	if c := p.Changes; len(c) == 1 && !c[0].Creates {
		title += fmt.Sprintf(" v%d → v%d", c[0].Base, c[0].Base+1)
	}
	if raw, err := json.Marshal(map[string]any{"patch_id": p.ID, "title": title}); err == nil {
		r.Input = raw
	}
	return r
}

func (d *Desk) spend(ctx context.Context, v identity.Viewer, people quota.Rule) error {
	switch {
	case d.o.Limits == nil:
		return nil
	case v.IsSystem():
		return d.o.Limits.Spend(ctx, quota.ModelProposals(), "system")
	}
	return d.o.Limits.Spend(ctx, people, v.UserID)
}

// Try makes the checks and the rehearsal of a proposal and stores nothing. Who
// is no administrator tries what is everybody's on runs of their own.
func (d *Desk) Try(ctx context.Context, v identity.Viewer, p Proposal) (Tried, error) {
	if p.Justification == "" {
		p.Justification = "a try"
	}
	w, err := d.wanted(ctx, v, p)
	if err != nil {
		return Tried{}, err
	}
	if d.o.Limits != nil && !v.IsSystem() {
		if err := d.o.Limits.Spend(ctx, d.tryOf(v), v.UserID); err != nil {
			return Tried{}, err
		}
	}
	j, err := d.judge(ctx, w.prospects)
	if err != nil {
		return Tried{}, err
	}
	t := Tried{OK: j.ok, Checks: j.checks, Changes: w.changes}
	for _, prospect := range j.prospects {
		t.After = append(t.After, After{
			Title: title(prospect.After), Current: prospect.Artifact.Version, Before: prospect.Artifact.Schema, After: prospect.After,
		})
	}
	if !j.ok {
		return t, nil
	}
	r := Replay{Sample: p.Sample, Unknowns: p.Unknowns, Script: p.Script, live: v.UserID}
	if !v.IsAdmin() && w.prospects[0].Artifact.OwnerID == "" { // a try leaves no trace, and its conditions can ask what others wrote
		r.only = v.UserID
	}
	var played played
	err = d.alone(ctx, v, func(ctx context.Context) error {
		played, err = d.play(ctx, j, w.changes, r)
		return err
	})
	if err != nil {
		return Tried{}, err
	}
	for i, report := range played.reports {
		t.Changes[i].Report = report
	}
	t.Checks[len(t.Checks)-1] = played.check
	t.Verdict, t.Reasons = played.verdict, reasons(t.Changes)
	return t, nil
}

// wanted is a proposal whose artifacts were found.
type wanted struct {
	changes   []Change
	prospects []artifacts.Prospect
	drafts    []artifacts.Artifact
}

// sameOwner refuses a set of what is everybody's and what is somebody's own:
// what is their own goes with their account, and with it the record of who
// changed the rest (CFG-16).
func (w wanted) sameOwner() error {
	for _, p := range w.prospects {
		if p.Artifact.OwnerID != w.prospects[0].Artifact.OwnerID {
			return fault.New(fault.Invalid, "A patch changes what is everybody's, or what is your own, and not both: make two.")
		}
	}
	return nil
}

func (w wanted) patch(v identity.Viewer, p Proposal, now time.Time) Patch {
	patch := Patch{
		Proposer: ByUser, UserID: v.UserID, Justification: p.Justification, Status: Pending, Stage: Checking,
		Changes: w.changes, Checks: waiting(), Script: p.Script, Unknowns: p.Unknowns, Needs: 1, CreatedAt: now,
	}
	switch {
	case v.IsSystem():
		patch.Proposer, patch.UserID = ByModel, ""
	case v.IsAdmin():
		patch.Proposer = ByAdmin
	}
	return patch
}

func (d *Desk) wanted(ctx context.Context, v identity.Viewer, p Proposal) (wanted, error) {
	var w wanted
	list, err := p.list()
	if err != nil {
		return w, err
	}
	switch p.Unknowns {
	case "", artifacts.Stop, artifacts.Live, artifacts.Scripted:
	default:
		return w, fault.New(fault.Invalid, "%q says nothing of unknown effects: write unknown, live or scripted.", p.Unknowns)
	}
	for _, one := range list {
		if err := d.want(ctx, v, one, &w); err != nil {
			return w, err
		}
	}
	return w, w.sameOwner()
}

// list is the changes of a proposal, whichever way it names them.
func (p Proposal) list() ([]ProposedChange, error) {
	single := ProposedChange{ArtifactID: p.ArtifactID, ArtifactType: p.ArtifactType, Patch: p.Patch, Base: p.Base}
	list := p.Changes
	switch {
	case strings.TrimSpace(p.Justification) == "" || len(p.Justification) > MaxJustification:
		return nil, fault.New(fault.Invalid, "A patch needs a justification of up to %d bytes: say why, for those who decide.", MaxJustification)
	case len(list) == 0:
		list = []ProposedChange{single}
	case p.ArtifactID != "" || len(p.Patch) > 0:
		return nil, fault.New(fault.Invalid, "Write artifact_id and patch, or a list of changes, not both.")
	case len(list) > MaxChanges:
		return nil, fault.New(fault.Invalid, "The patch has %d changes; %d are allowed.", len(list), MaxChanges)
	}
	return list, nil
}

// want adds one change.
func (d *Desk) want(ctx context.Context, v identity.Viewer, c ProposedChange, w *wanted) error {
	if c.Create != nil {
		if c.ArtifactID != "" || len(c.Patch) > 0 {
			return fault.New(fault.Invalid, "A change creates an artifact or patches one: write create, or artifact_id and patch.")
		}
		return d.wantNew(ctx, v, *c.Create, w)
	}
	a, err := d.find(ctx, v, c.ArtifactID, c.ArtifactType)
	if err == nil {
		err = errors.Join(mayChange(v, a), artifacts.CheckOps(c.Patch))
	}
	switch {
	case err != nil:
		return err
	case c.Base != 0 && c.Base != a.Version:
		return moved(a, c.Base)
	}
	return w.add(Change{ArtifactID: a.ID, Kind: a.Type, Name: a.Name, Base: a.Version, Ops: c.Patch}, d.prospect(ctx, a, c.Patch))
}

func (w *wanted) add(c Change, p artifacts.Prospect) error {
	for _, other := range w.changes {
		if other.ArtifactID == c.ArtifactID {
			return fault.New(fault.Invalid, "The patch changes %s twice: put both into one list of operations.", c.Name)
		}
	}
	w.changes, w.prospects = append(w.changes, c), append(w.prospects, p)
	return nil
}

// becomes is what makes an artifact of a draft.
var becomes = json.RawMessage(`[{"op":"remove","path":"/status"}]`)

// wantNew adds a new artifact: a draft, and the patch that makes it one that
// counts (C-58). The store takes up a draft of the same name that an earlier
// patch left, and gives the change its id and version.
func (d *Desk) wantNew(ctx context.Context, v identity.Viewer, draft artifacts.Draft, w *wanted) error {
	if v.IsSystem() {
		draft.By, draft.Visibility = "llm", artifacts.Global
	}
	a, err := d.o.Library.Drafted(v, draft)
	if err != nil {
		return err
	}
	if a.Visibility == artifacts.Global && v.Role == identity.RoleUser {
		return fault.New(fault.Forbidden, "You propose changes to artifacts of your own; a global one, only administrators and power users propose.")
	}
	old, err := d.o.Library.Named(ctx, v, a.Type, a.Name)
	switch {
	case err != nil && !errors.Is(err, fault.NotFound):
		return err
	case err == nil && old.OwnerID == a.OwnerID && !old.IsDraft():
		return fault.New(fault.Conflict, "There is a %s named %q already: change that one, or choose another name.", artifacts.Alias(a.Type), a.Name)
	}
	w.drafts = append(w.drafts, a)
	return w.add(Change{ArtifactID: a.ID, Kind: a.Type, Name: a.Name, Base: 1, Ops: becomes, Creates: true}, d.prospect(ctx, a, becomes))
}

// find finds an artifact by id, or by name and kind.
func (d *Desk) find(ctx context.Context, v identity.Viewer, idOrName, kind string) (artifacts.Artifact, error) {
	switch {
	case idOrName == "":
		return artifacts.Artifact{}, fault.New(fault.Invalid, "Say which artifact is to change: artifact_id is missing.")
	case id.Valid(idOrName):
		return d.o.Library.Get(ctx, v, idOrName)
	case kind == "":
		return artifacts.Artifact{}, fault.New(fault.Invalid, "%q is no id: write the artifact's id, or its name with artifact_type.", idOrName)
	}
	return d.o.Library.Named(ctx, v, kind, idOrName)
}

// mayChange says who may propose what (CFG-02).
func mayChange(v identity.Viewer, a artifacts.Artifact) error {
	switch {
	case a.OwnerID == v.UserID && a.OwnerID != "":
		return nil
	case a.OwnerID == "" && (v.IsAdmin() || v.Role == identity.RolePower):
		return nil
	case a.OwnerID == "":
		return fault.New(fault.Forbidden, "You propose changes to artifacts of your own; %s is everybody's, which administrators and power users change. Make a copy of your own and change that.", a.Name)
	}
	return fault.New(fault.Forbidden, "The artifact %s is somebody else's: only they propose changes to it.", a.Name)
}

func moved(a artifacts.Artifact, base int) error {
	return fault.New(fault.Conflict, "The artifact %s is at version %d now; the patch was made for version %d. Look at the new version and rebase it.",
		a.Name, a.Version, base).With(map[string]any{"artifact_id": a.ID, "current_version": a.Version, "base_version": base})
}
