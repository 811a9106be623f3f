package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/graph"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// The protocols of other products over the same turns and the same log. A model is
// a workflow. Clients of some keep the conversation themselves and send all of it
// each time: what they send is found again by its digest, so that a turn goes on
// where the one before it ended, and may answer what it asked. Answers and errors
// have a protocol's own shape, without the envelope.

// dialect puts the log of a run into the words of a protocol that can also give the
// answer at once.
type dialect interface {
	encoder
	// whole is the answer by the run's last event, which is that of no failure.
	whole(stream.Event) (any, error)
}

// errorShape is how a request's errors are told; nil: as the envelope's.
func errorShape(r *http.Request) func(*Failure) any {
	path := r.URL.Path
	switch {
	case speaksAnthropic(r):
		return func(f *Failure) any { return f.asAnthropic() }
	case speaksOpenAI(path):
		return func(f *Failure) any { return f.asOpenAI() }
	case strings.HasPrefix(path, langgraphPath+"/"):
		return (*Failure).asLangGraph
	case strings.HasPrefix(path, aguiPath+"/"):
		return (*Failure).asAGUI
	case path == mcpPath:
		return (*Failure).asMCP
	case strings.HasPrefix(path, oauthPath), strings.HasPrefix(path, wellKnownPath):
		return (*Failure).asOAuth
	}
	return nil
}

// failsAs declares the shape of an operation's errors, where it is not the
// envelope's.
func (s *server) failsAs(op huma.Operation, schema *huma.Schema) {
	for code, r := range s.operation(op).Responses {
		if code >= "400" {
			r.Content = map[string]*huma.MediaType{"application/json": {Schema: schema}}
		}
	}
}

// conversationHeader names the conversation to go on with, instead of the
// messages before the last.
const conversationHeader = "X-Liminal-Conversation"

// CallerMetadata is what is read of a request's metadata.
type CallerMetadata struct {
	_            struct{} `additionalProperties:"true"`
	Conversation *string  `json:"conversation_id,omitempty" nullable:"true" doc:"a conversation of mine to go on with, or the caller's own name for one, which tells apart those in which the same was said"`
}

// CallerHints are how a client names the conversation beside its messages.
type CallerHints struct {
	Conversation string `header:"X-Liminal-Conversation" doc:"a conversation of mine to go on with; missing: the one whose messages these are"`
	Chat         string `header:"X-OpenWebUI-Chat-Id" doc:"the client's own name for the conversation, which tells apart those in which the same was said"`
}

// automatic is the model that is no workflow by name: the one a turn without
// one takes.
const automatic = "liminal"

// kept is a conversation as its client keeps it.
type kept struct {
	model        string       // the workflow, as the client names it
	key          string       // Idempotency-Key; empty: none
	conversation string       // of ours, to go on with; empty: the one in which this was said
	named        string       // what the client calls it, or its id; empty: nothing
	system       string       // of all system messages
	before       []chat.Said  // what was said before the last message
	last         string       // what the person says now
	results      []callResult // what came of the caller's tools, instead of a message

	tools  []any           // that the caller brings and the workflow takes
	most   int             // tokens of an answer; 0: as many as it likes
	format json.RawMessage // a JSON Schema that an answer is to fit; nil: none

	unkept   bool           // nothing of it is to be kept
	approval *approval      // a yes or no, instead of a message
	notes    *responseNotes // of the request, as its answer has it again; nil: none
}

// The inputs of a graph that come of a client's request. A workflow reads what it
// likes of them.
const (
	inputSystem = "caller_system"
	inputMost   = "most_tokens"
	inputFormat = "response_schema"
)

// found reads how a client names the conversation. What it says in the request itself
// is meant for here; a header may be of a proxy's that is set up once for all.
func (k *kept) found(h CallerHints, m *CallerMetadata) {
	k.conversation, k.named = h.Conversation, h.Chat
	if m != nil && value(m.Conversation) != "" {
		k.named = *m.Conversation
	}
}

// fields are the inputs of the run beside the message; nil: none.
func (k kept) fields() map[string]any {
	fields := map[string]any{}
	if k.system != "" {
		fields[inputSystem] = k.system
	}
	if len(k.tools) > 0 {
		fields[graph.CallerInput] = k.tools
	}
	if k.most > 0 {
		fields[inputMost] = k.most
	}
	if len(k.format) > 0 {
		fields[inputFormat] = k.format
	}
	if k.notes != nil {
		fields[inputNotes] = k.notes
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// readsInput reports whether a workflow reads one of those. The one that is chosen by
// itself is asked without knowing which it will be.
func readsInput(of artifacts.Artifact, name string) bool {
	return of.ID == "" || bytes.Contains(of.Schema, []byte("input."+name))
}

// fits refuses a format for answers that the workflow does not read.
func (k kept) fits(of artifacts.Artifact, field string) error {
	if len(k.format) == 0 || of.ID != "" && readsInput(of, inputFormat) {
		return nil
	}
	return fault.New(fault.Invalid, "What an answer of %s looks like is the workflow's; leave %s out, or name a workflow that reads ${input.%s}.", k.model, field, inputFormat).
		With([]Problem{{field, "is not possible here"}})
}

// digest names what a person and a model have said so far. Where the client has a
// name for the conversation, its person's words are enough: clients with names are
// those that show answers and keep them otherwise than they were told them, and write
// the time of day into what the system says. The name alone is not: the same client
// asks for a title under it, in words of its own.
func (k kept) digest(v identity.Viewer, said ...chat.Said) string {
	of := []any{v.UserID, k.model, k.system, said}
	if k.named != "" {
		var asked []string
		for _, m := range said {
			if m.Role == "user" {
				asked = append(asked, m.Content)
			}
		}
		of = []any{v.UserID, k.model, []string{k.named}, asked}
	}
	raw, _ := json.Marshal(of) // of strings
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// after is the digest that the next request is found by, when this one was
// answered so.
func (k kept) after(v identity.Viewer, answer string) string {
	said := slices.Clone(k.before)
	if text := strings.TrimSpace(k.last); text != "" {
		said = append(said, chat.Said{Role: "user", Content: text})
	}
	if text := strings.TrimSpace(answer); text != "" {
		said = append(said, chat.Said{Role: "assistant", Content: text})
	}
	return k.digest(v, said...)
}

// modelNamed is the workflow that a model is; a zero one is the automatic one.
func (s *server) modelNamed(ctx context.Context, name string) (artifacts.Artifact, error) {
	if name == automatic {
		return artifacts.Artifact{}, nil
	}
	a, err := s.Artifacts.Workflow(ctx, viewerOf(ctx), name)
	if errors.Is(err, fault.NotFound) {
		what := "There is no model %q here. %s lists those there are."
		if strings.HasPrefix(name, "claude-") {
			what = "%q is a model of Anthropic's; the models here are workflows, which %s lists. Calls of Anthropic's own models go through the capture proxy (liminald palace), which has a port of its own."
		}
		return a, fault.New(fault.NotFound, what, name, modelsPath).With(map[string]any{"reason": "model_not_found"})
	}
	return a, err
}

// goesOn hears all that was said to what a client sent, and has the next request
// that sends both go on there.
func (s *server) goesOn(ctx context.Context, k kept, begun begunSession) func(answer string) {
	v := viewerOf(ctx)
	return func(answer string) {
		if err := s.Continuations.Continues(context.WithoutCancel(ctx), v, k.after(v, answer), begun.SessionID); err != nil {
			s.Logger.WarnContext(ctx, "a conversation of a client will not be found again", "error", err, "run_id", begun.RunID)
		}
	}
}

// answered tells what came of a run after one of its events: at once, or as a
// stream. That its reader closes stops the run.
func (s *server) answered(ctx context.Context, v identity.Viewer, r run.Run, after int64, streamed bool, words dialect) (write func(http.ResponseWriter, *http.Request), err error) {
	if streamed {
		write, err = s.streaming(ctx, v, r, after, words)
	} else {
		var whole any
		if whole, err = s.completed(ctx, v, r, after, words); err == nil {
			write = unwrapped(whole)
		}
	}
	return s.closing(ctx, v, r, write), err
}

// sayKept says the last message where the ones before it were said, or in a new
// conversation that is in no list and begins with them.
func (s *server) sayKept(ctx context.Context, k kept, of artifacts.Artifact) (begunSession, error) {
	if len(k.results) > 0 {
		return s.answerCalls(ctx, k.results)
	}
	if k.approval != nil {
		return s.approve(ctx, *k.approval)
	}
	c, err := s.continued(ctx, k)
	if err != nil {
		return begunSession{}, err
	}
	return s.sayKeptIn(ctx, k, of, c)
}

// sayKeptIn says it in a conversation, or begins one where c is none.
func (s *server) sayKeptIn(ctx context.Context, k kept, of artifacts.Artifact, c chat.Conversation) (begunSession, error) {
	v := viewerOf(ctx)
	workflow := of.ID
	if of.Name == k.model { // names are found again as they were, at no cost to the turn
		workflow = k.model
	}
	t, _, err := (&chatInput{Key: k.key, Body: ChatRequest{Message: MessageText(k.last), WorkflowID: &workflow}}).turn(ctx)
	if err != nil {
		return begunSession{}, err
	}
	requestOf(ctx).setID(t.RequestID)
	t.Fields = k.fields()
	if k.unkept {
		t.Keeps = chat.KeepsNothing
	}
	if c.ID != "" {
		return s.sayNext(ctx, v, t, c, k.key != "")
	}
	t.History = append([]chat.Said{}, k.before...)
	if err := t.Validate(); err != nil {
		return begunSession{}, err
	}
	a, err := s.say(ctx, v, t, k.key != "")
	return begunBy(a), err
}

// continued is the conversation a request goes on with, with its id at least; a zero
// one: none.
func (s *server) continued(ctx context.Context, k kept) (chat.Conversation, error) {
	v := viewerOf(ctx)
	if k.conversation != "" {
		if !id.Valid(k.conversation) {
			return chat.Conversation{}, fault.New(fault.Invalid, "%s is not an id.", conversationHeader)
		}
		return s.Conversations.Conversation(ctx, v, id.Canonical(k.conversation))
	}
	if id.Valid(k.named) {
		c, err := s.Conversations.Conversation(ctx, v, id.Canonical(k.named))
		if err == nil || !errors.Is(err, fault.NotFound) {
			return c, err
		}
	}
	if len(k.before) == 0 {
		return chat.Conversation{}, nil
	}
	found, err := s.Continuations.Continued(ctx, v, k.digest(v, k.before...))
	c := chat.Conversation{ID: found} // which is all that going on with it needs
	switch {
	case err != nil || found == "":
		return chat.Conversation{}, err
	case id.Unkept(found):
		return s.onlyAnswered(ctx, v, c, k.last)
	case k.unkept:
		return chat.Conversation{}, nil
	}
	return c, nil
}

// onlyAnswered is a conversation of which nothing is kept, if a message answers what it
// asks: it holds one turn, and goes on only so.
func (s *server) onlyAnswered(ctx context.Context, v identity.Viewer, c chat.Conversation, message string) (chat.Conversation, error) {
	open, err := s.Interrupts.PendingInterrupts(ctx, v, c.ID)
	if err != nil || len(open) == 0 {
		return chat.Conversation{}, err
	}
	if _, ok := answerIn(open[0], message); !ok {
		return chat.Conversation{}, s.skip(ctx, v, open)
	}
	return c, nil
}

// completed is a run's answer at once.
func (s *server) completed(ctx context.Context, v identity.Viewer, r run.Run, after int64, words dialect) (any, error) {
	for e, err := range s.tail.events(ctx, v, r, after) {
		if err != nil {
			return nil, err
		}
		if !e.Kind.Ends() {
			continue
		}
		if e.Kind == stream.Error {
			return nil, s.overdrawn(ctx, v, s.runFault(r, e.Data))
		}
		return words.whole(e)
	}
	return nil, ctx.Err()
}

// defaultAbandoned is how long a run goes on for whom nobody reads any more: these
// clients have no other way to stop it than to close.
const defaultAbandoned = 5 * time.Second

// closing stops a run whose reader closed before its end.
func (s *server) closing(ctx context.Context, v identity.Viewer, r run.Run, write func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) {
	stop := func() {
		if ctx.Err() == nil {
			return
		}
		free := context.WithoutCancel(ctx)
		time.AfterFunc(s.abandoned, func() {
			if now, err := s.Runs.Run(free, v, r.ID); err == nil && now.Status == run.Running {
				if _, err := s.Engine.Cancel(free, v, r.ID); err != nil {
					s.Logger.WarnContext(free, "a run that nobody reads goes on", "error", err, "run_id", r.ID)
				}
			}
		})
	}
	if write == nil {
		stop()
		return nil
	}
	return func(w http.ResponseWriter, req *http.Request) {
		write(w, req)
		stop()
	}
}

// baseOf is where people reach this program, for links.
func (s *server) baseOf(ctx context.Context) string {
	if s.PublicURL != "" {
		return strings.TrimSuffix(s.PublicURL, "/")
	}
	req := requestOf(ctx)
	if req.raw == nil || req.raw.Host == "" {
		return ""
	}
	return "http://" + req.raw.Host
}

// runes is how many characters come before a byte of a text.
func runes(text string, at int) int { return utf8.RuneCountInString(text[:at]) }
