package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// request is the body of one, of messages as JSON.
func request(messages ...string) string {
	return `{"model":"claude-test","tools":[{"name":"Read"}],"system":[{"type":"text","text":"be kind"}],"messages":[` + strings.Join(messages, ",") + `],"max_tokens":100}`
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func assistant(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

const (
	useStart = `{"type":"tool_use","id":"toolu_1","name":"Read","input":{}}|{"type":"input_json_delta","partial_json":"{\"path\":\"a.go\"}"}`
	useEcho  = `{"input":{"path":"a.go"},"name":"Read","id":"toolu_1","type":"tool_use","cache_control":{"type":"ephemeral"}}`
	thought  = `{"type":"thinking","thinking":"","signature":""}|{"type":"signature_delta","signature":"c2ln"}`
	rethink  = `{"type":"thinking","thinking":"","signature":"c2ln"}`
	result   = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"package a"}]}]}`
)

// toolAnswer ends with a tool that is asked for.
func toolAnswer() string {
	return strings.Replace(events(thought, textBlock("I will run a command."), useStart), `"end_turn"`, `"tool_use"`, 1)
}

// types are those of blocks, in order.
func types(blocks []palace.Block) string {
	out := ""
	for _, b := range blocks {
		out += " " + string(b.Type)
	}
	return strings.TrimSpace(out)
}

func blockIDs(blocks []palace.Block) (list []string) {
	for _, b := range blocks {
		list = append(list, b.UUID)
	}
	return list
}

func (p *spooled) timeline(agent int) palace.View {
	p.t.Helper()
	return got(p.Timeline(p.t.Context(), p.v, agent))(p.t)
}

func palaceEchoes(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.say(passed{session: "s", body: request(user("hello")), answer: toolAnswer()})
	p.take()
	was := p.timeline(1)
	want(t, "types", types(was.Blocks), "User Thinking Assistant ToolUse")
	tokens := int64(0)
	for _, b := range was.Blocks[1:] {
		tokens += b.Tokens
	}
	if tokens < 41 || tokens > 43 {
		t.Errorf("the answer has %d tokens, not the 42 that were counted", tokens)
	}
	// The same again, with the breakpoint elsewhere and its keys in another order.
	second := request(`{"role":"user","content":[{"type":"text","text":"hello","cache_control":{"type":"ephemeral"}}]}`, assistant(rethink, `{"text":"I will run a command.","type":"text"}`, useEcho), result)
	p.say(passed{session: "s", body: second, answer: events(textBlock("I will run a command."))})
	p.take()
	is := p.timeline(1)
	want(t, "types", types(is.Blocks), "User Thinking Assistant ToolUse ToolResult Assistant")
	if !slices.Equal(blockIDs(is.Blocks)[:4], blockIDs(was.Blocks)) {
		t.Errorf("blocks sent again are others: %v, %v", blockIDs(is.Blocks), blockIDs(was.Blocks))
	}
	if is.Blocks[5].UUID == is.Blocks[2].UUID {
		t.Error("the same words in two turns are one block")
	}
	want(t, "tool of the result", is.Blocks[4].Tool, "Read")
	want(t, "tier of the result", is.Blocks[4].Tier, palace.Short)
	want(t, "scope of the result", is.Blocks[4].Scope, palace.ScopeTool)
	want(t, "lineages", len(got(p.PalaceLineages(t.Context(), p.v, is.Agent.ID))(t)), 1)
	// A retry brings nothing new but its answer.
	blocks := got(p.PalaceFigures(t.Context(), p.v))(t).Blocks
	p.say(passed{session: "s", body: second, answer: ""})
	p.take()
	want(t, "blocks after a retry", got(p.PalaceFigures(t.Context(), p.v))(t).Blocks, blocks)
	shared := got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Scopes: []string{"global"}}))(t)
	want(t, "what all agents see", types(shared.Blocks), "System Tools")
	read := got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Tools: []string{"Read", "Grep"}, Scopes: []string{"tool:Read", "agent"}}))(t)
	want(t, "of a tool", len(read.Blocks) > 0 && read.Blocks[0].Tool == "Read", true)
}

func palaceLineages(t *testing.T, open Open) {
	p := newSpooled(t, open)
	hi := assistant(`{"type":"text","text":"hi"}`)
	say := func(session, body string) {
		p.say(passed{session: session, run: "r1", body: body, answer: events(textBlock("hi"))})
	}
	say("s1", request(user("one")))
	say("s1", request(user("one"), hi, user("two")))
	// The person goes back, and says something else.
	say("s1", request(user("one"), hi, user("three")))
	// A summary is asked for, and the next history begins with it.
	say("s1", request(user("one"), hi, user("three"), hi, user("CRITICAL: Respond with TEXT ONLY. Sum up.")))
	say("s1", request(user("what was said before"), user("four")))
	// /clear: another session of the same command.
	say("s2", request(user("five")))
	// --continue: the same session by another command.
	p.say(passed{session: "s2", run: "r2", body: request(user("five"), hi, user("six")), answer: events(textBlock("hi"))})
	p.take()
	agents := got(p.PalaceAgents(t.Context(), p.v))(t)
	want(t, "agents", len(agents), 1)
	a := agents[0]
	want(t, "what it has before it", fmt.Sprintf("%s %d, of %d with %d", a.Lineage.Why, a.Lineage.Exchanges, a.Lineages, a.Exchanges), "clear 2, of 4 with 6")
	tokens := int64(0)
	for _, b := range p.timeline(1).Blocks {
		tokens += b.Tokens
	}
	for _, n := range a.Tokens {
		tokens -= n
	}
	want(t, "tokens by type", fmt.Sprint(tokens, a.Tokens[palace.Assistant] > 0, a.Tokens[palace.Thinking]), "0 true 0")
	list := got(p.PalaceLineages(t.Context(), p.v, agents[0].ID))(t)
	slices.Reverse(list)
	said := ""
	for i, l := range list {
		if i > 0 && l.Supersedes != list[i-1].ID {
			t.Errorf("lineage %d does not point to the one before", i)
		}
		said += fmt.Sprintf("%s/%d/%d ", l.Why, l.Fork, l.Exchanges)
	}
	want(t, "lineages", said, "/0/2 rewind/2/1 compact/0/1 clear/0/2 ")
	one, two := got(p.PalaceTimeline(t.Context(), p.v, list[0].ID))(t), got(p.PalaceTimeline(t.Context(), p.v, list[1].ID))(t)
	if !slices.Equal(blockIDs(one)[:2], blockIDs(two)[:2]) || one[2].UUID == two[2].UUID {
		t.Errorf("what two lineages have in common is not the same blocks: %v, %v", blockIDs(one), blockIDs(two))
	}
	stands := ""
	for _, at := range got(p.PalaceAppearances(t.Context(), p.v, one[1].UUID))(t) {
		stands += fmt.Sprintf("%v/%v/%d/%d/%d ", at.Lineage == list[0].ID, at.Agent == a.ID, at.Number, at.Position, at.Length)
	}
	want(t, "where a block stands", stands, "false/true/1/1/4 true/true/1/1/4 ")
	for i, l := range list {
		view := got(p.TimelineOf(t.Context(), p.v, 1, l.ID))(t)
		want(t, fmt.Sprint("blocks of ", i), len(view.Blocks), l.Length)
	}
}

func palaceParents(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.say(passed{session: "s", run: "r", body: request(user("go")), answer: toolAnswer()})
	p.say(passed{session: "s", run: "r", agent: "a1", body: request(user("look")), answer: events(textBlock("seen"))})
	p.say(passed{session: "s", run: "r", agent: "a2", body: request(user("look")), answer: events(textBlock("seen"))})
	p.say(passed{session: "inner", run: "r", body: request(user("of a tool")), answer: events(textBlock("done"))})
	p.take()
	agents := got(p.PalaceAgents(t.Context(), p.v))(t)
	slices.Reverse(agents)
	want(t, "agents", len(agents), 4)
	for i, kind := range []palace.Kind{palace.Main, palace.Subagent, palace.Subagent, palace.Main} {
		want(t, fmt.Sprint("kind of ", i), agents[i].Kind, kind)
		want(t, fmt.Sprint("number of ", i), agents[i].Number, i+1)
		want(t, fmt.Sprint("parent of ", i), agents[i].ParentID == agents[0].ID, i > 0)
	}
	if _, err := p.TimelineOf(t.Context(), p.v, 2, agents[0].Lineage.ID); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a history of another agent: %v", err)
	}
	// The two say the same, and have blocks of their own.
	if p.timeline(2).Blocks[0].UUID == p.timeline(3).Blocks[0].UUID {
		t.Error("two agents share a block that is neither's")
	}
}

func palaceKilled(t *testing.T, open Open) {
	p := newSpooled(t, open)
	whole := p.say(passed{session: "s", body: request(user("one")), answer: events(textBlock("hi"))})
	cut := p.say(passed{session: "s", body: request(user("one"), assistant(`{"type":"text","text":"hi"}`), user("two")), answer: strings.SplitAfter(events(textBlock("no")), "\n\n")[0], unended: true})
	need(t, p.spool.Close(t.Context()))
	p.write()
	again := p.say(passed{session: "s", body: request(user("one"), assistant(`{"type":"text","text":"hi"}`), user("two")), answer: events(textBlock("yes"))})
	p.take()
	list, _, err := p.PalaceExchanges(t.Context(), p.v, palace.ExchangeFilter{}, "", 10)
	need(t, err)
	want(t, "exchanges", len(list), 3)
	for i, e := range list { // the newest first
		want(t, "id", e.ID, []string{again, cut, whole}[i])
		want(t, "number", e.Number, 3-i)
		want(t, "complete", e.Complete, i != 1)
	}
	want(t, "cut by", list[1].CutBy, palace.CutByProxy)
	want(t, "history", types(p.timeline(1).Blocks), "User Assistant User Assistant")
}

var errKilled = errors.New("killed")

// dying is a store whose transactions do not get to their end.
type dying struct {
	palace.Store
	after int
}

// TakeIn implements palace.Store.
func (d *dying) TakeIn(ctx context.Context, v identity.Viewer, f func(palace.Tx) error) error {
	return d.Store.TakeIn(ctx, v, func(tx palace.Tx) error {
		if err := f(tx); err != nil {
			return err
		}
		if d.after--; d.after < 0 {
			return errKilled
		}
		return nil
	})
}

func palaceAgain(t *testing.T, open Open) {
	p := newSpooled(t, open)
	var told []string
	messages := []string{}
	for i := range 150 {
		messages = append(messages, user(fmt.Sprint("question ", i)))
		told = append(told, p.say(passed{session: "s", body: request(messages...), answer: events(textBlock(fmt.Sprint("answer ", i)))}))
		messages = append(messages, assistant(fmt.Sprintf(`{"type":"text","text":"answer %d"}`, i)))
	}
	need(t, p.spool.Close(t.Context()))
	for after := range 3 {
		err := palace.NewIntake(palace.IntakeOptions{
			Dir: filepath.Join(p.dir, "intake"), Spool: p.dir, Store: &dying{p.store, after}, Log: slog.New(slog.DiscardHandler), Owner: func(context.Context) (identity.Viewer, error) { return p.v, nil },
		}).All(t.Context())
		if !errors.Is(err, errKilled) {
			t.Fatalf("after %d transactions: %v", after, err)
		}
	}
	p.take()
	p.take()
	var kept []string
	for cursor := ""; ; {
		list, next, err := p.PalaceExchanges(t.Context(), p.v, palace.ExchangeFilter{Kind: palace.Main}, cursor, 100)
		need(t, err)
		for _, e := range list {
			kept = append(kept, e.ID)
			want(t, "number", e.Number, len(told)-len(kept)+1)
		}
		if cursor = next; next == "" {
			break
		}
	}
	slices.Reverse(kept)
	if !slices.Equal(kept, told) {
		t.Errorf("%d exchanges are kept of %d, or in another order", len(kept), len(told))
	}
	view := p.timeline(1)
	want(t, "blocks", len(view.Blocks), 300)
	want(t, "lineages", got(p.PalaceFigures(t.Context(), p.v))(t).Lineages, 1)
	for i, b := range view.Blocks[:20] {
		if label := fmt.Sprint([]string{"question ", "answer "}[i%2], i/2); b.Label != label {
			t.Errorf("block %d says %q", i, b.Label)
		}
	}
}

func palaceDisplay(t *testing.T, open Open) {
	p := newSpooled(t, open)
	body := request(user("one"), user("two"))
	p.say(passed{session: "s", body: body, answer: events(textBlock("hi"))})
	p.take()
	view := p.timeline(1)
	two := view.Blocks[1]
	n := *two.DisplayID
	need(t, p.store.DropBlocks(t.Context(), p.v, []string{two.UUID}))
	gone := got(p.PalaceBlock(t.Context(), p.v, two.UUID))(t)
	if gone.Active || gone.DeletedAt == nil || gone.DisplayID != nil {
		t.Errorf("a block that was put away is %+v", gone)
	}
	want(t, "what it says", string(got(p.Content(t.Context(), p.v, gone))(t).JSON), `"two"`)
	_, err := p.PalaceBlockNumbered(t.Context(), p.v, n)
	wantFault(t, err, fault.NotFound)
	want(t, "active", len(got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Scopes: []string{"project", "agent"}}))(t).Blocks), 2)
	p.say(passed{session: "other", body: request(user("three")), answer: ""})
	p.take()
	holder := got(p.PalaceBlockNumbered(t.Context(), p.v, n))(t)
	want(t, "label of the next", holder.Label, "three")
	want(t, "generation", holder.Generation, 1)
	// It comes up again in another history, and is the block it was.
	p.say(passed{session: "s", body: request(user("one"), user("two"), assistant(`{"type":"text","text":"hi"}`), user("four")), answer: ""})
	p.say(passed{session: "s", body: request(user("one"), user("two"), user("five")), answer: ""})
	p.take()
	back := got(p.PalaceBlock(t.Context(), p.v, two.UUID))(t)
	if !back.Active || back.DeletedAt != nil || back.DisplayID == nil || *back.DisplayID == n {
		t.Errorf("a block that comes up again is %+v", back)
	}
	wantFault(t, p.store.DropBlocks(t.Context(), p.v, []string{id.New()}), fault.NotFound)
}
