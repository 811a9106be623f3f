package storetest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/palace"
	"liminal/internal/view"
)

// marked is a request whose system prompt is long, and whose cache breaks at its end
// and at that of the last message.
func marked(model, system string, messages ...string) string {
	last := len(messages) - 1
	messages = append(append([]string{}, messages[:last]...), strings.Replace(messages[last], `"content":`, `"content":[{"type":"text","cache_control":{"type":"ephemeral"},"text":`, 1))
	messages[last] = strings.TrimSuffix(messages[last], "}") + "}]}"
	return fmt.Sprintf(`{"model":%q,"system":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}],"messages":[%s],"max_tokens":100}`, model, system, strings.Join(messages, ","))
}

// charged is an answer with what it cost; cut: it ends after its first event.
func charged(model string, u palace.Usage, reason string, cut bool) string {
	diagnostics := "null"
	if reason != "" {
		diagnostics = fmt.Sprintf(`{"cache_miss_reason":{"type":%q}}`, reason)
	}
	out := fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":%q,\"diagnostics\":%s,\"usage\":{\"input_tokens\":%d,\"cache_read_input_tokens\":%d,\"cache_creation_input_tokens\":%d,\"cache_creation\":{\"ephemeral_5m_input_tokens\":%d,\"ephemeral_1h_input_tokens\":%d},\"output_tokens\":1}}}\n\n",
		model, diagnostics, u.Input, u.Read, u.Write5m+u.Write1h, u.Write5m, u.Write1h)
	if cut {
		return out
	}
	return out + fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":%d}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", u.Output)
}

// priced is a list of prices that knows one model.
func priced(model string, u palace.Usage) *float64 {
	if model != "claude-opus-5-5" {
		return nil
	}
	usd := (4*float64(u.Input) + .2*float64(u.Read) + 5*float64(u.Write5m) + 8*float64(u.Write1h) + 20*float64(u.Output)) / 1e6
	return &usd
}

func palaceCosts(t *testing.T, open Open) {
	const model = "claude-opus-5-5"
	p := newSpooled(t, open)
	p.price = priced
	system, hi, began := strings.Repeat("be kind ", 2000), assistant(`{"type":"text","text":"hi"}`), time.Now()
	var ids []string
	say := func(after time.Duration, model, system string, u palace.Usage, reason string, messages ...string) {
		p.t.Helper()
		ids = append(ids, p.say(passed{session: "s", at: began.Add(after), body: marked(model, system, messages...), answer: charged(model, u, reason, false)}))
	}
	say(0, model, system, palace.Usage{Input: 3, Write5m: 5000, Output: 100}, "", user("one"))
	say(time.Minute, model, system, palace.Usage{Input: 3, Read: 5000, Write5m: 200, Output: 10}, "", user("one"), hi, user("two"))
	p.take()
	// Another process takes the rest in, and knows what the one before did.
	say(2*time.Minute, model, system, palace.Usage{Input: 3, Write5m: 5300, Output: 10}, "previous_message_not_found", user("one"), hi, user("two"), hi, user("three"))
	say(9*time.Minute, model, system, palace.Usage{Input: 3, Write5m: 5400, Output: 10}, "", user("one"), hi, user("two"), hi, user("three"), hi, user("four"))
	p.take()
	cut := p.say(passed{session: "other", at: began.Add(11 * time.Minute), body: marked(model, "short", user("x")), answer: charged(model, palace.Usage{Input: 70}, "", true), header: http.Header{"Anthropic-Beta": {"oauth-2025-04-20"}}, cut: true})
	say(10*time.Minute, "claude-unknown", system, palace.Usage{Input: 3, Write5m: 5500, Output: 10}, "", user("one"), hi, user("two"), hi, user("three"), hi, user("four"), hi, user("five"))
	p.take()

	list, _, err := p.PalaceExchanges(t.Context(), p.v, palace.ExchangeFilter{}, "", 10)
	need(t, err)
	by := map[string]palace.Exchange{}
	for _, e := range list {
		by[e.ID] = e
	}
	want(t, "usd of the first", *by[ids[0]].USD, (3*4+5000*5+100*20)/1e6)
	if e := by[ids[0]]; e.PredictedRead != nil || e.Miss != nil {
		t.Errorf("the first request was foretold: %+v", e.Charge)
	}
	if e := by[ids[1]]; e.PredictedRead == nil || *e.PredictedRead != 5000 || e.Miss != nil {
		t.Errorf("the second is %+v", e.Charge)
	}
	for i, miss := range map[int]palace.Miss{
		2: {Cause: view.UpstreamMissed, Where: "identical and warm", Reason: "previous_message_not_found", Tokens: 5200},
		3: {Cause: view.Idle, Where: "7m since the request before, kept for 5m", Tokens: 5300},
		4: {Cause: view.ModelChanged, Where: "claude-unknown, before that claude-opus-5-5", Tokens: 5400},
	} {
		e := by[ids[i]]
		if e.Miss == nil {
			t.Errorf("request %d is no miss", i)
			continue
		}
		usd := e.Miss.USD
		e.Miss.USD = nil
		want(t, fmt.Sprint("miss of ", i), *e.Miss, miss)
		if i < 4 && (usd == nil || *usd < float64(miss.Tokens)*4.7e-6 || *usd > float64(miss.Tokens)*4.9e-6) {
			t.Errorf("the miss of %d tokens cost %v", miss.Tokens, usd)
		}
	}
	if e := by[ids[4]]; e.USD != nil {
		t.Errorf("a model without a price cost %v", *e.USD)
	}
	if e := by[cut]; e.USD == nil || !e.ListPrice || e.Complete {
		t.Errorf("an answer that was cut is %+v", e.Charge)
	}

	agents := got(p.PalaceAgents(t.Context(), p.v))(t)
	want(t, "agents", len(agents), 2)
	main := agents[1]
	want(t, "unpriced", main.Unpriced, 1)
	want(t, "context", main.Context, int64(5513))
	want(t, "context of its lineage", got(p.PalaceLineages(t.Context(), p.v, main.ID))(t)[0].Context, int64(5513))
	// Sums over days, and the list of what missed.
	c := got(p.PalaceCosts(t.Context(), p.v, palace.CostFilter{Since: began.Add(-time.Hour)}))(t)
	want(t, "exchanges", fmt.Sprint(c.Exchanges, c.Unpriced, c.Read, c.Write5m, c.Output, c.ListPrice), "6 1 5000 21400 141 true")
	sum := *main.USD + *agents[0].USD
	if c.USD == nil || *c.USD < sum-1e-9 || *c.USD > sum+1e-9 {
		t.Errorf("all cost %v, the agents %v", c.USD, sum)
	}
	causes := ""
	for _, m := range c.Misses {
		causes += fmt.Sprint(m.Cause, " ", m.Count, " ")
	}
	want(t, "causes", causes, "model 1 idle 1 upstream 1 ")
	if c.Ruler.Exchanges < 3 {
		t.Errorf("the ruler is %+v", c.Ruler)
	}
	want(t, "of another day", got(p.PalaceCosts(t.Context(), p.v, palace.CostFilter{Since: time.Now().AddDate(0, 0, 2)}))(t).Exchanges, 0)
	misses, next, err := p.PalaceMisses(t.Context(), p.v, palace.CostFilter{AgentID: main.ID}, "", 2)
	need(t, err)
	more, end, err := p.PalaceMisses(t.Context(), p.v, palace.CostFilter{}, next, 2)
	need(t, err)
	if len(misses) != 2 || misses[0].ExchangeID != ids[4] || len(more) != 1 || more[0].ExchangeID != ids[2] || end != "" || more[0].LineageID == "" {
		t.Errorf("misses are %+v and %+v", misses, more)
	}
	_, _, err = p.PalaceMisses(t.Context(), p.v, palace.CostFilter{}, "no cursor", 2)
	wantFault(t, err, fault.Invalid)
	// In a view less was sent: what the client's own would have cost is foretold.
	long := strings.Repeat("what a file says ", 500)
	said := []string{user("look"), assistant(`{"type":"tool_use","id":"t1","name":"Read","input":{}}`), `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + long + `"}]}`, hi, user("go on")}
	inView := marked(model, system, said...)
	at := strings.Index(inView, `"`+long)
	p.say(passed{session: "v", at: began.Add(20 * time.Minute), body: marked(model, system, said[:1]...), answer: charged(model, palace.Usage{Input: 3, Write5m: 5000, Output: 10}, "", false)})
	p.say(passed{session: "v", at: began.Add(21 * time.Minute), body: inView, answer: charged(model, palace.Usage{Input: 3, Read: 5000, Write5m: 100, Output: 10}, "", false),
		sent: &capture.Sent{Epoch: 1, Opens: true, Client: "session:v", Why: capture.SentView, Edits: []view.Edit{{From: at, To: at + len(long) + 2, Text: `"[palace: set aside]"`}}}})
	p.take()
	of := palace.CostFilter{Since: began.Add(-time.Hour)}
	s := got(p.PalaceCosts(t.Context(), p.v, of))(t).Saved
	if s.Exchanges != 1 || s.Paid == nil || s.Raw == nil || *s.Raw <= *s.Paid {
		t.Errorf("saved: %+v", s)
	}
	of.AgentID = main.ID
	want(t, "saved by an agent without views", got(p.PalaceCosts(t.Context(), p.v, of))(t).Saved.Exchanges, 0)

	bob := person(t, p.store)
	want(t, "another's saving", got(p.PalaceCosts(t.Context(), bob, palace.CostFilter{}))(t).Saved.Exchanges, 0)
	want(t, "another's costs", got(p.PalaceCosts(t.Context(), bob, palace.CostFilter{AgentID: main.ID}))(t).Exchanges, 0)
	theirs, _, err := p.PalaceMisses(t.Context(), bob, palace.CostFilter{}, "", 10)
	need(t, err)
	want(t, "another's misses", len(theirs), 0)
}
