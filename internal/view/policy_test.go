package view_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"liminal/internal/check"
	"liminal/internal/view"
)

// What a policy leaves out is as it ships; what is wrong is told with its place, all at
// once.
//
// Requirements: CFG-07 (schema), CFG-09
func TestAPolicyThatCannotBeFollowedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ doc, path, says string }{
		"no JSON":             {`{`, "", "no JSON"},
		"another kind":        {`{"kind":"policy.routing"}`, "/kind", "policy.routing"},
		"a member":            {`{"kind":"policy.palace","modes":"view"}`, "", `no member "modes"`},
		"a member within":     {`{"kind":"policy.palace","keep":{"turn":1}}`, "", `no member "turn"`},
		"a type":              {`{"kind":"policy.palace","keep":{"turns":"four"}}`, "/keep/turns", "string"},
		"two documents":       {`{"kind":"policy.palace"}{}`, "", "follows the document"},
		"a mode":              {`{"kind":"policy.palace","mode":"live"}`, "/mode", `no mode "live"`},
		"a tier":              {`{"kind":"policy.palace","retention":{"default":"SOON"}}`, "/retention/default", `"SOON"`},
		"a tier of a rule":    {`{"kind":"policy.palace","retention":{"rules":[{"match":{},"tier":"short"}]}}`, "/retention/rules/0/tier", `"short"`},
		"a type of block":     {`{"kind":"policy.palace","retention":{"rules":[{"match":{"block_type":"Result"},"tier":"SHORT"}]}}`, "/retention/rules/0/match/block_type", `"Result"`},
		"an age":              {`{"kind":"policy.palace","retention":{"rules":[{"match":{"age":"7 days"},"action":"delete"}]}}`, "/retention/rules/0/match/age", "no age"},
		"no age":              {`{"kind":"policy.palace","retention":{"rules":[{"match":{"tier":"SHORT"},"action":"delete"}]}}`, "/retention/rules/0", "at once"},
		"for ever":            {`{"kind":"policy.palace","retention":{"rules":[{"match":{"age":">9d","tier":"LONG"},"action":"delete"}]}}`, "/retention/rules/0", "for ever"},
		"an action":           {`{"kind":"policy.palace","retention":{"rules":[{"match":{"age":">7d"},"action":"erase"}]}}`, "/retention/rules/0/action", `"erase"`},
		"neither":             {`{"kind":"policy.palace","retention":{"rules":[{"match":{}}]}}`, "/retention/rules/0", "neither"},
		"both":                {`{"kind":"policy.palace","retention":{"rules":[{"match":{"age":">7d"},"tier":"LONG","action":"delete"}]}}`, "/retention/rules/0", "not both"},
		"an expression":       {`{"kind":"policy.palace","rules":[{"id":"x","when":"tool = 'Read'","do":"--"}]}`, "/rules/0/when", "at character"},
		"a field":             {`{"kind":"policy.palace","rules":[{"id":"x","when":"tols == 'Read'","do":"--"}]}`, "/rules/0/when", "a block has no tols"},
		"code":                {`{"kind":"policy.palace","rules":[{"id":"x","when":"exec('rm')","do":"--"}]}`, "/rules/0/when", "not part of conditions"},
		"what to do":          {`{"kind":"policy.palace","rules":[{"id":"x","when":"error","do":"drop"}]}`, "/rules/0/do", `"drop"`},
		"one name twice":      {`{"kind":"policy.palace","rules":[{"id":"x","when":"error","do":"--"},{"id":"x","when":"error","do":"--"}]}`, "/rules/1/id", "two rules"},
		"a channel":           {`{"kind":"policy.palace","channels":[{"channel":"Top Secret","when":"error"}]}`, "/channels/0/channel", "no name"},
		"a channel's when":    {`{"kind":"policy.palace","channels":[{"channel":"a","when":"path startsWith"}]}`, "/channels/0/when", "at character"},
		"a losing margin":     {`{"kind":"policy.palace","epoch":{"margin":-1}}`, "/epoch/margin", "loses"},
		"a share":             {`{"kind":"policy.palace","epoch":{"context":70}}`, "/epoch/context", "70"},
		"a cap":               {`{"kind":"policy.palace","birth":{"cap_bytes":10}}`, "/birth/cap_bytes", "10 bytes"},
		"nobody classifies":   {`{"kind":"policy.palace","classifier":{"by":"magic"}}`, "/classifier/by", `"magic"`},
		"a window of nothing": {`{"kind":"policy.palace","classifier":{"window":0}}`, "/classifier/window", "between 1"},
	} {
		_, err := view.Parse([]byte(c.doc))
		faults, ok := errors.AsType[check.Faults](err)
		if !ok || faults[0].Path != c.path || !strings.Contains(faults[0].Message, c.says) {
			t.Errorf("%s: %v, want a fault at %q that says %q", name, err, c.path, c.says)
		}
	}
	_, err := view.Parse([]byte(`{"kind":"policy.palace","mode":"x","keep":{"turns":-1},"classifier":{"by":"x"}}`))
	if faults, _ := errors.AsType[check.Faults](err); len(faults) != 3 {
		t.Errorf("three faults are %v", err)
	}
}

func TestAPolicyLeavesOutWhatShallBeAsItShips(t *testing.T) {
	t.Parallel()
	p, err := view.Parse([]byte(`{"kind":"policy.palace","rules":[{"id":"only","when":"error","do":"--"}],"keep":{"turns":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	d := view.Default()
	if len(p.Rules) != 1 || p.Rules[0].ID != "only" || p.Keep.Turns != 1 || !reflect.DeepEqual(p.Keep.Tools, d.Keep.Tools) || p.Mode != view.Shadow || !reflect.DeepEqual(p.Retention, d.Retention) {
		t.Errorf("the policy is %+v", p)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := view.Parse(raw)
	if err != nil || !reflect.DeepEqual(again.Retention, d.Retention) || !reflect.DeepEqual(again.Rules, d.Rules) || again.Epoch != d.Epoch || again.Classifier != d.Classifier {
		t.Errorf("the default reads itself as %+v, %v", again, err)
	}
}

// The specification's five rules, to the letter.
//
// Requirements: PAL-17, PAL-18 (the default and results)
func TestTheDefaultHasTheRulesOfTheSpecification(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(view.Default().Retention)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"default":"MEDIUM","rules":[{"match":{"block_type":"ToolResult"},"tier":"SHORT"},{"match":{"channels":["architecture","design"]},"tier":"LONG"},` +
		`{"match":{"user_starred":true},"tier":"LONG"},{"match":{"age":"\u003e7d","tier":"SHORT"},"action":"delete"},{"match":{"age":"\u003e30d","tier":"MEDIUM"},"action":"archive"}]}`
	if string(raw) != want {
		t.Errorf("retention is\n%s\nwant\n%s", raw, want)
	}
}

// Of the rules that match the longest tier holds, and only what is past its time is put
// away.
//
// Requirements: PAL-17, PAL-18 (channels and stars; deleted and archived by age)
func TestTiersAndWhatIsDue(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	p := view.Default()
	for name, c := range map[string]struct {
		block view.Block
		tier  view.Tier
		age   time.Duration
		due   view.Action
	}{
		"a message":                {view.Block{Type: "User"}, view.Medium, 29 * day, ""},
		"an old message":           {view.Block{Type: "User"}, view.Medium, 31 * day, view.Archive},
		"a result":                 {view.Block{Type: "ToolResult"}, view.Short, 7 * day, ""},
		"an old result":            {view.Block{Type: "ToolResult"}, view.Short, 7*day + time.Second, view.Delete},
		"a result about a design":  {view.Block{Type: "ToolResult", Channels: []string{"x", "design"}}, view.Long, 1000 * day, ""},
		"a message on the ground":  {view.Block{Type: "User", Channels: []string{"architecture"}}, view.Long, 1000 * day, ""},
		"a starred result":         {view.Block{Type: "ToolResult", Starred: true}, view.Long, 1000 * day, ""},
		"a result of a channel":    {view.Block{Type: "ToolResult", Channels: []string{"security"}}, view.Short, 8 * day, view.Delete},
		"a message of that length": {view.Block{Type: "Assistant"}, view.Medium, 8 * day, ""},
	} {
		b := c.block
		if b.Tier = p.TierOf(&b); b.Tier != c.tier {
			t.Errorf("%s is %s, want %s", name, b.Tier, c.tier)
		}
		if due := p.Due(&b, c.age); due != c.due {
			t.Errorf("%s after %v is due for %q, want %q", name, c.age, due, c.due)
		}
	}
	// What a person keeps is kept, whatever its tier.
	if due := p.Due(&view.Block{Type: "ToolResult", Tier: view.Short, Starred: true}, 100*day); due != "" {
		t.Errorf("a starred block is due for %q", due)
	}
	if least := p.LeastAge(); least != 7*day {
		t.Errorf("nothing is looked at before %v", least)
	}
}
