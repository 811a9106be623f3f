package builtin_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// longTalk is n pairs of messages of about size tokens each.
func longTalk(n, size int) memory {
	var m memory
	for i := range n {
		m = append(m,
			spoken(2*i+1, "user", fmt.Sprintf("Question %d about lease %d? ", i, i)+strings.Repeat("word ", size)),
			spoken(2*i+2, "assistant", fmt.Sprintf("Answer %d: the rent of lease %d is %d euros. ", i, i, 500+i)+strings.Repeat("word ", size)))
	}
	return m
}

func ask(t *testing.T, m *script, history memory, n *notebook, message string) map[string]any {
	t.Helper()
	return must(t, builtin.Parts{Model: m, History: history, Memories: n}, "llm.generic_chat_v1",
		&tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: len(history) + 1}, Inputs: inputs("message", message)})
}

// Requirements: CHAT-19, CHAT-20
func TestASummaryIsDueBeforeAnythingIsDropped(t *testing.T) {
	t.Parallel()
	m, n := says(text("ok")), &notebook{}
	if out := ask(t, m, longTalk(4, 20), n, "And now?"); out["summary_due"] != nil || out["earlier"] != nil {
		t.Errorf("a short conversation: %v", out)
	}
	history := longTalk(9, 150) // some 3,500 tokens: full, and all of it fits
	out := ask(t, m, history, n, "And now?")
	due, _ := out["summary_due"].(float64)
	if due < 2 || due >= 18 || int(due)%2 != 0 || out["earlier"] != nil || len(m.last.Messages) != 19 {
		t.Errorf("due up to %v, %d messages shown, told %v", due, len(m.last.Messages), out["earlier"])
	}
}

// Requirements: CHAT-06, CHAT-19
func TestASummaryIsToldInThePlaceOfWhatItCovers(t *testing.T) {
	t.Parallel()
	m, n := says(text("ok")), &notebook{}
	history := longTalk(9, 150)
	n.held = chat.Memory{Summary: "They compare leases.", UptoSeq: 10, Version: 1}
	out := ask(t, m, history, n, "And now?")
	if len(m.last.Messages) != 9 || !strings.HasPrefix(m.last.Messages[0].Content[0].Text, "Question 5") {
		t.Errorf("shown %d messages from %.12q", len(m.last.Messages), m.last.Messages[0].Content[0].Text)
	}
	if !strings.Contains(m.last.System, "Earlier in this conversation:\nThey compare leases.") || strings.Contains(m.last.System, "(truncated)") {
		t.Errorf("the system text is %q", m.last.System)
	}
	told, _ := out["earlier"].(string)
	if !strings.Contains(told, "They compare leases.") || out["summary_due"] != nil {
		t.Errorf("%v", out)
	}
	summary := spoken(11, "system", told)
	summary.Meta = map[string]any{"summary": true}
	known := append(slices.Clone(history[:10]), summary)
	for _, one := range history[10:] {
		one.Seq++
		known = append(known, one)
	}
	if out := ask(t, m, known, n, "And now?"); out["earlier"] != nil {
		t.Errorf("it is told again: %v", out["earlier"])
	}
}

// Requirements: CHAT-20
func TestWhereNoSummaryIsPossibleYetTheOldestAreDroppedWithANote(t *testing.T) {
	t.Parallel()
	m, n := says(text("ok")), &notebook{}
	out := ask(t, m, longTalk(9, 300), n, "And now?")
	if !strings.Contains(m.last.System, "(truncated)") || out["summary_due"] == nil {
		t.Errorf("%q %v", m.last.System, out)
	}
}

// Requirements: GRND-26 (sentence of the refusal)
func TestAMessageThereIsNoRoomForIsRefusedInALongConversation(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("word ", 5000)
	_, err := run(t, builtin.Parts{Model: says(text("ok")), History: longTalk(2, 10)}, "llm.generic_chat_v1",
		&tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 5}, Inputs: inputs("message", huge)})
	if !errors.Is(err, fault.Invalid) || fault.From(err).Message != "Conversation too long, start a new one." {
		t.Errorf("%v", err)
	}
	must(t, builtin.Parts{Model: says(text("ok")), History: memory{}}, "llm.generic_chat_v1",
		&tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 1}, Inputs: inputs("message", huge)})
}

// sized is a text of so many tokens, as they are estimated.
func sized(tokens int) string { return strings.Repeat("x", 4*(tokens-4)) }

// Requirements: GRND-26 (soft at 4000 tokens; refusal above 6000)
func TestOfALongConversationSoMuchIsShownAndNoMessageIsLonger(t *testing.T) {
	t.Parallel()
	pairs := func(last int) (m memory) {
		for i := range 20 {
			m = append(m, spoken(i+1, []string{"user", "assistant"}[i%2], sized(250)))
		}
		m[19].Content = sized(last)
		return m
	}
	for _, c := range []struct {
		last, message int // tokens of the last message of before, and of the new one
		shown         int // messages of before
	}{{250, 10, 16}, {251, 10, 14}, {250, 2000, 16}, {250, 2001, 14}, {250, 5000, 4}, {250, 6000, 0}} {
		m := says(text("ok"))
		ask(t, m, pairs(c.last), &notebook{}, sized(c.message))
		if got := len(m.last.Messages) - 1; got != c.shown || strings.Contains(m.last.System, "(truncated)") != (c.shown < 20) {
			t.Errorf("%+v: %d are shown, and it is told %q", c, got, m.last.System)
		}
	}
	_, err := run(t, builtin.Parts{Model: says(text("ok")), History: pairs(250)}, "llm.generic_chat_v1",
		&tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 21}, Inputs: inputs("message", sized(6001))})
	if !errors.Is(err, fault.Invalid) {
		t.Errorf("a message of 6001 tokens: %v", err)
	}
}

// Requirements: GRND-26 (output 2000)
func TestAStepAsksForNoMoreThanItsGraphAllows(t *testing.T) {
	t.Parallel()
	m := says(text("ok"))
	must(t, builtin.Parts{Model: m, History: memory{}, Catalog: fullCatalog(t)}, "llm.step_v1", &tool.Call{Inputs: inputs("message", "Q?", "max_tokens", 2000.0)})
	if m.last.MaxTokens != 2000 {
		t.Errorf("the model may write %d tokens", m.last.MaxTokens)
	}
}

// Requirements: CHAT-19
func TestAConversationIsSummarisedAndTheSummaryExtended(t *testing.T) {
	t.Parallel()
	history, n := longTalk(12, 30), &notebook{}
	m := says(text("They compare leases."))
	l := &log{}
	remember := func(p builtin.Parts, upto int) map[string]any {
		p.History, p.Memories = history, n
		return must(t, p, "memory.summarize_v1", &tool.Call{Final: true, Emit: l.emit, Inputs: inputs("conversation_id", "c", "upto_seq", float64(upto), "instructions", "Take notes.")})
	}
	asked := func() map[string]string {
		_, framed := model.Unframe(m.last.Messages[0].Content[0].Text)
		return framed
	}
	out := remember(builtin.Parts{Model: m}, 8)
	if told := asked()["conversation"]; m.last.Task != "memory" || strings.Contains(told, "lease 4") || !strings.Contains(told, "user: Question 3") {
		t.Errorf("task %q read %q", m.last.Task, told)
	}
	if n.held != (chat.Memory{Summary: "They compare leases.", UptoSeq: 8, Version: 1}) || out["upto_seq"] != 8.0 || strings.Contains(fmt.Sprint(out), "leases") {
		t.Errorf("remembered %+v, told %v", n.held, out)
	}
	remember(builtin.Parts{Model: m}, 16)
	if framed := asked(); framed["notes"] != "They compare leases." || strings.Contains(framed["conversation"], "lease 3") || n.held.UptoSeq != 16 {
		t.Errorf("went on from %v", framed)
	}
	m.last = model.Request{}
	if remember(builtin.Parts{Model: m}, 16); m.last.Task != "" {
		t.Error("what is covered was summarised again")
	}
	if remember(builtin.Parts{Model: extractive.Model{}}, 24); n.held.UptoSeq != 24 || !strings.Contains(n.held.Summary, "euros") || strings.Count(n.held.Summary, "\n") > 12 {
		t.Errorf("the keyless model remembers %+v", n.held)
	}
	if l.told(stream.Token) != "" {
		t.Error("the summary was shown as an answer")
	}
}

// Requirements: ART-09, CHAT-19
func TestWhatAPersonWritesWhileASummaryIsMadeStays(t *testing.T) {
	t.Parallel()
	n := &notebook{held: chat.Memory{Summary: "They compare leases.", UptoSeq: 2, Version: 1}}
	n.before = func() { n.held.Summary, n.held.Version = "They compare boats.", 2 }
	out := must(t, builtin.Parts{Model: says(text("They compare leases again.")), History: longTalk(12, 30), Memories: n}, "memory.summarize_v1",
		&tool.Call{Inputs: inputs("conversation_id", "c", "upto_seq", 8.0, "instructions", "Take notes.")})
	if n.held != (chat.Memory{Summary: "They compare boats.", UptoSeq: 2, Version: 2}) || out["upto_seq"] != 2.0 || out["usage"] == nil {
		t.Errorf("remembered %+v, told %v", n.held, out)
	}
}

// Any tool may say that a summary is due, and be wrong about it: what people
// say afterwards must not count as summarised.
//
// Requirements: CHAT-19
func TestASummaryCoversNoMoreThanWasSaid(t *testing.T) {
	t.Parallel()
	m, n := says(text("They compare leases.")), &notebook{}
	remember := func(upto float64) {
		must(t, builtin.Parts{Model: m, History: longTalk(4, 30), Memories: n}, "memory.summarize_v1",
			&tool.Call{Inputs: inputs("conversation_id", "c", "upto_seq", upto, "instructions", "Take notes.")})
	}
	if remember(1e9); n.held.UptoSeq != 8 {
		t.Errorf("it covers the messages up to %d of 8", n.held.UptoSeq)
	}
	m.last = model.Request{}
	if remember(1e9); n.held.UptoSeq != 8 || m.last.Task != "" {
		t.Errorf("nothing was said since, and it covers the messages up to %d", n.held.UptoSeq)
	}
}

// A person may write more than a turn has room for.
//
// Requirements: CHAT-20
func TestALongMemoryIsCutWhereItIsTold(t *testing.T) {
	t.Parallel()
	m, n := says(text("ok")), &notebook{held: chat.Memory{Summary: strings.Repeat("boat ", 20_000), UptoSeq: 10, Version: 2}}
	if ask(t, m, longTalk(9, 150), n, "And now?"); len(m.last.System) > 10_000 || !strings.Contains(m.last.System, "boat boat") {
		t.Errorf("the system text has %d bytes", len(m.last.System))
	}
	must(t, builtin.Parts{Model: m, History: longTalk(9, 150), Memories: n}, "memory.summarize_v1",
		&tool.Call{Inputs: inputs("conversation_id", "c", "upto_seq", 14.0, "instructions", "Take notes.")})
	if size := len(m.last.Messages[0].Content[0].Text); size > 20_000 {
		t.Errorf("the notes are read with %d bytes", size)
	}
}

// Requirements: CHAT-19
func TestAGraphThatAsksForFewMessagesGetsNoSummary(t *testing.T) {
	t.Parallel()
	m := says(text("ok"))
	out := must(t, builtin.Parts{Model: m, History: longTalk(9, 150), Memories: &notebook{}}, "llm.compose_v1",
		&tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 19}, Inputs: inputs("instructions", "Answer.", "message", "And now?", "history", 5.0)})
	if out["earlier"] != nil || out["summary_due"] != nil || len(m.last.Messages) != 5 || m.last.Messages[0].Role != "user" {
		t.Errorf("%d messages, %v", len(m.last.Messages), out)
	}
}

// What a model says when it declines, and what stands for an answer that is
// not shown, is no memory of anything.
//
// Requirements: CHAT-19
func TestARefusalIsNotRemembered(t *testing.T) {
	t.Parallel()
	declines := breaksOff(nil, text("I cannot help with that."), model.Event{Type: model.Stop, Reason: model.Refusal})
	for name, p := range map[string]builtin.Parts{"it declines": {Model: declines}, "it is not shown": {Model: says(text(recipe)), Safety: judge(t)}} {
		n := &notebook{held: chat.Memory{Summary: "They compare leases.", UptoSeq: 2, Version: 1}}
		was := n.held
		p.History, p.Memories = longTalk(12, 30), n
		_, err := run(t, p, "memory.summarize_v1", &tool.Call{Inputs: inputs("conversation_id", "c", "upto_seq", 8.0, "instructions", "Take notes.")})
		if !errors.Is(err, fault.Invalid) || n.held != was {
			t.Errorf("%s: %v, remembered %+v", name, err, n.held)
		}
	}
}

// The end of a long answer would be lost with the line it is cut to.
//
// Requirements: CHAT-07 (summary.highlights)
func TestALongAnswerIsRememberedByItsHighlights(t *testing.T) {
	t.Parallel()
	long := chat.Message{Seq: 2, Role: "assistant", Content: strings.Repeat("All is well. ", 300) + "The bridge closes on Friday."}
	long.Struct = chat.Compose(long.Content, nil, nil)
	said := func(summary *chat.Summary) string {
		long.Struct.Summary = summary
		m, n := says(text("They talk of a bridge.")), &notebook{}
		must(t, builtin.Parts{Model: m, History: memory{{Seq: 1, Role: "user", Content: "And?"}, long}, Memories: n}, "memory.summarize_v1",
			&tool.Call{Inputs: inputs("conversation_id", "c", "upto_seq", 2.0, "instructions", "Take notes.")})
		_, framed := model.Unframe(m.last.Messages[0].Content[0].Text)
		return framed["conversation"]
	}
	with := said(&chat.Summary{Highlights: "The bridge closes on Friday."})
	if !strings.Contains(with, "assistant: All is well.") || !strings.HasSuffix(with, "… The bridge closes on Friday.") || len(with) > 1600 {
		t.Errorf("it is read as %q", with)
	}
	if without := said(nil); strings.Contains(without, "bridge") || len(without) > 1600 {
		t.Errorf("without highlights it is read as %q", without)
	}
}
