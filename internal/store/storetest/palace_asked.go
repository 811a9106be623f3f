package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/palace"
)

// palaceSeed asks what 003 says, as it says.
func palaceSeed(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.say(passed{session: "s", body: request(user("hello")), answer: toolAnswer()})
	use2 := strings.ReplaceAll(useEcho, "toolu_1", "toolu_2")
	p.say(passed{session: "s", body: request(user("hello"), assistant(rethink, `{"type":"text","text":"I will run a command."}`, useEcho, use2),
		strings.Replace(result, `]}]}`, `]},{"type":"tool_result","tool_use_id":"toolu_2","content":"package a"}]}`, 1)), answer: events(textBlock("done"))})
	p.take()
	server := httptest.NewServer(p.Handler(func(context.Context) (identity.Viewer, error) { return p.v, nil }))
	t.Cleanup(server.Close)
	ask := func(method, path, body string) (status int, raw string) {
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		need(t, err)
		resp, err := http.DefaultClient.Do(req)
		need(t, err)
		defer resp.Body.Close()
		b := got(io.ReadAll(resp.Body))(t)
		return resp.StatusCode, string(b)
	}
	well := func(method, path, body string) (doc map[string]any) {
		t.Helper()
		status, raw := ask(method, path, body)
		if err := json.Unmarshal([]byte(raw), &doc); err != nil || status != http.StatusOK {
			t.Fatalf("%s %s: %d %s", method, path, status, raw)
		}
		return doc
	}
	// System prompt and tools have the first two display ids.
	active := well("GET", "/context/active?agent_id=1", "")["blocks"].([]any)
	want(t, "active blocks", len(active), 10)
	for i, b := range active {
		block := b.(map[string]any)
		for _, field := range []string{"display_id", "uuid", "created_at", "block_type", "channels", "retention_tier", "active", "deleted_at", "content"} {
			if _, ok := block[field]; !ok {
				t.Errorf("block %d has no %s", i, field)
			}
		}
	}
	want(t, "of a scope and a tool", len(well("GET", "/context/active?agent_id=1&scope=tool:Read&tool=Read", "")["blocks"].([]any)), 2)
	want(t, "of scopes", len(well("GET", "/context/active?agent_id=1&scope=global&scope=project:liminal", "")["blocks"].([]any)), 3)
	want(t, "of a channel", len(well("GET", "/context/active?agent_id=1&channel=security", "")["blocks"].([]any)), 0)
	want(t, "timeline", fmt.Sprint(well("GET", "/timeline/1", "")["blocks"]), "[2 3 4 5 6 7 8 9]")
	want(t, "classified", fmt.Sprint(well("POST", "/context/classify", `{"blocks":[2,5,7,8],"agent_context":{"agent_id":1}}`)), "map[add:[2 5 8] remove:[7]]")
	want(t, "retention", fmt.Sprint(well("POST", "/context/retention", `{"block_ids":[7,8],"tier":"LONG"}`)["tier"]), "LONG")
	block := well("GET", "/blocks/7", "")
	want(t, "tier", fmt.Sprint(block["retention_tier"], " ", block["tier_by"]), "LONG person")
	want(t, "by uuid", well("GET", "/blocks/by-uuid/"+block["uuid"].(string), "")["label"], any("package a"))
	answer := well("GET", "/blocks/5", "")
	want(t, "assembled", fmt.Sprint(answer["content"].(map[string]any)["input"]), "map[path:a.go]")
	if _, raw := ask("GET", "/blocks/by-uuid/"+answer["uuid"].(string)+"?format=sse", ""); raw == "" || !strings.Contains(toolAnswer(), raw) {
		t.Errorf("the events of a block are %q", raw)
	}
	stats := well("GET", "/stats", "")
	want(t, "classifications", stats["classifier_latency"].(map[string]any)["calls"], any(1.0))
	want(t, "counted", fmt.Sprint(stats["blocks"], stats["agents"], stats["exchanges"]), "10 1 2")
	for path, code := range map[string]int{
		"GET /blocks/77": 404, "GET /blocks/x": 400, "GET /blocks/by-uuid/x": 400, "GET /timeline/9": 404, "GET /context/active": 400, "GET /nothing": 404, "GET /blocks/2?format=sse": 400, "GET /blocks/2?format=xml": 400,
		`POST /context/retention {"block_ids":[7],"tier":"EVER"}`: 400, `POST /context/retention {`: 400, `POST /context/classify {"blocks":[]}`: 400, `POST /context/classify {"blocks":[777]}`: 404,
	} {
		method, rest, _ := strings.Cut(path, " ")
		where, body, _ := strings.Cut(rest, " ")
		if status, raw := ask(method, where, body); status != code || !strings.Contains(raw, `"message"`) {
			t.Errorf("%s: %d %s", path, status, raw)
		}
	}
}

func palaceStranger(t *testing.T, open Open) {
	p := newSpooled(t, open)
	exchange := p.say(passed{session: "s", body: request(user("secret")), answer: events(textBlock("hi"))})
	p.take()
	view := p.timeline(1)
	bob := person(t, p.store)
	for name, try := range map[string]func() error{
		"exchange": func() error { _, err := p.PalaceExchange(t.Context(), bob, exchange); return err },
		"request":  func() error { _, _, err := p.Request(t.Context(), bob, exchange); return err },
		"block":    func() error { _, err := p.PalaceBlock(t.Context(), bob, view.Blocks[0].UUID); return err },
		"display":  func() error { _, err := p.PalaceBlockNumbered(t.Context(), bob, *view.Blocks[0].DisplayID); return err },
		"agent":    func() error { _, err := p.Timeline(t.Context(), bob, 1); return err },
		"lineage":  func() error { _, err := p.PalaceLineage(t.Context(), bob, view.Lineage.ID); return err },
		"tier":     func() error { return p.SetPalaceTier(t.Context(), bob, []string{view.Blocks[0].UUID}, palace.Long) },
		"drop":     func() error { return p.store.DropBlocks(t.Context(), bob, []string{view.Blocks[0].UUID}) },
	} {
		if err := try(); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	f := got(p.PalaceFigures(t.Context(), bob))(t)
	want(t, "another's figures", f.Blocks+f.Exchanges+f.Agents+int(f.Bytes), 0)
	want(t, "another's blocks", len(got(p.PalaceTimeline(t.Context(), bob, view.Lineage.ID))(t))+len(got(p.PalaceShared(t.Context(), bob))(t)), 0)
	want(t, "where another's blocks stand", len(got(p.PalaceAppearances(t.Context(), bob, view.Blocks[0].UUID))(t))+len(got(p.PalaceAgents(t.Context(), bob))(t)), 0)
	want(t, "another's lineages", len(got(p.PalaceLineages(t.Context(), bob, view.Agent.ID))(t)), 0)
}

func palaceBeside(t *testing.T, open Open) {
	p := newSpooled(t, open)
	p.say(passed{session: "s", body: request(user("hello")), answer: events(textBlock("hi"))})
	p.say(passed{session: "s", body: `{"model":"m","messages":[` + user("hello") + `],"tools":[],"output_config":{"format":{"type":"json_schema"}}}`, answer: events(textBlock("A title"))})
	p.say(passed{session: "s", body: `{"model":"m","messages":[` + user("find") + `],"tools":[{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"tool","name":"web_search"}}`, answer: ""})
	p.say(passed{session: "s", body: "no JSON", answer: ""})
	p.take()
	kinds := ""
	list, _, err := p.PalaceExchanges(t.Context(), p.v, palace.ExchangeFilter{}, "", 10)
	need(t, err)
	for _, e := range list {
		kinds += string(e.Kind) + " "
		_, body, err := p.Request(t.Context(), p.v, e.ID)
		need(t, err)
		want(t, "size", int64(len(body)), e.Asked.Size)
	}
	want(t, "kinds", kinds, "other search title main ")
	want(t, "blocks", len(p.timeline(1).Blocks), 2)
	want(t, "figures", got(p.PalaceFigures(t.Context(), p.v))(t).Blocks, 4)
}
