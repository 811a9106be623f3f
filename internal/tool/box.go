package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"liminal/internal/fault"
	"liminal/internal/stream"
	"liminal/schemas"
)

// grace is how long a tool may take to hand over what it has once its time is
// up or its run is cancelled; then it is left behind.
const grace = 2 * time.Second

// maxCompiled bounds the cache of compiled schemas. Specs are versions of
// artifacts: few at a time, many over a life.
const maxCompiled = 2000

// Options are what a Box may be given; the zero value works.
type Options struct {
	Logger   *slog.Logger     // where a tool's panic is told; nil: nowhere
	Now      func() time.Time // nil: time.Now
	Decodes  Decodes          // bounds model answers a person; nil: MaxDecodes in this process
	Breakers Breakers         // which tools rest; nil: of this process, by Now
	// Backend names the server that answers for the tools on QueueModels where a
	// call names none. It has a breaker of its own, which all of them share: when
	// it is away it is away for each of them. Empty: the model is in this process.
	Backend string
	// Observe is told of each call of a tool there is, once, when it is over.
	Observe func(ctx context.Context, o Observed)
}

// Observed is how one call of a tool went.
type Observed struct {
	Tool string
	Took time.Duration // with the wait for a place among the person's answers
	Err  error         // as the caller gets it
}

// Box holds the tools of the program and is the only way to call one
// (GRAPH-25). It is safe for concurrent use.
type Box struct {
	options Options
	tools   map[string]Tool

	mu       sync.RWMutex
	compiled map[string]*schemas.Schema
}

// NewBox holds tools. Two of one name are an error.
func NewBox(tools []Tool, o Options) (*Box, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Decodes == nil {
		o.Decodes = NewSlots(MaxDecodes)
	}
	if o.Breakers == nil {
		o.Breakers = NewLocalBreakers(o.Now)
	}
	b := &Box{options: o, tools: make(map[string]Tool, len(tools)), compiled: map[string]*schemas.Schema{}}
	for _, t := range tools {
		if _, twice := b.tools[t.Name()]; twice {
			return nil, fmt.Errorf("two tools are called %s", t.Name())
		}
		b.tools[t.Name()] = t
	}
	return b, nil
}

// Names lists the tools in order.
func (b *Box) Names() []string {
	names := make([]string, 0, len(b.tools))
	for name := range b.tools {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Has reports whether the program has a tool of this name: one of a provider
// that is not configured has a spec and is not here.
func (b *Box) Has(name string) bool {
	_, ok := b.tools[name]
	return ok
}

// Call runs the tool of spec within its bounds. Errors:
//
//   - NotFound: no such tool in this program (TOOL-11)
//   - Internal, of the reason NotConfigured: what the spec stands on is not here
//   - Forbidden: a privileged tool and a caller who is no administrator (TOOL-05),
//     or a caller whose access key is not for it
//   - Invalid: the inputs do not fit the input schema; Details are schemas.Faults
//   - Internal: the tool failed, panicked, took too long, rests (TOOL-15), or
//     returned what its output schema refuses (TOOL-03)
//   - whatever code the tool itself chose
//   - ctx's own error when the caller gave up
//
// A result that asks a person ({"interrupt": {…}}), or says to come back
// ({"later": {…}}), is passed through.
func (b *Box) Call(ctx context.Context, spec Spec, c *Call) (map[string]any, error) {
	if _, has := b.tools[spec.Runner()]; !has && spec.Via != nil && (spec.Via.Tool == nil || spec.Over != nil) {
		return nil, fault.New(fault.Internal, "The tool %s is not configured here: it needs %s, which this program does not have.", spec.Name, spec.Runner()).
			With(map[string]any{"reason": fault.NotConfigured})
	}
	if spec.Via != nil && spec.Via.Tool != nil {
		return b.renamed(ctx, spec, c)
	}
	t, ok := b.tools[spec.Runner()]
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no tool %q in this program.", spec.Runner())
	}
	began := b.options.Now()
	out, err := b.call(ctx, t, spec, c)
	if b.options.Observe != nil {
		b.options.Observe(ctx, Observed{Tool: spec.Name, Took: b.options.Now().Sub(began), Err: err})
	}
	return out, err
}

// renamed calls the tool that a spec stands on, with its inputs put together as
// the spec says. What the outer spec guards is guarded here, what the inner one
// does by its own call.
func (b *Box) renamed(ctx context.Context, spec Spec, c *Call) (map[string]any, error) {
	if spec.Over == nil || spec.Over.Spec == nil {
		return nil, fault.New(fault.NotFound, "The tool %s stands on %q, which is not there.", spec.Name, spec.Via.Tool.Name)
	}
	if spec.Privileged && !c.Viewer.IsAdmin() {
		return nil, fault.New(fault.Forbidden, "The tool %s is privileged: only administrators may run it.", spec.Name)
	}
	outer, err := b.prepared(ctx, spec, c)
	if err != nil {
		return nil, err
	}
	if asked := spec.Via.Tool.Inputs; asked != nil {
		outer.Inputs, _ = put(asked, "$input", func(name string) (any, bool) {
			v, ok := outer.Inputs[name]
			return v, ok
		}).(map[string]any)
	}
	out, err := b.Call(ctx, *spec.Over.Spec, outer)
	if err != nil {
		return nil, err
	}
	if Asks(out) || Later(out) || IsMissing(out) {
		return out, nil
	}
	if returns := spec.Via.Tool.Returns; returns != nil {
		out, _ = put(returns, "$output", func(at string) (any, bool) { return At(out, at) }).(map[string]any)
	}
	return b.checkedOutput(ctx, spec, out)
}

func (b *Box) call(ctx context.Context, t Tool, spec Spec, c *Call) (map[string]any, error) {
	if spec.Privileged && !c.Viewer.IsAdmin() {
		return nil, fault.New(fault.Forbidden, "The tool %s is privileged: only administrators may run it.", spec.Name)
	}
	if err := granted(c.Viewer, spec); err != nil {
		return nil, err
	}
	call, err := b.prepared(ctx, spec, c)
	if err != nil {
		return nil, err
	}
	free, err := b.place(ctx, spec, call)
	if err != nil {
		return nil, err
	}
	defer free()
	leave, err := b.enter(ctx, spec, call)
	if err != nil {
		return nil, err
	}
	out, err := b.bounded(ctx, t, spec, call)
	if err == nil {
		out, err = b.checkedOutput(ctx, spec, out)
	}
	leave(ctx, err)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// enter refuses a tool that rests, or whose model does. leave is told once how
// the call went, and tells each of the two what that says of it.
func (b *Box) enter(ctx context.Context, spec Spec, c *Call) (leave func(ctx context.Context, err error), err error) {
	backend := b.options.Backend
	if c.Backend != "" {
		backend = "@" + c.Backend // no name of the environment's begins so
	}
	if backend == "" || !spec.speaks() {
		leave, rest := b.ask(ctx, spec.Name)
		if leave == nil {
			return nil, b.resting("The tool "+spec.Name, rest, nil)
		}
		return func(ctx context.Context, err error) { leave(judge(ctx, err)) }, nil
	}
	ofTool, rest := b.ask(ctx, spec.Name)
	if ofTool == nil {
		return nil, b.resting("The tool "+spec.Name, rest, nil)
	}
	ofModel, rest := b.ask(ctx, "model:"+backend)
	if ofModel == nil {
		ofTool(Unknown)
		return nil, b.resting("The model", rest, map[string]any{"reason": fault.Upstream})
	}
	var once sync.Once
	tell := func(v Verdict) { once.Do(func() { ofModel(v) }) }
	began := b.options.Now()
	c.Alive = func() {
		if b.options.Now().Sub(began) >= steady {
			tell(Healthy) // a long answer must not keep others from asking
		}
	}
	return func(ctx context.Context, err error) {
		tell(judgeModel(ctx, err, c))
		if reason := fault.Reason(err); reason == fault.Upstream || reason == timedOut {
			ofTool(Unknown)
			return
		}
		ofTool(judge(ctx, err))
	}, nil
}

// ask asks a breaker. When nobody knows what it would say, the call goes ahead.
func (b *Box) ask(ctx context.Context, name string) (leave func(Verdict), rest time.Duration) {
	leave, rest, err := b.options.Breakers.Enter(ctx, name)
	if err != nil {
		b.options.Logger.WarnContext(ctx, "the breakers are not known; a tool is called all the same", "breaker", name, "error", err)
		return func(Verdict) {}, 0
	}
	return leave, rest
}

// resting is the refusal to call what has failed again and again. Its details
// say when it is called again: whoever repeats calls need not wait for that, for
// the person is told at once (ISO-09).
func (b *Box) resting(who string, rest time.Duration, details map[string]any) error {
	at := b.options.Now().Add(rest).UTC()
	if whole := at.Truncate(time.Second); whole.Before(at) {
		at = whole.Add(time.Second)
	}
	d := map[string]any{"resting": true, "retry_after_ms": rest.Milliseconds(), "retry_at": at.Format(time.RFC3339)}
	maps.Copy(d, details)
	return fault.New(fault.Internal, "%s does not answer; it is tried again at %s UTC.", who, at.Format(time.TimeOnly)).With(d)
}

// prepared checks the inputs and fills what a tool may rely on.
func (b *Box) prepared(ctx context.Context, spec Spec, c *Call) (*Call, error) {
	call := *c
	call.Spec = spec
	if call.Inputs == nil {
		call.Inputs = map[string]any{}
	}
	inputs, err := plainObject(call.Inputs)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The inputs of %s are not plain JSON.", spec.Name)
	}
	call.Inputs = inputs
	faults, err := b.check(ctx, spec.InputSchema, inputs)
	if err != nil {
		return nil, unusable(ctx, err, "input", spec.Name)
	}
	if len(faults) > 0 {
		return nil, fault.New(fault.Invalid, "The inputs of %s do not fit: %s", spec.Name, firstFault(faults)).With(faults)
	}
	if call.Emit == nil {
		call.Emit = func(stream.Payload) {}
	}
	if call.Heartbeat == nil {
		call.Heartbeat = func(any) {}
	}
	return &call, nil
}

// place takes one of the places a person has for answers under way. It waits
// for it as long as the tool may take; where answers may be long, for half of
// what the call may, so that there is time for its own. Whatever comes of that
// says nothing of the tool.
func (b *Box) place(ctx context.Context, spec Spec, c *Call) (leave func(), err error) {
	if !spec.speaks() {
		return func() {}, nil
	}
	limit := max(spec.Timeout(), c.Longest/2)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	leave, err = b.options.Decodes.Enter(within, c.Viewer.UserID)
	if err != nil {
		return nil, timely(ctx, err, spec.Name, limit)
	}
	return leave, nil
}

// bounded runs the tool under its timeout, or under what the call of a model
// that speaks may take.
func (b *Box) bounded(ctx context.Context, t Tool, spec Spec, c *Call) (map[string]any, error) {
	limit := spec.Timeout()
	if spec.speaks() {
		limit = max(limit, c.Longest)
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := b.run(within, t, c)
	if err != nil {
		return nil, timely(ctx, err, spec.Name, limit)
	}
	return out, nil
}

// timely tells apart the caller who gave up, time that is up, and a failure.
func timely(ctx context.Context, err error, name string, limit time.Duration) error {
	var known *fault.Error
	switch {
	case errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(fault.Internal, err, "The tool %s took longer than %s.", name, limit)
	}
	return fault.Wrap(fault.Internal, err, "The tool %s failed.", name)
}

type result struct {
	out map[string]any
	err error
}

// run calls the tool in a goroutine of its own: one that ignores ctx must not
// hold its caller, and a panic must not end the process.
func (b *Box) run(ctx context.Context, t Tool, c *Call) (map[string]any, error) {
	done := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				b.options.Logger.ErrorContext(ctx, "a tool panicked", "tool", t.Name(), "run", c.RunID, "panic", p, "stack", string(debug.Stack()))
				done <- result{err: fault.New(fault.Internal, "The tool %s failed inside.", t.Name())}
			}
		}()
		out, err := t.Run(ctx, c)
		done <- result{out, err}
	}()
	select {
	case r := <-done:
		return r.out, r.err
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case r := <-done:
		return r.out, r.err
	case <-late.C:
		return nil, ctx.Err()
	}
}

// checkedOutput gives the result as plain JSON that fits the output schema.
func (b *Box) checkedOutput(ctx context.Context, spec Spec, out map[string]any) (map[string]any, error) {
	plain, err := plainObject(out)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "The tool %s returned what is not JSON.", spec.Name)
	}
	if Asks(plain) || Later(plain) || spec.Via != nil && spec.Via.Query != nil && IsMissing(plain) {
		return plain, nil
	}
	faults, err := b.check(ctx, spec.OutputSchema, plain)
	if err != nil {
		return nil, unusable(ctx, err, "output", spec.Name)
	}
	if len(faults) > 0 {
		return nil, fault.New(fault.Internal, "The result of %s does not fit its output schema: %s", spec.Name, firstFault(faults)).With(faults)
	}
	return plain, nil
}

// Asks reports whether a tool's result is a question to a person (GRAPH-27).
func Asks(out map[string]any) bool {
	_, ok := out["interrupt"].(map[string]any)
	return ok
}

// Later reports whether a tool's result puts its answer off: it is to be called
// again after a while.
func Later(out map[string]any) bool {
	_, ok := out["later"].(map[string]any)
	return ok
}

// check compiles a schema once and checks v against it.
func (b *Box) check(ctx context.Context, schema json.RawMessage, v map[string]any) (schemas.Faults, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	b.mu.RLock()
	compiled, ok := b.compiled[string(schema)]
	b.mu.RUnlock()
	if !ok {
		var err error
		if compiled, err = schemas.Compile(schema); err != nil {
			return nil, err
		}
		b.mu.Lock()
		if len(b.compiled) >= maxCompiled {
			clear(b.compiled)
		}
		b.compiled[string(schema)] = compiled
		b.mu.Unlock()
	}
	return compiled.Check(ctx, v)
}

// unusable tells a schema that cannot be used, such as one stored before
// schemas had bounds, from a caller who gave up.
func unusable(ctx context.Context, err error, which, name string) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case schemas.Refused(err):
		return fault.Wrap(fault.Invalid, err, "The %s schema of the tool %s cannot be used: %s.", which, name, schemas.Reason(err))
	}
	return fault.Wrap(fault.Internal, err, "The %s schema of the tool %s does not compile.", which, name)
}

// firstFault is the first fault as part of a sentence, and how many there are.
func firstFault(faults schemas.Faults) string {
	where := faults[0].Path
	if where == "" {
		where = "/"
	}
	text := where + ": " + faults[0].Message + "."
	if more := len(faults) - 1; more > 0 {
		text += fmt.Sprintf(" And %d more.", more)
	}
	return text
}

// timedOut is the reason of a fault whose time was up (graph.CodeTimeout).
const timedOut = "timeout"

// steady is how long a model must have been answering to count as well before
// its answer is over.
const steady = 5 * time.Second

// slow is how long a model must have been silent before that says something of
// it: a person's own workflow may allow it less.
const slow = 10 * time.Second

// judgeModel says what a call's end means for the breaker of its model's
// server, which is everybody's: only that it is away, has too much to do or is
// silent counts against it, and nothing that one person asked of it.
func judgeModel(ctx context.Context, err error, c *Call) Verdict {
	switch reason := fault.Reason(err); {
	case err == nil:
		return Healthy
	case ctx.Err() != nil:
		return Unknown
	case reason == fault.Upstream, reason == timedOut && (c.Silence == 0 || c.Silence >= slow):
		return Broken
	}
	return Unknown
}

// judge says what a call's end means for its breaker.
func judge(ctx context.Context, err error) Verdict {
	if err == nil {
		return Healthy
	}
	switch reason := fault.Reason(err); {
	case ctx.Err() != nil, reason == fault.Budget: // one person's purse says nothing of the tool
		return Unknown
	case reason == fault.NotConfigured: // rest would not help, and hide what is missing
		return Unknown
	}
	if code := fault.CodeOf(err); code == fault.Internal || code == fault.RateLimited {
		return Broken
	}
	return Unknown
}
