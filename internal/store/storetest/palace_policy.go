package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// PalacePolicy proves palace.Keeper, and what follows policies.
func PalacePolicy(t *testing.T, open Open) {
	t.Run("after each exchange there is a plan, of the policy that the history began with", func(t *testing.T) { palacePlans(t, open) })
	t.Run("the policy finds channels and tiers, and a person's word goes first", func(t *testing.T) { palaceMarks(t, open) })
	t.Run("a person stars, keeps and drops", func(t *testing.T) { palaceWishes(t, open) })
	t.Run("what is past its time is put away, and comes back", func(t *testing.T) { palaceRetires(t, open) })
	t.Run("announcements are seen by all agents", func(t *testing.T) { palaceAnnounces(t, open) })
	t.Run("the classifier hears what an agent is at", func(t *testing.T) { palaceHears(t, open) })
	t.Run("a history is recorded request by request", func(t *testing.T) { palaceRecorded(t, open) })
	t.Run("a version of a policy has what turns cost", func(t *testing.T) { palaceFollowed(t, open) })
	t.Run("none of it is another person's", func(t *testing.T) { palacePolicyStranger(t, open) })
}

// pinnable gives policies by their versions.
type pinnable struct {
	list []*view.Policy // by version, from 1
	next int
}

func (p *pinnable) PinFor(context.Context, identity.Viewer, string) (palace.Pin, error) {
	return palace.Pin{PolicyID: "00000000-0000-7000-8000-000000000001", Version: p.next}, nil
}

func (p *pinnable) PolicyAt(_ context.Context, _ identity.Viewer, pin palace.Pin) (*view.Policy, error) {
	return p.list[pin.Version-1], nil
}

func parsed(t testing.TB, docs ...string) *pinnable {
	p := &pinnable{next: 1}
	for _, doc := range docs {
		p.list = append(p.list, got(view.Parse([]byte(doc)))(t))
	}
	return p
}

// planner plans what a spool has taken in, in its folder.
func (p *spooled) planner() *palace.Planner {
	pl := palace.NewPlanner(palace.PlannerOptions{Dir: p.dir, Library: p.Library, Keys: p.keys, Log: slog.New(slog.DiscardHandler)})
	p.Grown = pl.Grown
	return pl
}

// plan plans the newest history of an agent.
func (p *spooled) plan(pl *palace.Planner, agent int) palace.Planned {
	p.t.Helper()
	return got(pl.Plan(p.t.Context(), p.v, p.timeline(agent).Lineage.ID))(p.t)
}

// grepped is a history of so many greps, each an exchange, and of answers that speak
// of nothing behind them.
func (p *spooled) grepped(session string, greps, answers int) {
	var messages []string
	for i := range greps {
		id := fmt.Sprint("toolu_", session, i)
		if i == 0 {
			messages = append(messages, user("go on"))
		}
		p.say(passed{session: session, body: request(messages...), answer: strings.Replace(events(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Grep","input":{}}|{"type":"input_json_delta","partial_json":"{\"pattern\":\"%d\"}"}`, id, i)), `"end_turn"`, `"tool_use"`, 1)})
		messages = append(messages, assistant(fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Grep","input":{"pattern":"%d"}}`, id, i)),
			fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, id, fmt.Sprint(i, strings.Repeat(" hit", 500))))
	}
	for i := range answers {
		p.say(passed{session: session, body: request(messages...), answer: events(textBlock(fmt.Sprint("well ", i)))})
		messages = append(messages, assistant(fmt.Sprintf(`{"type":"text","text":"well %d"}`, i)), user(fmt.Sprint("on ", i)))
	}
}

// Requirements: PAL-02 (classifies), PAL-08 (by rules on every message; the latency in /stats), PAL-21
func palacePlans(t *testing.T, open Open) {
	p := newSpooled(t, open)
	policies := parsed(t, `{"kind":"policy.palace"}`, `{"kind":"policy.palace","mode":"view"}`)
	p.Policies = policies
	pl := p.planner()
	p.grepped("s", 2, 7)
	p.take()
	pl.Grown([]string{p.timeline(1).Lineage.ID})
	need(t, pl.All(t.Context(), p.v))
	l := p.timeline(1).Lineage
	first := got(p.PalacePlan(t.Context(), p.v, l.ID))(t)
	want(t, "exchanges", first.Exchanges, l.Exchanges)
	want(t, "pin", first.Pin.Version, 1)
	want(t, "mode", first.Plan.Mode, view.Shadow)
	want(t, "could be set aside", len(first.Plan.Replace), 2)
	want(t, "the first of them", first.Plan.Replace[0].Label, "Grep 0")
	views := filepath.Join(p.dir, "views", view.FileName(l.Key))
	if _, err := os.Stat(views); !os.IsNotExist(err) {
		t.Errorf("in shadow the proxy is given a plan (%v)", err)
	}
	// What began follows the policy that it began with, and what begins the new one.
	policies.next = 2
	want(t, "pin of the history", p.plan(pl, 1).Pin.Version, 1)
	p.grepped("t", 2, 7)
	p.take()
	second := p.plan(pl, 2)
	want(t, "pin of the next", second.Pin.Version, 2)
	of := p.timeline(2).Lineage
	var given view.Plan
	need(t, json.Unmarshal(got(os.ReadFile(filepath.Join(p.dir, "views", view.FileName(of.Key))))(t), &given))
	want(t, "the plan that the proxy is given", fmt.Sprintf("%s %d %v", given.Mode, len(given.Replace), given.Client == of.Key), "view 2 true")
	// What an epoch has set aside is not set aside again, and what was asked for is done.
	need(t, p.AskEpoch(t.Context(), p.v, of.ID, true))
	want(t, "asked", p.plan(pl, 2).Plan.Asked, true)
	epoch, err := json.Marshal([]view.Epoch{{Number: 1, Client: of.Key, Lineage: of.ID, Replace: second.Plan.Replace[:1], OpenedAt: time.Now().Add(time.Hour)}})
	need(t, err)
	need(t, os.MkdirAll(filepath.Join(p.dir, "epochs"), 0o700))
	need(t, os.WriteFile(filepath.Join(p.dir, "epochs", view.FileName(of.Key)), epoch, 0o600))
	after := p.plan(pl, 2)
	want(t, "after an epoch", fmt.Sprint(len(after.Plan.Replace), after.Plan.Asked), "1 false")
	want(t, "still asked", got(p.PalacePlan(t.Context(), p.v, of.ID))(t).Asked == nil, true)
	// Another history of the client is what the proxy plans for; to plan the one before
	// again, as when somebody keeps a block that both have, takes nothing away from it.
	p.say(passed{session: "t", body: request(user("after /clear")), answer: events(textBlock("yes"))})
	p.take()
	now := p.plan(pl, 2)
	want(t, "another history", now.Lineage != of.ID, true)
	got(pl.Plan(t.Context(), p.v, of.ID))(t)
	need(t, json.Unmarshal(got(os.ReadFile(filepath.Join(p.dir, "views", view.FileName(of.Key))))(t), &given))
	want(t, "the plan is the newest history's", given.Lineage, now.Lineage)
	want(t, "unplanned", len(got(p.PalaceUnplanned(t.Context(), p.v, time.Now().Add(-time.Hour)))(t)), 0)
	if f := got(p.Stats(t.Context(), p.v))(t).Classifier; f.Calls < 4 || f.Name != view.RulesName || f.Most <= 0 {
		t.Errorf("the classifier's figures are %+v", f)
	}
}

// The second judge of a trial: dollars a turn, by the history.
//
// Requirements: CFG-13
func palaceFollowed(t *testing.T, open Open) {
	p := newSpooled(t, open)
	dollar := 1.0
	p.price = func(model string, _ palace.Usage) *float64 {
		if model == "unknown" {
			return nil
		}
		return &dollar
	}
	policies := parsed(t, `{"kind":"policy.palace"}`, `{"kind":"policy.palace"}`)
	p.Policies = policies
	pl := p.planner()
	p.grepped("s", 2, 4)
	p.grepped("t", 1, 0) // no turn of it ended
	p.take()
	p.plan(pl, 1)
	p.plan(pl, 2)
	policies.next = 2
	p.grepped("u", 1, 4)
	p.say(passed{session: "v", body: request(user("hello")), answer: strings.Replace(events(textBlock("hi")), "claude-test", "unknown", 1)})
	p.take()
	p.plan(pl, 3)
	p.plan(pl, 4)
	id := got(policies.PinFor(t.Context(), p.v, ""))(t).PolicyID
	hour := time.Hour
	for version, want := range map[int]string{1: "{2 [1.5]}", 2: "{2 [1.25]}", 3: "{0 []}"} {
		if f := got(p.store.PalaceFollowed(t.Context(), id, version, time.Now().Add(-hour), time.Now().Add(hour)))(t); fmt.Sprint(f) != want {
			t.Errorf("version %d has %v, not %s", version, f, want)
		}
	}
	if f := got(p.store.PalaceFollowed(t.Context(), id, 1, time.Now().Add(hour), time.Now().Add(2*hour)))(t); f.Histories != 0 {
		t.Errorf("of a time when none began: %+v", f)
	}
}

// Requirements: PAL-15 (channels do), PAL-17, PAL-18 (channels and stars), PAL-19
func palaceMarks(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, `{"kind":"policy.palace","channels":[{"channel":"architecture","when":"text contains '3 hit'"},{"channel":"search","when":"tool == 'Grep' and type == 'ToolResult'"}]}`)
	pl := p.planner()
	p.grepped("s", 5, 1)
	p.take()
	p.plan(pl, 1)
	in := func(channels, tools []string) string {
		out := ""
		for _, b := range got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Channels: channels, Tools: tools}))(t).Blocks {
			out += fmt.Sprintf("%.1s %s %s, ", b.Label, b.Tier, b.TierBy)
		}
		return out
	}
	want(t, "of a channel", in([]string{"architecture"}, nil), "3 LONG rule, ")
	want(t, "of a channel and a tool", in([]string{"architecture"}, []string{"Read"}), "")
	want(t, "of either channel", len(strings.Split(in([]string{"architecture", "search"}, []string{"Grep"}), ", ")), 6)
	// PAL-19: what a person says of a block stays, whatever its channels.
	b := got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Channels: []string{"architecture"}}))(t).Blocks[0]
	need(t, p.SetPalaceTier(t.Context(), p.v, []string{b.UUID}, palace.Short))
	p.plan(pl, 1)
	want(t, "after a person's word", in([]string{"architecture"}, nil), "3 SHORT person, ")
	starred := got(p.Star(t.Context(), p.v, b.UUID, true))(t)
	want(t, "starred after it", fmt.Sprintf("%v %s %s", starred.Starred, starred.Tier, starred.TierBy), "true SHORT person")
	other := p.timeline(1).Blocks[0]
	star := got(p.Star(t.Context(), p.v, other.UUID, true))(t)
	want(t, "starred", fmt.Sprintf("%s %s", star.Tier, star.TierBy), "LONG rule")
	want(t, "not any more", got(p.Star(t.Context(), p.v, other.UUID, false))(t).Tier, palace.Medium)
}

// Requirements: PAL-19
func palaceWishes(t *testing.T, open Open) {
	p := newSpooled(t, open)
	pl := p.planner()
	p.grepped("s", 2, 7)
	p.take()
	p.plan(pl, 1)
	var result palace.Block
	for _, b := range p.timeline(1).Blocks {
		if b.Type == palace.ToolResult {
			result = b
		}
	}
	kept := got(p.Wish(t.Context(), p.v, result.UUID, view.Show))(t)
	want(t, "wish", kept.Wish, view.Show)
	need(t, pl.All(t.Context(), p.v)) // the wish has had it planned again
	want(t, "could be set aside", len(got(p.PalacePlan(t.Context(), p.v, p.timeline(1).Lineage.ID))(t).Plan.Replace), 1)
	d := got(p.Classify(t.Context(), p.v, []int{*result.DisplayID}, palace.AgentContext{AgentID: 1}))(t)
	want(t, "classified", len(d.Add), 1)
	got(p.Wish(t.Context(), p.v, result.UUID, view.Aside))(t)
	d = got(p.Classify(t.Context(), p.v, []int{*result.DisplayID}, palace.AgentContext{}))(t)
	want(t, "classified after a drop", len(d.Remove), 1)
	got(p.Wish(t.Context(), p.v, result.UUID, ""))(t)
	_, err := p.Wish(t.Context(), p.v, result.UUID, "+-")
	wantFault(t, err, fault.Invalid)
	list, next, err := p.PalaceEvents(t.Context(), p.v, result.UUID, "", 2)
	need(t, err)
	want(t, "events", fmt.Sprintf("%s %s %s", list[0].What, list[1].What, list[0].Who), "unwished dropped person")
	list, _, err = p.PalaceEvents(t.Context(), p.v, "", next, 2)
	need(t, err)
	want(t, "the first", list[0].What, "kept")
}

// Requirements: PAL-17, PAL-18 (deleted and archived by age), PAL-20 (by age), PAL-22
func palaceRetires(t *testing.T, open Open) {
	p := newSpooled(t, open)
	pl := p.planner()
	p.grepped("s", 3, 1)
	p.take()
	p.plan(pl, 1)
	blocks := p.timeline(1).Blocks
	var results []palace.Block
	for _, b := range blocks {
		if b.Type == palace.ToolResult {
			results = append(results, b)
		}
	}
	got(p.Star(t.Context(), p.v, results[0].UUID, true))(t)
	began := time.Now()
	const day = 24 * time.Hour
	at := func(age time.Duration) palace.PastTime {
		t.Helper()
		p.Now = func() time.Time { return began.Add(age) }
		return got(p.DueBlocks(t.Context(), p.v, ""))(t)
	}
	want(t, "young", fmt.Sprint(len(at(6*day).Delete), len(at(6*day).Archive)), "0 0")
	due := at(8 * day)
	want(t, "after a week", fmt.Sprint(len(due.Delete), len(due.Archive), due.More), "2 0 false")
	// One comes up again before it is put away.
	p.say(passed{session: "new", body: request(user("go on")), answer: ""})
	p.take()
	deleted, archived, err := p.Retire(t.Context(), p.v, due.Delete, nil)
	need(t, err)
	want(t, "put away", fmt.Sprint(deleted, archived), "2 0")
	gone := got(p.PalaceBlock(t.Context(), p.v, results[1].UUID))(t)
	if gone.Active || gone.DeletedAt == nil || gone.ArchivedAt != nil || gone.DisplayID != nil {
		t.Errorf("a deleted block is %+v", gone)
	}
	if c := got(p.Content(t.Context(), p.v, gone))(t); !strings.Contains(string(c.JSON), "1 hit hit") {
		t.Errorf("it says %s", c.JSON)
	}
	deleted, _, err = p.Retire(t.Context(), p.v, due.Delete, nil)
	need(t, err)
	want(t, "the same again", deleted, 0)
	seen := got(p.Active(t.Context(), p.v, 1, palace.BlockFilter{Tools: []string{"Grep"}, Scopes: []string{"tool"}}))(t)
	want(t, "in view", len(seen.Blocks), 1)
	due = at(31 * day)
	if len(due.Delete) != 0 || len(due.Archive) < 4 {
		t.Errorf("after a month %d are to be deleted, %d archived", len(due.Delete), len(due.Archive))
	}
	_, archived, err = p.Retire(t.Context(), p.v, nil, due.Archive)
	need(t, err)
	want(t, "archived", archived, len(due.Archive))
	old := got(p.PalaceBlock(t.Context(), p.v, due.Archive[0]))(t)
	if old.Active || old.DeletedAt != nil || old.ArchivedAt == nil {
		t.Errorf("an archived block is %+v", old)
	}
	list, _, err := p.PalaceEvents(t.Context(), p.v, old.UUID, "", 5)
	need(t, err)
	want(t, "who did it", fmt.Sprintf("%s %s %s", list[0].What, list[0].Who, list[0].Why), "archived rules past its time")
	// Its client goes on with the history, and it is the block it was.
	p.grepped("s", 3, 2)
	p.take()
	want(t, "owners", slices.Contains(got(p.PalaceOwners(t.Context(), 10))(t), p.v.UserID), true)
	_, _, err = p.Retire(t.Context(), p.v, make([]string, 501), nil)
	wantFault(t, err, fault.Invalid)
}

// Requirements: PAL-16 (announcements)
func palaceAnnounces(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.say(passed{session: "s", body: request(user("hello")), answer: ""})
	p.say(passed{session: "t", body: request(user("hello too")), answer: ""})
	p.take()
	b := got(p.Announce(t.Context(), p.v, "The build is broken.\nWait."))(t)
	want(t, "label", b.Label, "The build is broken. Wait.")
	for _, agent := range []int{1, 2} {
		seen := got(p.Active(t.Context(), p.v, agent, palace.BlockFilter{Scopes: []string{"global"}}))(t)
		if !slices.ContainsFunc(seen.Blocks, func(o palace.Block) bool { return o.UUID == b.UUID }) {
			t.Errorf("agent %d does not see it", agent)
		}
	}
	want(t, "what it says", string(got(p.Content(t.Context(), p.v, b))(t).JSON), `{"text":"The build is broken.\nWait.","type":"text"}`)
	want(t, "announcements", len(got(p.PalaceAnnouncements(t.Context(), p.v))(t)), 1)
	need(t, p.store.DropBlocks(t.Context(), p.v, []string{b.UUID}))
	want(t, "after it was dropped", len(got(p.PalaceAnnouncements(t.Context(), p.v))(t)), 0)
	for _, text := range []string{"", strings.Repeat("x", 16<<10+1), "\xff"} {
		_, err := p.Announce(t.Context(), p.v, text)
		wantFault(t, err, fault.Invalid)
	}
}

// Requirements: PAL-12 (by context of the agent)
func palaceHears(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.Policies = parsed(t, `{"kind":"policy.palace","channels":[{"channel":"security","when":"text contains '0 hit'"}],"rules":[
		{"id":"at_it","when":"any(active_channels, # in channels) or task contains 'search' and current_tool == 'Grep'","do":"++"},{"id":"rest","when":"type == 'ToolResult'","do":"--"}]}`)
	pl := p.planner()
	p.grepped("s", 3, 1)
	p.take()
	p.plan(pl, 1)
	var ids []int
	for _, b := range p.timeline(1).Blocks {
		if b.Type == palace.ToolResult {
			ids = append(ids, *b.DisplayID)
		}
	}
	for _, c := range []struct {
		at   palace.AgentContext
		want int // that stay
	}{
		{palace.AgentContext{AgentID: 1, Channels: []string{"other"}}, 0},
		{palace.AgentContext{AgentID: 1, Channels: []string{"security"}}, 1},
		{palace.AgentContext{AgentID: 1, Channels: []string{"other"}, Task: "search for it", Tool: "Grep"}, 3},
		{palace.AgentContext{AgentID: 1, Channels: []string{"other"}, Task: "search for it", Tool: "Read"}, 0},
		{palace.AgentContext{AgentID: 1, Channels: []string{"other"}, Window: 1}, 2},
	} {
		d := got(p.Classify(t.Context(), p.v, ids, c.at))(t)
		want(t, fmt.Sprintf("%+v", c.at), len(d.Add), c.want)
		want(t, "all of them", len(d.Add)+len(d.Remove), 3)
	}
	_, err := p.Classify(t.Context(), p.v, ids, palace.AgentContext{AgentID: 77})
	wantFault(t, err, fault.NotFound)
}

// Requirements: CFG-11
func palaceRecorded(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.grepped("s", 3, 2)
	p.say(passed{session: "s", body: "no JSON", answer: "", header: http.Header{}})
	p.take()
	n := 0
	for r, err := range p.Recorded(t.Context(), p.v, 10) {
		need(t, err)
		n++
		blocks := []int{}
		for _, s := range r.Requests {
			blocks = append(blocks, s.Blocks)
			want(t, "tokens", fmt.Sprint(s.Input, s.Read, s.Write, s.Hour), "10 20 70 true")
		}
		want(t, "blocks of each request", fmt.Sprint(blocks), "[1 3 5 7 9]")
		want(t, "all", len(r.Blocks), 10)
		want(t, "of a result", r.Blocks[2].Use, "toolu_s0")
	}
	want(t, "histories", n, 1)
	for _, err := range p.RecordedOf(t.Context(), "", 1) {
		need(t, err)
		n++
	}
	want(t, "of everybody", n, 2)
}

func palacePolicyStranger(t *testing.T, open Open) {
	p := newSpooled(t, open)
	pl := p.planner()
	p.grepped("s", 2, 7)
	p.take()
	p.plan(pl, 1)
	seen := p.timeline(1)
	bob := person(t, p.store)
	for name, try := range map[string]func() error{
		"star": func() error { _, err := p.Star(t.Context(), bob, seen.Blocks[0].UUID, true); return err },
		"wish": func() error { _, err := p.Wish(t.Context(), bob, seen.Blocks[0].UUID, view.Show); return err },
		"plan": func() error { _, err := p.PalacePlan(t.Context(), bob, seen.Lineage.ID); return err },
		"ask":  func() error { return p.AskEpoch(t.Context(), bob, seen.Lineage.ID, true) },
	} {
		if err := try(); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Now = func() time.Time { return time.Now().Add(1000 * time.Hour) }
	due := got(p.DueBlocks(t.Context(), p.v, ""))(t)
	deleted, archived, err := p.Retire(t.Context(), bob, due.Delete, due.Archive)
	need(t, err)
	want(t, "put away by another", deleted+archived, 0)
	want(t, "another's", len(got(p.DueBlocks(t.Context(), bob, ""))(t).Delete)+len(got(p.PalaceAnnouncements(t.Context(), bob))(t))+len(got(p.PalaceTotals(t.Context(), bob))(t))+
		len(got(p.PalaceRecent(t.Context(), bob, 10))(t))+len(got(p.PalaceHolders(t.Context(), bob, seen.Blocks[0].UUID))(t)), 0)
}
