package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"liminal/internal/chat"
	"liminal/internal/stream"
)

// messages is Anthropic's own client, with an access key of the person's.
func (p *person) messages() anthropic.Client {
	p.Helper()
	return anthropic.NewClient(option.WithBaseURL(p.url), option.WithAPIKey(p.by("program", "chat", "read").token), option.WithMaxRetries(0))
}

func userSays(text string) anthropic.MessageParam {
	return anthropic.NewUserMessage(anthropic.NewTextBlock(text))
}

func asksMessage(said ...anthropic.MessageParam) anthropic.MessageNewParams {
	return anthropic.MessageNewParams{Model: automatic, MaxTokens: 512, Messages: said}
}

// aboutMessage is what an answer says in x_liminal.
func aboutMessage(t *testing.T, m *anthropic.Message) (about CompletionOf) {
	t.Helper()
	var whole struct {
		About CompletionOf `json:"x_liminal"`
	}
	unjson(t, []byte(m.RawJSON()), &whole)
	return whole.About
}

func saidIn(m *anthropic.Message) string {
	var texts []string
	for _, b := range m.Content {
		texts = append(texts, b.Text)
	}
	return strings.Join(texts, "|")
}

// heardMessage is what the client makes of a stream.
func heardMessage(t *testing.T, c anthropic.Client, params anthropic.MessageNewParams) (anthropic.Message, error) {
	t.Helper()
	s := c.Messages.NewStreaming(t.Context(), params)
	var m anthropic.Message
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			t.Fatal(err)
		}
	}
	return m, s.Err()
}

// Anthropic's own client takes turns that go on where the last one ended, at once
// or as a stream, whose message is the stored one.
func TestAnthropicsClientTakesTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	c := ada.messages()
	params := asksMessage(userSays("Hi"))
	params.System = []anthropic.TextBlockParam{{Text: "Be brief."}}
	first, err := c.Messages.New(t.Context(), params)
	w.must(err)
	about := aboutMessage(t, first)
	if saidIn(first) != "Hi" || first.StopReason != anthropic.StopReasonEndTurn || first.ID != "msg_"+about.RunID || first.Model != automatic || about.Interrupt != nil {
		t.Fatalf("%s", first.RawJSON())
	}
	if fields := w.engine.turns[0].Fields; len(about.Ignored) > 0 || fields[inputSystem] != "Be brief." || fields[inputMost] != 512 {
		t.Errorf("ignored %v; the turn reads %v", about.Ignored, w.engine.turns[0].Fields)
	}
	params.Messages = append(params.Messages, first.ToParam(), userSays("And?"))
	second, err := heardMessage(t, c, params)
	w.must(err)
	if saidIn(&second) != "And?" || second.StopReason != anthropic.StopReasonEndTurn {
		t.Errorf("%+v", second)
	}
	if turn := w.engine.turns[1]; turn.ConversationID != about.ConversationID || turn.History != nil {
		t.Errorf("the next turn is %+v", turn)
	}
	params.Messages = append(params.Messages, second.ToParam(), userSays("More"))
	if third, err := c.Messages.New(t.Context(), params); err != nil || aboutMessage(t, third).ConversationID != about.ConversationID {
		t.Errorf("what was streamed is not found again: %v", err)
	}
	stored := ada.get("/v1/conversations/" + about.ConversationID + "/messages").ok()["data"].([]any)
	if last := stored[3].(map[string]any); last["content"] != saidIn(&second) {
		t.Errorf("stored is %v", last)
	}
	bob := w.signUp("bob@example.org").messages()
	if other, err := bob.Messages.New(t.Context(), params); err != nil || aboutMessage(t, other).ConversationID == about.ConversationID {
		t.Errorf("another person goes on there: %v", err)
	}
}

// A question is an answer's text, and the next message answers it, in the run that
// asks; one that does not read as an answer is a turn.
//
// Requirements: INT-33
func TestAMessageAsksAndIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	c := w.signUp("ada@example.org").messages()
	const question = "which\n1. One\n2. Two"
	asked, err := c.Messages.New(t.Context(), asksMessage(userSays("ask which")))
	w.must(err)
	about := aboutMessage(t, asked)
	if saidIn(asked) != question || about.Interrupt == nil {
		t.Fatalf("%s", asked.RawJSON())
	}
	got, err := c.Messages.New(t.Context(), asksMessage(userSays("ask which"), asked.ToParam(), userSays("2")))
	w.must(err)
	if after := aboutMessage(t, got); saidIn(got) != `You chose "two"` || after.RunID != about.RunID || after.Interrupt != nil {
		t.Errorf("%s", got.RawJSON())
	}
	streamed, err := heardMessage(t, c, asksMessage(userSays("ask that")))
	w.must(err)
	if saidIn(&streamed) != "that\n1. One\n2. Two" {
		t.Fatalf("%+v", streamed.Content)
	}
	other, err := c.Messages.New(t.Context(), asksMessage(userSays("ask that"), streamed.ToParam(), userSays("something else")))
	if err != nil || saidIn(other) != "something else" {
		t.Errorf("%v, %v", other, err)
	}
}

// Errors are those the client knows, in a stream too.
func TestAnthropicsClientIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	c := ada.messages()
	fails := func(name string, err error, status int, kind anthropic.ErrorType, says string) {
		t.Helper()
		var told *anthropic.Error
		if !errors.As(err, &told) || told.StatusCode != status || told.Type() != kind || !strings.Contains(told.RawJSON(), says) {
			t.Errorf("%s: %v", name, err)
		} else if status != http.StatusOK && told.RequestID == "" {
			t.Errorf("%s: it names no request", name)
		}
	}
	ask := func(c anthropic.Client, params anthropic.MessageNewParams) error {
		_, err := c.Messages.New(t.Context(), params)
		return err
	}
	hi := asksMessage(userSays("Hi"))
	stranger := anthropic.NewClient(option.WithBaseURL(w.url), option.WithAPIKey("sk-ant-nobody"), option.WithMaxRetries(0))
	fails("a stranger", ask(stranger, hi), 401, "authentication_error", "")
	reader := anthropic.NewClient(option.WithBaseURL(w.url), option.WithAPIKey(ada.by("reader", "write").token), option.WithMaxRetries(0))
	fails("a key of another scope", ask(reader, hi), 403, "permission_error", "")
	for name, says := range map[string]string{"gpt-9": "/v1/models", "claude-opus-9": "capture proxy"} {
		params := hi
		params.Model = name
		fails(name, ask(c, params), 404, "not_found_error", says)
	}
	_, err := c.Models.Get(t.Context(), "claude-opus-9", anthropic.ModelGetParams{})
	fails("a model", err, 404, "not_found_error", "")
	fails("a beginning of an answer", ask(c, asksMessage(userSays("Hi"), anthropic.NewAssistantMessage(anthropic.NewTextBlock("I")))), 400, "invalid_request_error", "user")
	fails("a picture", ask(c, asksMessage(anthropic.NewUserMessage(anthropic.NewImageBlockBase64("image/png", "AA==")))), 400, "invalid_request_error", "image")
	fails("nothing", ask(c, asksMessage()), 400, "invalid_request_error", "messages")
	fails("a failure", ask(c, asksMessage(userSays("fail"))), 500, "api_error", "The model is away.")
	_, err = heardMessage(t, c, asksMessage(userSays("fail")))
	if err == nil || !strings.Contains(err.Error(), "The model is away.") {
		t.Errorf("in a stream it is told as %v", err)
	}
	if kind := anthropicError(stream.RunError{Code: "server_error", Reason: "upstream"}); kind != "overloaded_error" {
		t.Errorf("a provider that is away: %s", kind)
	}
	if kind := anthropicError(stream.RunError{Code: "rate_limited"}); kind != "rate_limit_error" {
		t.Errorf("a rate: %s", kind)
	}
}

// Both clients read the list of models, and the count is of what is sent.
func TestAnthropicsClientListsModelsAndCounts(t *testing.T) {
	t.Parallel()
	c := newWorld(t).signUp("ada@example.org").messages()
	list, err := c.Models.List(t.Context(), anthropic.ModelListParams{})
	if err != nil || len(list.Data) != 1 || list.HasMore || list.FirstID != automatic || list.LastID != automatic {
		t.Fatalf("%+v, %v", list, err)
	}
	if m := list.Data[0]; m.ID != automatic || m.DisplayName != "Liminal" || m.Type != "model" || m.CreatedAt.IsZero() {
		t.Errorf("%+v", m)
	}
	count := func(text string) int64 {
		n, err := c.Messages.CountTokens(t.Context(), anthropic.MessageCountTokensParams{Model: automatic, Messages: []anthropic.MessageParam{userSays(text)}})
		if err != nil {
			t.Fatal(err)
		}
		return n.InputTokens
	}
	short, long := count("Hello"), count(strings.Repeat("Hello there, how are you? ", 100))
	if short < 1 || short > 20 || long < 400 || long > 1200 {
		t.Errorf("%d and %d tokens", short, long)
	}
}

// Citations stand with the last block, and what was said before a tool is a block
// of its own.
func TestAMessageCitesAndKeepsItsPartsApart(t *testing.T) {
	t.Parallel()
	e := &messageEncoder{id: "m", base: "https://here", ended: func(string) {}}
	cited, _ := json.Marshal([]chat.Citation{{N: 2, Text: "quoted", Record: &chat.SourceRecord{Title: "Frist", Href: "/r/matters/deadline/d1"}}})
	var m anthropic.Message
	for _, event := range []stream.Event{
		logLine(stream.Token, "I look."), logLine(stream.Reset, stream.ResetData{Reason: stream.ResetTools}), logLine(stream.ToolCall, stream.ToolCallData{ID: "t"}),
		logLine(stream.Token, "Am Montag [2]"),
		logLine(stream.MessageDone, stream.MessageDoneData{Content: "Am Montag [2].", Answer: stream.Answer{Citations: cited, Usage: json.RawMessage(`{"input_tokens":3,"output_tokens":5,"cache_read_tokens":2}`)}}),
	} {
		pieces, err := e.encode(event)
		if err != nil && !errors.Is(err, errOver) {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			var got anthropic.MessageStreamEventUnion
			_, data, _ := strings.Cut(string(piece), "data: ")
			unjson(t, []byte(data), &got)
			if err := m.Accumulate(got); err != nil {
				t.Fatal(err)
			}
		}
	}
	if saidIn(&m) != "I look.|Am Montag [2]." || m.Usage.OutputTokens != 5 || m.Usage.CacheReadInputTokens != 2 {
		t.Errorf("%+v", m)
	}
	if list := m.Content[1].Citations; len(list) != 1 || list[0].CitedText != "quoted" || list[0].Source != "https://here/r/matters/deadline/d1" || list[0].SearchResultIndex != 1 {
		t.Errorf("%+v", list)
	}
}
