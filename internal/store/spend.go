package store

import (
	"context"

	"liminal/internal/identity"
	"liminal/internal/quota"
)

var _ quota.UsageStore = (*Store)(nil)

// AddUsage implements quota.UsageStore: the entry and the sums it goes into, or
// neither.
func (s *Store) AddUsage(ctx context.Context, v identity.Viewer, e quota.Entry) error {
	args := Args{
		"run": e.RunID, "effect": e.Effect, "attempt": e.Attempt, "model": e.Model, "user": v.UserID, "conversation": optional(e.ConversationID),
		"in": e.Input, "out": e.Output, "cost": e.CostUSD, "now": s.now(), "day": quota.DayOf(s.now()), "calls": e.Calls,
	}
	return s.write(ctx, v, func(tx Tx) error {
		n, err := tx.Exec(`INSERT INTO spend_call (run_id, effect_id, attempt, model, user_id, conversation_id, calls, input_tokens, output_tokens, cost_usd, created_at)
			VALUES (@run, @effect, @attempt, @model, @user, @conversation, @calls, @in, @out, @cost, @now)
			ON CONFLICT (run_id, effect_id, attempt, model) DO NOTHING`, args)
		if err != nil || n == 0 {
			return err
		}
		_, err = tx.Exec(`INSERT INTO spend (user_id, day, model, calls, input_tokens, output_tokens, cost_usd)
			VALUES (@user, @day, @model, @calls, @in, @out, @cost)
			ON CONFLICT (user_id, day, model) DO UPDATE SET calls = spend.calls + excluded.calls,
			input_tokens = spend.input_tokens + excluded.input_tokens, output_tokens = spend.output_tokens + excluded.output_tokens,
			cost_usd = spend.cost_usd + excluded.cost_usd`, args)
		return err
	})
}

// Account implements quota.UsageStore.
func (s *Store) Account(ctx context.Context, v identity.Viewer, since string) (a quota.Account, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		var u identity.User
		if _, err := first(tx, `SELECT meta FROM app_user WHERE id = @user`, Args{"user": v.UserID}, decode{(*userFlags)(&u)}); err != nil {
			return err
		}
		a.Budget = u.Budget
		a.Lines, err = all(tx, `SELECT day, model, calls, input_tokens, output_tokens, cost_usd FROM spend
			WHERE user_id = @user AND day >= @since ORDER BY day, model`, Args{"user": v.UserID, "since": since},
			func(scan Scan) (l quota.Line, err error) {
				return l, scan(&l.Day, &l.Model, &l.Calls, &l.Input, &l.Output, &l.CostUSD)
			})
		return err
	})
	return a, err
}

// conversationUse sums the calls of a conversation, whatever the model.
const conversationUse = `SELECT CAST(coalesce(sum(calls), 0) AS BIGINT), CAST(coalesce(sum(input_tokens), 0) AS BIGINT),
	CAST(coalesce(sum(output_tokens), 0) AS BIGINT), coalesce(sum(cost_usd), 0.0) FROM spend_call WHERE conversation_id = @conversation AND user_id = @user`

// ConversationUse implements quota.UsageStore.
func (s *Store) ConversationUse(ctx context.Context, v identity.Viewer, conversationID string) (u quota.Use, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		_, err := first(tx, conversationUse, Args{"conversation": conversationID, "user": v.UserID}, &u.Calls, &u.Input, &u.Output, &u.CostUSD)
		return err
	})
	return u, err
}
