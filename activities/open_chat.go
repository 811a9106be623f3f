package activities

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/model"
	"liminal/internal/routing"
	"liminal/internal/telemetry"
)

// The workflows a turn follows when its request names none.
const (
	workflowDefault   = "default"   // GRAPH-21
	workflowDocuments = "documents" // GRAPH-22
)

const (
	// vectorMessages is how many earlier messages colour a turn's vector.
	vectorMessages = 4
	// vectorText is how much of each of them does, in bytes.
	vectorText = 512
	// maxEmbed is how long a turn waits for its vector.
	maxEmbed = 3 * time.Second
	// maxContexts bounds the contexts a turn is bound to without being told.
	maxContexts = 100
)

// chat opens a turn along the read path of PLAT-12: who, conversation,
// embedding, contexts, router, workflow. Retrieval is the workflow's own.
func (o *opening) chat(ctx context.Context) error {
	var turn chat.TurnInput
	if err := json.Unmarshal(o.row.Input, &turn); err != nil {
		return fault.Wrap(fault.Internal, err, "The turn %s cannot be read.", o.row.ID)
	}
	o.out.Locale, o.out.UptoSeq = turn.Locale, turn.UptoSeq
	if o.out.Locale == "" {
		o.out.Locale = o.in.Viewer.Locale
	}
	o.surfaced(turn.Surface)
	o.out.User = o.user()
	o.stage("auth", string(o.in.Viewer.Role))
	c, text, err := o.conversation(ctx, turn)
	if err != nil {
		return err
	}
	if o.chosen = c.Backend; turn.Backend != nil {
		o.chosen = *turn.Backend
	}
	if err := o.judgeHistory(ctx, turn); err != nil {
		return err
	}
	o.judge(ctx, text)
	vector, err := o.embed(ctx, text)
	if err != nil {
		return err
	}
	if err := o.contexts(ctx, turn, c); err != nil {
		return err
	}
	if err := o.route(ctx, turn, text, vector); err != nil {
		return err
	}
	if err := o.pin(ctx, o.workflow(ctx, turn)); err != nil {
		return err
	}
	if err := errors.Join(o.granted(), o.kept()); err != nil {
		return err
	}
	o.stage("workflow", o.out.Pins[0].Name)
	o.out.Input["context_ids"] = anys(o.out.ContextIDs)
	return nil
}

// conversation loads what the turn says and the thread it is part of.
func (o *opening) conversation(ctx context.Context, turn chat.TurnInput) (chat.Conversation, string, error) {
	v := o.in.Viewer
	c, err := o.set.Conversations.Conversation(ctx, v, o.row.ConversationID)
	if err != nil {
		return c, "", err
	}
	m, err := o.set.Messages.Message(ctx, v, turn.MessageID)
	if err != nil {
		return c, "", err
	}
	if m.Meta[chat.MetaForgotten] == true {
		return c, "", fault.New(fault.Conflict, "What was asked cannot be read any more: nothing is kept of it, and its key is gone. Ask again.").With(map[string]any{"reason": "keeps_nothing"})
	}
	message, err := o.largeText(ctx, "message", m.Content)
	if err != nil {
		return c, "", err
	}
	o.out.Conversation = map[string]any{"id": c.ID, "title": c.Title}
	o.out.Persisted, _ = c.Meta["docs"].(map[string]any)
	o.out.Remembers = true
	o.out.Input = map[string]any{}
	maps.Copy(o.out.Input, turn.Fields)
	if fields, sealed := m.Meta[chat.MetaFields].(map[string]any); sealed && id.Unkept(o.row.ID) {
		maps.Copy(o.out.Input, fields)
	}
	maps.Copy(o.out.Input, map[string]any{
		"message": message, "message_id": m.ID, "conversation_id": c.ID, "locale": o.out.Locale,
	})
	o.stage("conversation", "up to message "+strconv.Itoa(turn.UptoSeq))
	return c, m.Content, nil
}

// embed gives the vector of the last message with what was said before it
// (EMB-05). An encoder that is away costs the router its vector and never the
// turn.
func (o *opening) embed(ctx context.Context, message string) ([]float32, error) {
	if o.set.Embedder == nil {
		return nil, nil
	}
	before, err := o.set.Messages.History(ctx, o.in.Viewer, o.row.ConversationID, o.out.UptoSeq, vectorMessages)
	if err != nil {
		return nil, err
	}
	texts := make([]string, 0, len(before))
	for _, m := range before {
		texts = append(texts, cutText(m.Content, vectorText))
	}
	within, cancel := context.WithTimeout(ctx, maxEmbed)
	defer cancel()
	vector, err := embed.Turn(within, o.set.Embedder, message, strings.Join(texts, "\n"))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		o.set.logger().WarnContext(ctx, "the encoder gave no vector; the turn is routed without one", "encoder", o.set.Embedder.Version(), "error", err)
		o.stage("embed", "no vector")
		return nil, nil
	}
	o.stage("embed", o.set.Embedder.Version())
	return vector, nil
}

// contexts resolves what the turn may retrieve from: the request's, else the
// conversation's, else all of the viewer's own that hold documents.
func (o *opening) contexts(ctx context.Context, turn chat.TurnInput, c chat.Conversation) error {
	named := turn.ContextIDs
	if len(named) == 0 && c.ActiveContextID != "" {
		named = []string{c.ActiveContextID}
	}
	switch {
	case turn.NoContext:
	case len(named) > 0:
		for _, id := range named {
			if _, err := o.set.Contexts.Context(ctx, o.in.Viewer, id); err != nil {
				return err
			}
		}
		o.out.ContextIDs = named
	default:
		own, _, err := o.set.Contexts.ListContexts(ctx, o.in.Viewer, "me", "", maxContexts)
		if err != nil {
			return err
		}
		for _, k := range own {
			if k.Documents > 0 {
				o.out.ContextIDs = append(o.out.ContextIDs, k.ID)
			}
		}
	}
	o.stage("contexts", strings.Join(o.out.ContextIDs, " "))
	return nil
}

// route lets the router choose adapters; without one there are none.
func (o *opening) route(ctx context.Context, turn chat.TurnInput, message string, vector []float32) error {
	if o.set.Router == nil {
		return nil
	}
	spanned, span := telemetry.Start(ctx, "route")
	routed, err := o.set.Router.Route(spanned, o.in.Viewer, RouteInput{
		Message: message, Vector: vector, ContextIDs: o.out.ContextIDs, ArtifactIDs: turn.ArtifactIDs, SafetyRisk: o.out.risk(), Key: o.key(),
	})
	telemetry.End(span, err, "route")
	if err != nil {
		return err
	}
	if !id.Unkept(o.row.ID) { // the reasons may quote what was asked
		o.set.logger().InfoContext(ctx, "a turn was routed", "run", o.in.RunID, "routing", routed.Trace) // ROUTE-09, OBS-02
	}
	o.out.Routing, o.routed = routed.Trace, routed.Backend
	if o.out.Router, err = o.routedBy(ctx, routed.Input); err != nil {
		o.set.logger().WarnContext(ctx, "what a turn was routed by is not recorded", "run", o.in.RunID, "error", err)
	}
	o.out.Adapters = routed.Adapters
	o.out.Pins = append(o.out.Pins, routed.Pins...)
	for _, a := range routed.Adapters {
		o.out.Pins = append(o.out.Pins, a.Pin)
	}
	var names []string
	for _, a := range routed.Adapters {
		names = append(names, a.Name)
	}
	o.stage("route", strings.Join(names, " "))
	return nil
}

// routedBy keeps what the turn was routed by, where that will be recorded: by
// reference when it is too long to travel.
func (o *opening) routedBy(ctx context.Context, in *routing.Input) (json.RawMessage, error) {
	if in == nil || !o.set.Record {
		return nil, nil
	}
	raw, err := json.Marshal(in)
	if err != nil || len(raw) <= maxValue {
		return raw, err
	}
	ref, err := o.set.Blobs.PutBlob(ctx, o.in.Viewer, o.in.RunID, "router", raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{refKey: ref})
}

// workflow is the artifact the turn follows: the one the request names, if
// the viewer may see it, else the default for what is bound (GRAPH-23).
func (o *opening) workflow(ctx context.Context, turn chat.TurnInput) string {
	if turn.WorkflowID != "" {
		return turn.WorkflowID
	}
	for _, id := range turn.ArtifactIDs {
		if a, err := o.set.Artifacts.Get(ctx, o.in.Viewer, id); err == nil && a.Type == artifacts.KindWorkflow {
			return a.ID
		}
	}
	if len(o.out.ContextIDs) > 0 {
		return workflowDocuments
	}
	return workflowDefault
}

// granted refuses a workflow that the access key of the run is not for. It looks
// at what the run is pinned to, whoever chose that.
func (o *opening) granted() error {
	p := o.out.Pins[0]
	if o.in.Viewer.Grant.MayAsk(p.ArtifactID, p.Name) {
		return nil
	}
	return fault.New(fault.Forbidden, "The access key this run was begun with is not for the assistant %s.", p.Name).With(map[string]any{"reason": "key_scope"})
}

// kept refuses to follow a workflow that keeps nothing in a turn of which something
// is: it was chosen by what is bound, or has been changed since the turn was
// accepted. The other way round nothing is kept all the same.
func (o *opening) kept() error {
	if id.Unkept(o.row.ID) || !artifacts.Unkept(o.out.Graph) {
		return nil
	}
	return fault.New(fault.Conflict, "The assistant %s keeps nothing, and this conversation is kept. Ask it by its name, in workflow_id, without conversation_id.", o.out.Pins[0].Name).
		With(map[string]any{"reason": "keeps_nothing"})
}

func anys(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// surfaced holds a run to what its surface says, whichever way it began.
func (o *opening) surfaced(s *chat.TurnSurface) {
	if s == nil {
		return
	}
	o.out.Audit = s.Audit
	if s.Bounds != (model.TurnBounds{}) {
		o.out.Bounds = &s.Bounds
	}
}
