package storetest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/store"
)

// Steward proves what the system's own account is: the owner of its own runs,
// and nobody.
func Steward(t *testing.T, open Open) {
	t.Run("it is no account of a person", func(t *testing.T) { reserved(t, open) })
	t.Run("what its runs ask is put to the administrators", func(t *testing.T) { askedAdministrators(t, open) })
	t.Run("an administrator lists how everybody's runs went", func(t *testing.T) { everybodysRuns(t, open) })
}

func reserved(t *testing.T, open Open) {
	s := open(t, store.Options{}).Store
	want(t, "accounts", got(s.Accounts(t.Context()))(t), false)
	list, _, err := s.ListUsers(t.Context(), identity.UserFilter{})
	need(t, err)
	want(t, "users", len(list), 0)
	u := got(s.CreateUser(t.Context(), identity.User{ID: id.New(), Email: "a@example.org", Active: true}, identity.Credential{}))(t)
	want(t, "the first person", u.Role, identity.RoleAdmin)
	_, _, err = s.User(t.Context(), identity.SystemAccount)
	wantFault(t, err, fault.NotFound)
	_, _, err = s.UserByEmail(t.Context(), "liminal@system.invalid")
	wantFault(t, err, fault.NotFound)
	want(t, "acts as", got(s.Viewer(t.Context(), identity.SystemAccount))(t), identity.Steward())
	_, err = s.DeleteUser(t.Context(), identity.SystemAccount)
	wantFault(t, err, fault.Forbidden)
	on := true
	_, err = s.ChangeUser(t.Context(), identity.SystemAccount, identity.UserChange{Active: &on})
	wantFault(t, err, fault.Forbidden)
	got(s.DeleteUser(t.Context(), u.ID))(t) // the last administrator leaves as the last of all
	want(t, "accounts", got(s.Accounts(t.Context()))(t), false)
}

func stewardsRun(kind run.Kind) run.Run {
	return run.Run{ID: id.New(), WorkflowID: id.New(), Kind: kind, UserID: identity.SystemAccount, Status: run.Running}
}

func askedAdministrators(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	admin, v := administrator(t, s), person(t, s)
	r := stewardsRun(run.KindArchitect)
	need(t, s.CreateRun(t.Context(), identity.Steward(), r))
	q := run.Interrupt{ID: id.New(), RunID: r.ID, EffectID: "e", Type: "text_input", Message: "?"}
	need(t, s.Ask(t.Context(), identity.Steward(), true, q))
	c.add(time.Second)
	turn := accept(t, s, admin, chat.NewTurn{Message: "x"})
	own := ask(t, s, admin, turn.Run.ID, "e")[0]
	var listed []string
	for _, q := range got(s.PendingInterrupts(t.Context(), admin, ""))(t) {
		listed = append(listed, q.ID)
	}
	wantLines(t, listed, []string{q.ID, own})
	want(t, "of one conversation", len(got(s.PendingInterrupts(t.Context(), admin, turn.ConversationID))(t)), 1)
	_, err := s.Answer(t.Context(), v, q.ID, run.Answered, nil)
	wantFault(t, err, fault.NotFound)
	want(t, "answered", got(s.Answer(t.Context(), admin, q.ID, run.Answered, json.RawMessage(`"go"`)))(t).Status, run.Answered)
	wantFault(t, s.EndRun(t.Context(), admin, r.ID, run.End{Status: run.Cancelled}), fault.NotFound)
	want(t, "run", got(s.Run(t.Context(), admin, r.ID))(t).Status, run.Waiting)
}

func everybodysRuns(t *testing.T, open Open) {
	c := newClock()
	s := open(t, store.Options{Running: -1, Now: c.now}).Store
	v, other, admin := person(t, s), person(t, s), administrator(t, s)
	need(t, s.CreateRun(t.Context(), identity.Steward(), stewardsRun(run.KindPatch)))
	graph := pin("g", 3)
	var made []string
	for _, owner := range []identity.Viewer{v, other} {
		c.add(time.Second)
		r := job(owner, id.New())
		need(t, s.CreateRun(t.Context(), owner, r))
		need(t, s.EndRun(t.Context(), owner, r.ID, run.End{
			Status: run.Failed, Result: json.RawMessage(`"secret"`), Trace: json.RawMessage(`["secret"]`), Pins: []run.Pin{graph, pin("other", 1)},
			Error: json.RawMessage(`{"code":"timeout","message":"secret","node":"n"}`),
		}))
		made = append([]string{r.ID}, made...)
	}
	list, _, err := s.ListRuns(t.Context(), admin, run.Filter{All: true})
	need(t, err)
	want(t, "everybody's", len(list), 3)
	list, next, err := s.ListRuns(t.Context(), admin, run.Filter{All: true, Artifact: graph.ArtifactID, Status: run.Failed, Limit: 1})
	need(t, err)
	want(t, "the newest", fmt.Sprint(list[0].ID, list[0].UserID, plain(list[0].Pins[0])), fmt.Sprint(made[0], other.UserID, plain(graph)))
	want(t, "what is left out", fmt.Sprint(list[0].Input == nil, list[0].Result == nil, list[0].Trace == nil, string(list[0].Error)), fmt.Sprint(true, true, true, `{"code":"timeout","node":"n"}`))
	list, _, err = s.ListRuns(t.Context(), admin, run.Filter{All: true, Artifact: graph.ArtifactID, Limit: 1, Cursor: next})
	need(t, err)
	want(t, "the other", list[0].ID, made[1])
	for _, artifact := range []string{pin("other", 1).ArtifactID, id.New()} {
		list, _, err = s.ListRuns(t.Context(), admin, run.Filter{All: true, Artifact: artifact})
		need(t, err)
		want(t, "of another graph", len(list), 0)
	}
	list, _, err = s.ListRuns(t.Context(), v, run.Filter{Artifact: graph.ArtifactID})
	need(t, err)
	want(t, "one's own", fmt.Sprint(len(list), list[0].ID, string(list[0].Result)), fmt.Sprint(1, made[1], `"secret"`))
	_, _, err = s.ListRuns(t.Context(), v, run.Filter{All: true})
	wantFault(t, err, fault.Forbidden)
	_, _, err = s.ListRuns(t.Context(), v, run.Filter{Artifact: "odd%"})
	wantFault(t, err, fault.Invalid)
}
