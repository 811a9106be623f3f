package changes_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/rehearsal"
)

var statuses = []changes.Status{
	changes.Pending, changes.Approved, changes.Applied, changes.Rejected, changes.Invalid, changes.Expired,
	changes.Withdrawn, changes.Superseded, changes.RolledBack,
}

// at is a patch of pat's about one artifact, as it may stand in a store.
func at(s changes.Status, stage changes.Stage, approvedBy ...string) changes.Patch {
	p := changes.Patch{
		ID: 7, UserID: "pat", Status: s, Stage: stage, Needs: 1, Verdict: rehearsal.Pass, ExpiresAt: time.Unix(99, 0),
		Changes: []changes.Change{{ArtifactID: "a", Base: 3}},
	}
	for _, by := range approvedBy {
		p.Approvals = append(p.Approvals, changes.Approval{UserID: by, At: time.Unix(5, 0)})
	}
	return p
}

var now = time.Unix(10, 0)

// Requirements: CFG-05, CFG-06
func TestAPatchBecomesOnlyWhatMayFollow(t *testing.T) {
	t.Parallel()
	follows := map[changes.Status][]changes.Status{
		changes.Pending:  {changes.Approved, changes.Rejected, changes.Invalid, changes.Expired, changes.Withdrawn, changes.Superseded},
		changes.Approved: {changes.Applied, changes.Expired, changes.Withdrawn, changes.Superseded},
		changes.Applied:  {changes.RolledBack},
	}
	for _, from := range statuses {
		may := map[changes.Status]bool{}
		for _, to := range follows[from] {
			may[to] = true
		}
		for _, to := range statuses {
			p := at(from, changes.Deciding, "root")
			next, err := changes.Advance(p, changes.Transition{Status: to}, now)
			switch {
			case may[to] && (err != nil || next.Status != to):
				t.Errorf("%s to %s: %s, %v", from, to, next.Status, err)
			case !may[to]:
				details, _ := fault.From(err).Details.(map[string]any)
				if !errors.Is(err, fault.Conflict) || details["status"] != from || details["stage"] != changes.Deciding || details["patch_id"] != p.ID {
					t.Errorf("%s to %s: %v %v", from, to, err, details)
				}
			}
		}
	}
}

// Requirements: CFG-04, CFG-05, CFG-06
func TestATransitionIsRefusedWhoeverMakesIt(t *testing.T) {
	t.Parallel()
	yes := func(by string) changes.Transition {
		return changes.Transition{Status: changes.Approved, Approval: &changes.Approval{UserID: by}}
	}
	with := func(p changes.Patch, change func(*changes.Patch)) changes.Patch { change(&p); return p }
	blocked := func(p *changes.Patch) { p.Verdict = rehearsal.Block }
	two := func(p *changes.Patch) { p.Needs = 2 }
	version := []changes.NewVersion{{Change: -1, ArtifactID: "a", Base: 3}}
	for name, c := range map[string]struct {
		p    changes.Patch
		m    changes.Transition
		code fault.Code
	}{
		"from another state":               {at(changes.Pending, changes.Deciding), changes.Transition{From: []changes.Status{changes.Approved}}, fault.Conflict},
		"from another stage":               {at(changes.Pending, changes.Deciding), changes.Transition{Stages: []changes.Stage{changes.Checking, changes.Rehearsing}}, fault.Conflict},
		"approved by who proposed":         {at(changes.Pending, changes.Deciding), yes("pat"), fault.Forbidden},
		"approved by nobody":               {at(changes.Pending, changes.Deciding), yes(""), fault.Forbidden},
		"approved without a yes":           {at(changes.Pending, changes.Deciding), changes.Transition{Status: changes.Approved}, fault.Conflict},
		"approved by one of two":           {with(at(changes.Pending, changes.Deciding), two), yes("root"), fault.Conflict},
		"approved by one twice":            {with(at(changes.Pending, changes.Deciding, "root"), two), yes("root"), fault.Conflict},
		"a second yes where one is enough": {at(changes.Pending, changes.Deciding, "root"), yes("root"), fault.Conflict},
		"approved though it is blocked":    {with(at(changes.Pending, changes.Deciding), blocked), yes("root"), fault.Conflict},
		"one yes to what is blocked":       {with(with(at(changes.Pending, changes.Deciding), blocked), two), changes.Transition{Approval: &changes.Approval{UserID: "root"}}, fault.Conflict},
		"approved before it was blocked":   {with(at(changes.Pending, changes.Deciding, "root"), blocked), changes.Transition{Status: changes.Approved}, fault.Conflict},
		"approved as it is blocked":        {at(changes.Pending, changes.Deciding, "root"), changes.Transition{Status: changes.Approved, Verdict: rehearsal.Block}, fault.Conflict},
		"applied by too few":               {with(at(changes.Approved, changes.Applying, "root"), two), changes.Transition{Status: changes.Applied}, fault.Conflict},
		"needing more by now":              {at(changes.Approved, changes.Applying, "root"), changes.Transition{Needs: 2}, fault.Conflict},
		"versions of what nobody approved": {at(changes.Pending, changes.Deciding), changes.Transition{Versions: version}, fault.Conflict},
		"versions of what was rejected":    {at(changes.Rejected, changes.Settled), changes.Transition{Versions: version}, fault.Conflict},
		"a version of a change it has not": {at(changes.Approved, changes.Applying, "root"), changes.Transition{Status: changes.Applied, Versions: []changes.NewVersion{{Change: 1}}}, fault.Invalid},
		"a report on a change it has not":  {at(changes.Pending, changes.Rehearsing), changes.Transition{Reports: make([]*rehearsal.Report, 2)}, fault.Invalid},
	} {
		next, err := changes.Advance(c.p, c.m, now)
		code(t, name, err, c.code)
		if !reflect.DeepEqual(next, changes.Patch{}) {
			t.Errorf("%s: refused, and still %+v", name, next)
		}
	}
}

// Requirements: CFG-04, CFG-05, CFG-16
func TestATransitionMakesOfAPatchWhatItSays(t *testing.T) {
	t.Parallel()
	report := &rehearsal.Report{Moved: 3}
	plan, later := changes.RolloutPlan{Share: 20, Hours: 3}, time.Unix(200, 0)
	for name, c := range map[string]struct {
		p    changes.Patch
		m    changes.Transition
		want func(p *changes.Patch)
	}{
		"nothing": {at(changes.Pending, changes.Deciding), changes.Transition{}, func(*changes.Patch) {}},
		"checked": {
			at(changes.Pending, changes.Checking),
			changes.Transition{Stage: changes.Rehearsing, Checks: []changes.Check{{Name: "schema"}}},
			func(p *changes.Patch) { p.Stage, p.Checks = changes.Rehearsing, []changes.Check{{Name: "schema"}} },
		},
		"rehearsed": {
			at(changes.Pending, changes.Rehearsing),
			changes.Transition{Stage: changes.Deciding, Reports: []*rehearsal.Report{report}, Verdict: rehearsal.Second, Needs: 2, Expires: &later},
			func(p *changes.Patch) {
				p.Stage, p.Verdict, p.Needs, p.ExpiresAt, p.Changes[0].Report = changes.Deciding, rehearsal.Second, 2, later, report
			},
		},
		"one yes of two": {
			at(changes.Pending, changes.Deciding),
			changes.Transition{Needs: 2, Approval: &changes.Approval{UserID: "root", Name: "Root", Reason: "it is right"}},
			func(p *changes.Patch) {
				p.Needs, p.Approvals = 2, []changes.Approval{{UserID: "root", Name: "Root", Reason: "it is right", At: now}}
			},
		},
		"approved": {
			at(changes.Pending, changes.Deciding),
			changes.Transition{Status: changes.Approved, Stage: changes.Applying, Expires: &later, Approval: &changes.Approval{UserID: "root"}},
			func(p *changes.Patch) {
				p.Status, p.Stage, p.ExpiresAt, p.DecidedAt = changes.Approved, changes.Applying, later, now
				p.Approvals = []changes.Approval{{UserID: "root", At: now}}
			},
		},
		"rejected": {
			at(changes.Pending, changes.Deciding), changes.Transition{Status: changes.Rejected, Stage: changes.Settled},
			func(p *changes.Patch) {
				p.Status, p.Stage, p.DecidedAt, p.ExpiresAt = changes.Rejected, changes.Settled, now, time.Time{}
			},
		},
		"applied": {
			at(changes.Approved, changes.Applying, "root"),
			changes.Transition{
				Status: changes.Applied, Stage: changes.Watching, RolloutPlan: &plan, Expires: &time.Time{},
				Versions: []changes.NewVersion{{Change: 0, ArtifactID: "a", Base: 5}},
			},
			func(p *changes.Patch) {
				p.Status, p.Stage, p.AppliedAt, p.RolloutPlan, p.ExpiresAt = changes.Applied, changes.Watching, now, plan, time.Time{}
				p.Changes[0].Applied = 6
			},
		},
		"taken back": {
			at(changes.Applied, changes.Watching, "root"),
			changes.Transition{Status: changes.RolledBack, Stage: changes.Settled, Versions: []changes.NewVersion{{Change: -1, ArtifactID: "a", Base: 4}}},
			func(p *changes.Patch) {
				p.Status, p.Stage, p.ExpiresAt = changes.RolledBack, changes.Settled, time.Time{}
			},
		},
		"superseded": {
			at(changes.Approved, changes.Applying, "root"), changes.Transition{Status: changes.Superseded, Stage: changes.Settled, RebasedTo: 8},
			func(p *changes.Patch) {
				p.Status, p.Stage, p.RebasedTo, p.ExpiresAt = changes.Superseded, changes.Settled, 8, time.Time{}
			},
		},
	} {
		before, err := json.Marshal(c.p)
		if err != nil {
			t.Fatal(err)
		}
		next, err := changes.Advance(c.p, c.m, now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if after, err := json.Marshal(c.p); err != nil || string(after) != string(before) {
			t.Errorf("%s: what it was given is %s by now (%v)", name, after, err)
		}
		want := c.p
		want.Changes = append([]changes.Change(nil), c.p.Changes...)
		c.want(&want)
		if !reflect.DeepEqual(next, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, next, want)
		}
	}
}

// Requirements: CFG-02, CFG-04, CFG-13
func TestWhoMayMakeATransition(t *testing.T) {
	t.Parallel()
	user, admin := identity.Viewer{UserID: "u", Role: identity.RoleUser}, identity.Viewer{UserID: "r", Role: identity.RoleAdmin}
	for name, c := range map[string]struct {
		m    changes.Transition
		user bool // may make it, too
	}{
		"withdraws":       {changes.Transition{Status: changes.Withdrawn}, true},
		"goes on":         {changes.Transition{Stage: changes.Deciding}, true},
		"approves":        {changes.Transition{Status: changes.Approved}, false},
		"rejects":         {changes.Transition{Status: changes.Rejected}, false},
		"applies":         {changes.Transition{Status: changes.Applied}, false},
		"takes back":      {changes.Transition{Status: changes.RolledBack}, false},
		"says yes":        {changes.Transition{Approval: &changes.Approval{}}, false},
		"writes versions": {changes.Transition{Versions: make([]changes.NewVersion, 1)}, false},
		"ends a rollout":  {changes.Transition{Rollouts: map[string]*artifacts.Rollout{"a": nil}}, false},
	} {
		if err := changes.MayTransition(user, c.m); (err == nil) != c.user || err != nil && !errors.Is(err, fault.Forbidden) {
			t.Errorf("a person %s: %v", name, err)
		}
		for _, v := range []identity.Viewer{admin, identity.System()} {
			if err := changes.MayTransition(v, c.m); err != nil {
				t.Errorf("%s %s: %v", v.Role, name, err)
			}
		}
	}
}

// Requirements: CFG-02
func TestAPatchBegins(t *testing.T) {
	t.Parallel()
	v := identity.Viewer{UserID: "pat", Role: identity.RolePower}
	given := changes.Patch{UserID: "pat", Changes: []changes.Change{{ArtifactID: "a"}}}
	p, err := changes.Begin(v, given)
	if err != nil || p.Status != changes.Pending || p.Stage != changes.Checking || p.Needs != 1 {
		t.Errorf("%+v, %v", p, err)
	}
	p.Changes[0].ArtifactID = "b"
	if given.Changes[0].ArtifactID != "a" {
		t.Error("its changes are those that were given")
	}
	for name, c := range map[string]struct {
		v       identity.Viewer
		changes int
		code    fault.Code
	}{
		"of nothing":       {v, 0, fault.Invalid},
		"of too much":      {v, changes.MaxChanges + 1, fault.Invalid},
		"of somebody else": {identity.Viewer{UserID: "ann", Role: identity.RoleAdmin}, 1, fault.Forbidden},
	} {
		_, err := changes.Begin(c.v, changes.Patch{UserID: "pat", Changes: make([]changes.Change, c.changes)})
		code(t, name, err, c.code)
	}
	if _, err := changes.Begin(identity.System(), changes.Patch{UserID: "pat", Changes: make([]changes.Change, changes.MaxChanges)}); err != nil {
		t.Errorf("the system, for somebody: %v", err)
	}
}

func TestAnAnswerNobodyAskedForIsTooEarly(t *testing.T) {
	t.Parallel()
	yes := json.RawMessage(`"approve"`)
	for name, c := range map[string]struct {
		m     changes.Transition
		ended bool
		early bool
	}{
		"an answer":                            {changes.Transition{Answer: yes}, false, true},
		"none":                                 {changes.Transition{}, false, false},
		"one that may find no question":        {changes.Transition{Answer: yes, Loose: true}, false, false},
		"to a workflow that has ended already": {changes.Transition{Answer: yes}, true, false},
	} {
		for _, stage := range []changes.Stage{changes.Checking, changes.Applying} {
			err := c.m.Unasked(at(changes.Pending, stage), c.ended)
			if (err != nil) != c.early || c.early && fault.Reason(err) != changes.NotAsked {
				t.Errorf("%s at %s: %v", name, stage, err)
			}
		}
	}
}
