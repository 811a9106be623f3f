package store

import (
	"context"
	"time"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/insights"
	"liminal/internal/quota"
)

var _ insights.Store = (*Store)(nil)

// askedAtOnce is how many messages one statement reads.
const askedAtOnce = 500

// overseen is the viewer that reads all rows of an administrator's tenant.
func overseen(v identity.Viewer) (identity.Viewer, error) {
	if !v.IsAdmin() {
		return v, fault.New(fault.Forbidden, "Only an administrator counts what everybody does.")
	}
	return identity.System(), nil
}

// turnsSince reads turns of a tenant. What stands behind large columns of a run
// is read only of runs that left no recording.
const turnsSince = `SELECT r.id, r.user_id, r.status, r.created_at, coalesce(rec.ms, -1), coalesce(rec.tool_calls, -1),
	CASE WHEN rec.run_id IS NULL THEN r.started_at END,
	CASE WHEN rec.run_id IS NULL AND NOT EXISTS (SELECT 1 FROM interrupt i WHERE i.run_id = r.id) THEN r.ended_at END,
	a.surface, a.classifier_tag, a.model, a.input_tokens, a.output_tokens, a.estimated_cost_usd, a.tool_calls
	FROM run r JOIN app_user u ON u.id = r.user_id LEFT JOIN recording rec ON rec.run_id = r.id LEFT JOIN turn_audit a ON a.turn_id = r.id
	WHERE r.created_at >= @since AND r.kind = 'chat' AND u.tenant_id = @tenant AND (@surface = '' OR a.surface = @surface) ORDER BY r.created_at DESC, r.id DESC LIMIT @most`

// Turns implements insights.Store. How long a turn took that left no recording
// is told by its beginning and its end, unless it asked somebody in between.
func (s *Store) Turns(ctx context.Context, v identity.Viewer, since time.Time, surface string, most int) (list []insights.Turn, err error) {
	as, err := overseen(v)
	if err != nil {
		return nil, err
	}
	err = s.read(ctx, as, func(tx Tx) error {
		list, err = all(tx, turnsSince, Args{"since": stamp(since), "tenant": v.TenantID, "surface": surface, "most": most}, scanTurn)
		return err
	})
	return list, err
}

func scanTurn(scan Scan) (t insights.Turn, err error) {
	var ms int64
	var began, ended time.Time
	var input, output *int64
	var cost *float64
	var calls []chat.AuditCall
	if err := scan(&t.RunID, &t.UserID, &t.Status, when{&t.At}, &ms, &t.ToolCalls, when{&began}, when{&ended},
		text{&t.Surface}, text{&t.Tag}, text{&t.Model}, &input, &output, &cost, decode{&calls}); err != nil {
		return t, err
	}
	if input != nil && output != nil {
		t.Used = quota.Use{Calls: 1, Input: *input, Output: *output}
		if cost != nil {
			t.Used.CostUSD = *cost
		}
		if t.ToolCalls < 0 { // of a turn that leaves no recording
			t.ToolCalls = len(calls)
		}
	}
	switch t.Took = -1; {
	case ms >= 0:
		t.Took = time.Duration(ms) * time.Millisecond
	case !began.IsZero() && !ended.Before(began):
		t.Took = ended.Sub(began)
	}
	return t, nil
}

// Spent implements insights.Store.
func (s *Store) Spent(ctx context.Context, v identity.Viewer, since string) (list []insights.Spent, err error) {
	as, err := overseen(v)
	if err != nil {
		return nil, err
	}
	err = s.read(ctx, as, func(tx Tx) error {
		list, err = all(tx, `SELECT s.user_id, s.day, s.model, s.calls, s.input_tokens, s.output_tokens, s.cost_usd
			FROM spend s JOIN app_user u ON u.id = s.user_id WHERE s.day >= @since AND u.tenant_id = @tenant ORDER BY s.day, s.user_id, s.model`,
			Args{"since": since, "tenant": v.TenantID}, func(scan Scan) (l insights.Spent, err error) {
				return l, scan(&l.UserID, &l.Day, &l.Model, &l.Calls, &l.Input, &l.Output, &l.CostUSD)
			})
		return err
	})
	return list, err
}

// Asked implements insights.Store.
func (s *Store) Asked(ctx context.Context, v identity.Viewer, runIDs []string) (list []insights.Asked, err error) {
	as, err := overseen(v)
	if err != nil {
		return nil, err
	}
	err = s.read(ctx, as, func(tx Tx) error {
		list = nil
		for rest := runIDs; len(rest) > 0; rest = rest[min(len(rest), askedAtOnce):] {
			some, err := asked(tx, v, rest[:min(len(rest), askedAtOnce)])
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}

// asked reads the messages that began runs, whose ids come of theirs.
func asked(tx Tx, v identity.Viewer, runIDs []string) ([]insights.Asked, error) {
	ids := make([]string, len(runIDs))
	for i, runID := range runIDs {
		ids[i] = chat.AskedID(runID)
	}
	args := Args{"tenant": v.TenantID, "longest": insights.QuestionLength}
	found := map[string]insights.Asked{}
	if err := tx.Query(`SELECT m.id, m.user_id, m.content FROM message m JOIN app_user u ON u.id = m.user_id
		WHERE u.tenant_id = @tenant AND m.aside = 0 AND length(m.content) <= @longest AND m.id IN `+args.in("id", ids), args, func(scan Scan) error {
		var messageID string
		var a insights.Asked
		if err := scan(&messageID, &a.UserID, &a.Text); err != nil {
			return err
		}
		found[messageID] = a
		return nil
	}); err != nil {
		return nil, err
	}
	list := make([]insights.Asked, 0, len(found))
	for _, messageID := range ids { // in the order of the runs
		if a, ok := found[messageID]; ok {
			list = append(list, a)
		}
	}
	return list, nil
}
