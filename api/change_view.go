package api

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/rehearsal"
	"liminal/internal/run"
)

// patchWorkflow begins the workflow id of a patch's run; its id follows.
const patchWorkflow = "patch:"

// patchOf is the patch a workflow takes on its way; nil: it is another's.
func patchOf(workflowID string) *int64 {
	digits, ok := strings.CutPrefix(workflowID, patchWorkflow)
	id, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return nil
	}
	return &id
}

// Person is somebody who did something, as others may know them.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name" doc:"a handle, else an address"`
}

// Operations is a JSON Patch (RFC 6902); what it says is checked elsewhere.
type Operations json.RawMessage

// UnmarshalJSON keeps the bytes.
func (o *Operations) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(o).UnmarshalJSON(b) }

// MarshalJSON gives them back.
func (o Operations) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("[]"), nil
	}
	return o, nil
}

// Schema says that it is a list of operations.
func (Operations) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}}
}

// Operation is one operation of a JSON Patch that was taken.
type Operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// PatchHead is what a list shows of a patch.
type PatchHead struct {
	ID            int64                         `json:"id"`
	Status        string                        `json:"status" enum:"pending,approved,applied,rejected,invalid,expired,withdrawn,superseded,rolled_back"`
	Stage         string                        `json:"stage" enum:"checking,rehearsing,deciding,applying,watching,settled"`
	Proposer      string                        `json:"proposer" enum:"system_llm,human_admin,user"`
	ProposedBy    Nullable[Person]              `json:"proposed_by" doc:"null: the system"`
	Justification string                        `json:"justification"`
	Why           []Remark                      `json:"why" doc:"the justification sentence by sentence, of what the server proposes; empty: it is in its author's words"`
	Checks        []PatchCheck                  `json:"checks"`
	Verdict       rehearsal.Verdict             `json:"verdict" enum:",pass,warn,second,block" doc:"empty before the rehearsal"`
	Needs         int                           `json:"needs" doc:"approvals it takes: 1 or 2"`
	Approvals     []Approval                    `json:"approvals"`
	RolloutPlan   Nullable[changes.RolloutPlan] `json:"trial" doc:"how it was applied; null before"`
	Unknown       artifacts.Unknowns            `json:"unknown" enum:",unknown,live,scripted" doc:"what becomes of an effect the record does not hold; empty: unknown"`
	RebasedFrom   *int64                        `json:"rebased_from" nullable:"true"`
	RebasedTo     *int64                        `json:"rebased_to" nullable:"true"`
	RunID         string                        `json:"run_id"`
	TemporalURL   *string                       `json:"temporal_url" nullable:"true"`
	CreatedAt     time.Time                     `json:"created_at"`
	DecidedAt     *time.Time                    `json:"decided_at" nullable:"true"`
	AppliedAt     *time.Time                    `json:"applied_at" nullable:"true"`
	ExpiresAt     *time.Time                    `json:"expires_at" nullable:"true" doc:"of the stage that waits for a person"`
}

// PatchRow is a patch in a list.
type PatchRow struct {
	PatchHead
	Changes []ChangeHead `json:"changes"`
}

// Patch is a proposed change and everything there is to decide it by (CFG-14).
type Patch struct {
	PatchHead
	Changes []PatchChange `json:"changes"`
	Script  Object        `json:"script,omitempty" doc:"what answered for effects the record does not hold, where unknown is scripted"`
	Reasons []string      `json:"reasons" doc:"why the verdict is not pass"`
	Events  []PatchEvent  `json:"events" doc:"who did what, when and why, the first first"`
	May     changes.May   `json:"may" doc:"what I may do with it now, and why not"`
}

// ChangeHead is what a patch changes.
type ChangeHead struct {
	ArtifactID string `json:"artifact_id"`
	Kind       string `json:"kind"`
	Type       string `json:"type" doc:"the kind's short word"`
	Name       string `json:"name"`
	Base       int    `json:"base_version"`
	Creates    bool   `json:"creates" doc:"the artifact is a draft until this is applied"`
	Applied    int    `json:"applied_version,omitempty"`
}

// PatchChange is a change with the documents on both sides of it.
type PatchChange struct {
	ChangeHead
	Title   string                    `json:"title"`
	Current int                       `json:"current_version"`
	Ops     As[[]Operation]           `json:"patch"`
	Before  As[Nullable[Object]]      `json:"before" doc:"at the base version; null for one that is not there"`
	After   As[Nullable[Object]]      `json:"after" doc:"null when the patch does not apply"`
	Now     As[Nullable[Object]]      `json:"now" doc:"at the current version, where that is no longer the base; else null"`
	Report  Nullable[RehearsalReport] `json:"report" doc:"of the rehearsal; null when there was none"`
}

// PatchCheck is one of the checks of a patch.
type PatchCheck struct {
	Name     string              `json:"name" doc:"schema, references, expressions, limits or rehearsal"`
	State    string              `json:"state" enum:"waiting,ok,warning,failed"`
	Problems []artifacts.Problem `json:"problems"`
	At       *time.Time          `json:"at" nullable:"true"`
}

// Approval is one person's yes.
type Approval struct {
	By     Person    `json:"by"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// PatchEvent is one step of a patch's way (CFG-16).
type PatchEvent struct {
	At     time.Time        `json:"at"`
	By     Nullable[Person] `json:"by" doc:"null: the system"`
	What   string           `json:"what"`
	Reason string           `json:"reason"`
	Data   any              `json:"data"`
}

// Tried is what would become of a proposal.
type Tried struct {
	OK      bool              `json:"ok"`
	Checks  []PatchCheck      `json:"checks"`
	Changes []PatchChange     `json:"changes"`
	Verdict rehearsal.Verdict `json:"verdict" enum:",pass,warn,second,block"`
	Reasons []string          `json:"reasons"`
}

func (s *server) patchHead(p changes.Patch, by Nullable[Person]) PatchHead {
	out := PatchHead{
		ID: p.ID, Status: string(p.Status), Stage: string(p.Stage), Proposer: p.Proposer, ProposedBy: by, Justification: p.Justification, Why: whyOf(p.Found),
		Checks: each(p.Checks, checkView), Verdict: p.Verdict, Needs: max(1, p.Needs), Approvals: each(p.Approvals, approvalView),
		Unknown: p.Unknowns, RebasedFrom: orNone(p.RebasedFrom), RebasedTo: orNone(p.RebasedTo), RunID: p.RunID,
		TemporalURL: s.temporalURL(run.Run{WorkflowID: patchWorkflow + strconv.FormatInt(p.ID, 10)}),
		CreatedAt:   p.CreatedAt.UTC(), DecidedAt: moment(p.DecidedAt), AppliedAt: moment(p.AppliedAt), ExpiresAt: moment(p.ExpiresAt),
	}
	if !p.AppliedAt.IsZero() {
		out.RolloutPlan.V = &p.RolloutPlan
	}
	return out
}

func (s *server) patchView(v changes.View) Patch {
	out := Patch{
		PatchHead: s.patchHead(v.Patch, actor(v.By(), v.ProposedBy)), Changes: make([]PatchChange, 0, len(v.Changes)),
		Reasons: orList(v.Reasons), Events: each(v.Events, eventView), May: v.May,
	}
	if len(v.Script) > 0 {
		out.Script, _ = json.Marshal(v.Script) // it was read from JSON
	}
	for i, c := range v.Changes {
		out.Changes = append(out.Changes, changeView(c, at(v.After, i)))
	}
	return out
}

func triedView(t changes.Tried) Tried {
	out := Tried{
		OK: t.OK, Checks: each(t.Checks, checkView), Changes: make([]PatchChange, 0, len(t.Changes)),
		Verdict: t.Verdict, Reasons: orList(t.Reasons),
	}
	for i, c := range t.Changes {
		out.Changes = append(out.Changes, changeView(c, at(t.After, i)))
	}
	return out
}

func changeHead(c changes.Change) ChangeHead {
	return ChangeHead{
		ArtifactID: c.ArtifactID, Kind: c.Kind, Type: artifacts.Alias(c.Kind), Name: c.Name,
		Base: c.Base, Creates: c.Creates, Applied: c.Applied,
	}
}

func changeView(c changes.Change, a changes.After) PatchChange {
	out := PatchChange{
		ChangeHead: changeHead(c), Title: a.Title, Current: a.Current, Ops: As[[]Operation]{Operations(c.Ops)},
		Before: As[Nullable[Object]]{orNull(a.Before)}, After: As[Nullable[Object]]{orNull(a.After)}, Now: As[Nullable[Object]]{orNull(a.Now)},
	}
	if c.Report != nil {
		out.Report.V = reportView(*c.Report)
	}
	return out
}

func checkView(c changes.Check) PatchCheck {
	return PatchCheck{Name: c.Name, State: string(c.State), Problems: orList(c.Problems), At: moment(c.At)}
}

func approvalView(a changes.Approval) Approval {
	return Approval{By: Person{ID: a.UserID, Name: a.Name}, At: a.At.UTC(), Reason: a.Reason}
}

func eventView(e changes.Event) PatchEvent {
	return PatchEvent{At: e.At.UTC(), By: actor(e.UserID, e.Name), What: e.What, Reason: e.Reason, Data: orNull(e.Data)}
}

// actor is who did something; null when it was the system.
func actor(userID, name string) Nullable[Person] {
	if userID == "" {
		return Nullable[Person]{}
	}
	return Nullable[Person]{&Person{ID: userID, Name: name}}
}

// names calls the people of one answer by their names, asking for each once.
type names struct {
	desk  Names
	known map[string]string
}

func (n *names) of(ctx context.Context, userID string) Nullable[Person] {
	if userID == "" || n.desk == nil {
		return actor(userID, userID)
	}
	name, known := n.known[userID]
	if !known {
		if n.known == nil {
			n.known = map[string]string{}
		}
		name = n.desk.Name(ctx, userID)
		n.known[userID] = name
	}
	return actor(userID, name)
}

// each shapes a list; it is never null.
func each[From, To any](list []From, view func(From) To) []To { return page(list, "", view).Data }

// orList is a list that is never null.
func orList[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// at is an item of a list, or nothing where the list is shorter.
func at[T any](list []T, i int) (item T) {
	if i < len(list) {
		item = list[i]
	}
	return item
}

// orNone is an id, or null.
func orNone(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}
