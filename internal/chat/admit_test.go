package chat_test

import (
	"errors"
	"fmt"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
)

// under is turns under way, oldest first, each called by its place.
func under(way ...run.Status) []run.Run {
	list := make([]run.Run, len(way))
	for i, s := range way {
		list[i] = run.Run{ID: fmt.Sprint(i), Status: s}
	}
	return list
}

// Requirements: CHAT-18, INT-33, ISO-08 (a fourth run is 409 busy)
func TestAConversationTakesANewTurnOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	limits := chat.TurnLimits{Running: 3, Queued: 2}
	enqueue := chat.NewTurn{Multitask: chat.MultitaskEnqueue}
	interrupt := chat.NewTurn{Multitask: chat.MultitaskInterrupt}
	for name, c := range map[string]struct {
		turn    chat.NewTurn
		ahead   []run.Run
		running int
		limits  chat.TurnLimits
		behind  string // id of the turn it waits for; empty: it waits for none
		reason  string // of the Conflict; empty: it is taken
	}{
		"an idle conversation":                     {limits: limits},
		"an idle one of who has one less":          {running: 2, limits: limits},
		"of who has as many as they may":           {running: 3, limits: limits, reason: "busy"},
		"of who has as many, without limit":        {running: 99, limits: chat.TurnLimits{Running: -1}},
		"another version in an idle one":           {turn: chat.NewTurn{Replaces: "m"}, limits: limits},
		"while a turn runs":                        {ahead: under(run.Running), limits: limits, reason: "active"},
		"and it says so":                           {turn: chat.NewTurn{Multitask: chat.MultitaskReject}, ahead: under(run.Running), limits: limits, reason: "active"},
		"behind the one that runs":                 {turn: enqueue, ahead: under(run.Running), limits: limits, behind: "0"},
		"instead of the one that runs":             {turn: interrupt, ahead: under(run.Running), limits: limits, behind: "0"},
		"of who has as many, but it waits":         {turn: enqueue, ahead: under(run.Running), running: 3, limits: limits, behind: "0"},
		"behind the one that runs, not the queued": {turn: enqueue, ahead: under(run.Queued, run.Running), limits: limits, behind: "1"},
		"behind one that is queued":                {turn: enqueue, ahead: under(run.Queued), limits: limits, behind: "0"},
		"one that waits for a person is given up":  {ahead: under(run.Waiting), limits: limits, behind: "0"},
		"also with others behind it":               {ahead: under(run.Waiting, run.Queued), limits: limits, behind: "0"},
		"two wait already":                         {turn: enqueue, ahead: under(run.Running, run.Queued, run.Queued), limits: limits, reason: "busy"},
		"two wait already for a person":            {ahead: under(run.Waiting, run.Queued, run.Queued), limits: limits, reason: "busy"},
		"many wait, without limit":                 {turn: enqueue, ahead: under(run.Running, run.Queued, run.Queued), limits: chat.TurnLimits{Queued: -1}, behind: "0"},
		"none may wait":                            {turn: enqueue, ahead: under(run.Running), reason: "busy"},
		"another version of what is under way":     {turn: chat.NewTurn{Replaces: "m", Multitask: chat.MultitaskEnqueue}, ahead: under(run.Waiting), limits: limits, reason: "active"},
	} {
		behind, err := chat.Admit(c.turn, c.ahead, func() (int, error) { return c.running, nil }, c.limits)
		if c.reason != "" {
			if !errors.Is(err, fault.Conflict) || fault.Reason(err) != c.reason || behind != nil {
				t.Errorf("%s: %v of the reason %q, want %q", name, err, fault.Reason(err), c.reason)
			}
			continue
		}
		if err != nil || (behind == nil) != (c.behind == "") || behind != nil && behind.ID != c.behind {
			t.Errorf("%s: behind %v, %v; want %q", name, behind, err, c.behind)
		}
	}
}

// A turn that waits, or whose person has no limit, costs no count.
func TestRunningTurnsAreCountedOnlyWhereItDecides(t *testing.T) {
	t.Parallel()
	never := func() (int, error) {
		t.Error("running turns were counted")
		return 0, nil
	}
	for _, limits := range []chat.TurnLimits{{Running: 3, Queued: 1}, {Running: -1, Queued: 1}} {
		_, err := chat.Admit(chat.NewTurn{Multitask: chat.MultitaskEnqueue}, under(run.Running), never, limits)
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := chat.Admit(chat.NewTurn{}, nil, never, chat.TurnLimits{Running: -1}); err != nil {
		t.Error(err)
	}
	broken := errors.New("the database is gone")
	if _, err := chat.Admit(chat.NewTurn{}, nil, func() (int, error) { return 0, broken }, chat.TurnLimits{Running: 1}); !errors.Is(err, broken) {
		t.Errorf("%v, want what the count returned", err)
	}
}

func TestATurnThatNoneCanBeIsRefused(t *testing.T) {
	t.Parallel()
	there := id.New()
	for field, turn := range map[string]chat.NewTurn{
		"multitask":       {Multitask: "maybe"},
		"conversation_id": {ConversationID: "../etc"},
		"replaces":        {ConversationID: there, Replaces: "../etc"},
	} {
		err := turn.Validate()
		details, _ := fault.From(err).Details.(map[string]any)
		if !errors.Is(err, fault.Invalid) || details["field"] != field {
			t.Errorf("%s: %v %v", field, err, details)
		}
	}
	if err := (chat.NewTurn{Replaces: there}).Validate(); !errors.Is(err, fault.Invalid) {
		t.Errorf("a version of a message of no conversation: %v", err)
	}
	for _, turn := range []chat.NewTurn{{}, {ConversationID: there, Replaces: id.New(), Multitask: chat.MultitaskInterrupt}} {
		if err := turn.Validate(); err != nil {
			t.Error(err)
		}
	}
}
