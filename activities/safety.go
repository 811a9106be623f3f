package activities

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	"liminal/internal/chat"
	"liminal/internal/safety"
	"liminal/internal/tool"
)

const (
	// judged is how much of a person's message is judged, in bytes.
	judged = 32 << 10
	// maxRedactions bounds what a run keeps of them.
	maxRedactions = 64
)

// Judged is what is thought of a person's message (SAFE-02). The message
// itself is not in it.
type Judged struct {
	Risk   safety.Risk `json:"risk"`
	Policy string      `json:"policy,omitempty"`
	Rules  []string    `json:"rules,omitempty"`
}

// judge looks at what the person asks, for the router and for whoever looks
// for abuse; nothing is refused (SAFE-01). A classifier that fails costs its
// opinion.
func (o *opening) judge(ctx context.Context, text string) {
	if o.set.Safety == nil || !o.look(ctx, text) {
		return
	}
	o.stage("safety", strings.TrimSpace(string(o.out.Judged.Risk)+" "+strings.Join(o.out.Judged.Rules, " ")))
}

// look judges one text, and reports whether anybody did.
func (o *opening) look(ctx context.Context, text string) bool {
	v, err := o.set.Safety.Classify(ctx, cutText(text, judged), safety.Input)
	if err != nil {
		o.set.logger().WarnContext(ctx, "a message was not judged", "run", o.row.ID, "error", err)
		return false
	}
	if j := o.out.Judged; j == nil || v.Risk.Above(j.Risk) { // the worst of what a turn brings
		o.out.Judged = &Judged{Risk: v.Risk, Policy: v.Policy, Rules: v.Rules()}
	}
	if len(v.Findings) == 0 {
		return true
	}
	level := slog.LevelInfo
	if v.Risk == safety.High {
		level = slog.LevelWarn
	}
	o.set.logger().Log(ctx, level, "a message was judged", "risk", v.Risk, "rules", v.Rules(), "policy", v.Policy,
		"user", o.in.Viewer.UserID, "run", o.row.ID, "conversation", o.row.ConversationID)
	return true
}

// judgeHistory looks at what a program says was said before as at a message: it
// was in no turn here, and the program may have made it up.
func (o *opening) judgeHistory(ctx context.Context, turn chat.TurnInput) error {
	if o.set.Safety == nil || turn.History == "" {
		return nil
	}
	said, err := o.set.Messages.History(ctx, o.in.Viewer, o.row.ConversationID, turn.UptoSeq, turn.UptoSeq)
	if err != nil {
		return err
	}
	for _, m := range said {
		o.look(ctx, m.Content)
	}
	return nil
}

// risk is what the router is told.
func (o *Opened) risk() string {
	if o.Judged == nil {
		return ""
	}
	return string(o.Judged.Risk)
}

// redacted keeps what was taken out of the call's answer, and tells operators
// without the text.
func (e *callEvents) redacted(ctx context.Context) func(tool.Redaction) {
	return func(r tool.Redaction) {
		e.mu.Lock()
		if len(e.removed) < maxRedactions {
			e.removed = append(e.removed, r)
		}
		e.mu.Unlock()
		level := slog.LevelInfo
		if r.Whole {
			level = slog.LevelWarn
		}
		e.set.logger().Log(ctx, level, "an answer was redacted", "rule", r.Rule, "policy", r.Policy, "whole", r.Whole,
			"user", e.in.Run.Viewer.UserID, "run", e.in.Run.RunID, "node", e.in.Node)
	}
}

// redactions are those of the call.
func (e *callEvents) redactions() []tool.Redaction {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.removed)
}

// redactions are those the answer shows, as segments of it (SAFE-03). What a
// step removed from a text that is not part of the answer is none of them.
func (c *closing) redactions(text string) []chat.Segment {
	var out []chat.Segment
	from := 0
	for _, r := range c.Tally.Redactions {
		at := strings.Index(text[from:], r.Text)
		if r.Text == "" || at < 0 {
			continue
		}
		start := from + at
		from = start + len(r.Text)
		out = append(out, chat.Removed(r.Text, r.Policy, r.Reason, r.Rule, start))
	}
	return out
}
