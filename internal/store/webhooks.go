package store

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/webhook"
)

var _ webhook.Endpoints = (*Store)(nil)

// keyOver says whether the access key that made an endpoint has ended.
const keyOver = `w.key_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM access_key k WHERE k.id = w.key_id AND k.revoked_at IS NULL AND k.expires_at > @now)`

const webhookColumns = `w.id, w.user_id, w.tenant_id, w.channel, w.url, w.description, w.events, w.assistants, w.sealed, w.after_minutes, w.enabled,
	w.reason, w.key_id, CASE WHEN ` + keyOver + ` THEN 1 ELSE 0 END, w.failing_since, w.created_at, w.updated_at`

func webhookDest(e *webhook.Endpoint, minutes *int64, ended *int64) []any {
	return []any{
		&e.ID, &e.UserID, text{&e.TenantID}, &e.Channel, &e.URL, &e.Description, decode{&e.Events}, decode{&e.Assistants}, &e.Sealed, minutes, &e.On,
		&e.Reason, text{&e.KeyID}, ended, when{&e.FailingAt}, when{&e.CreatedAt}, when{&e.UpdatedAt},
	}
}

func scanWebhook(scan Scan) (e webhook.Endpoint, err error) {
	var minutes, ended int64
	err = scan(webhookDest(&e, &minutes, &ended)...)
	e.After, e.KeyEnded = time.Duration(minutes)*time.Minute, ended == 1
	return e, err
}

// madeByKey narrows to what the access key made that somebody comes with.
const madeByKey = ` AND (@key = '' OR CAST(w.key_id AS text) = @key)`

// webhookArgs is which endpoints somebody sees: their own, and an administrator those
// that are told of everybody's runs of their tenant.
func (s *Store) webhookArgs(v identity.Viewer) Args {
	args := Args{"user": v.UserID, "now": s.now(), "of": "", "key": v.KeyID()}
	if v.IsAdmin() {
		args["of"] = v.TenantID
	}
	return args
}

func (s *Store) endpoint(tx Tx, v identity.Viewer, id string) (webhook.Endpoint, error) {
	args := s.webhookArgs(v)
	args["id"] = id
	list, err := all(tx, `SELECT `+webhookColumns+` FROM webhook w WHERE w.id = @id AND w.channel = 'http'
		AND (w.user_id = @user AND w.tenant_id IS NULL OR w.tenant_id = @of)`+madeByKey, args, scanWebhook)
	return only(list, err, "webhook")
}

// CreateEndpoint implements webhook.Endpoints.
func (s *Store) CreateEndpoint(ctx context.Context, v identity.Viewer, e webhook.Endpoint) (webhook.Endpoint, error) {
	err := s.write(ctx, identity.System(), func(tx Tx) error {
		count := `SELECT count(*) FROM webhook WHERE user_id = @user AND channel = 'http' AND tenant_id IS NULL`
		if e.TenantID != "" {
			count = `SELECT count(*) FROM webhook WHERE tenant_id = @tenant`
		}
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		var n int
		if _, err := first(tx, count, Args{"user": v.UserID, "tenant": e.TenantID}, &n); err != nil {
			return err
		}
		if n >= webhook.Most {
			return webhook.TooMany()
		}
		e.CreatedAt = s.now()
		e.UpdatedAt = e.CreatedAt
		if err := insertWebhook(tx, e); err != nil {
			return err
		}
		if err := subscribe(tx, e); err != nil {
			return err
		}
		return s.audit(tx, v.UserID, identity.AuditEvent{What: identity.WebhookMade, UserID: v.UserID, Became: map[string]any{"webhook_id": e.ID, "tenant": e.TenantID}})
	})
	return e, err
}

func insertWebhook(tx Tx, e webhook.Endpoint) error {
	args, err := endpointArgs(e)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO webhook (id, user_id, tenant_id, channel, url, description, events, assistants, sealed, after_minutes, enabled, reason, key_id, failing_since, created_at, updated_at)
		VALUES (@id, @user, @tenant, @channel, @url, @description, @events, @assistants, @sealed, @minutes, @on, @reason, @key, @failing, @created, @updated)`, args)
	return err
}

func endpointArgs(e webhook.Endpoint) (Args, error) {
	events, err := encoded(e.Events, false)
	if err != nil {
		return nil, err
	}
	assistants, err := encoded(append([]string{}, e.Assistants...), false)
	if err != nil {
		return nil, err
	}
	return Args{
		"id": e.ID, "user": e.UserID, "tenant": optional(e.TenantID), "channel": e.Channel, "url": e.URL, "description": writable(e.Description),
		"events": events, "assistants": assistants, "sealed": e.Sealed, "minutes": int64(e.After / time.Minute), "on": e.On, "reason": e.Reason,
		"key": optional(e.KeyID), "failing": moment(e.FailingAt), "created": e.CreatedAt, "updated": e.UpdatedAt,
	}, nil
}

// subscribe says, after a change of an endpoint, whether anybody is told of the runs
// of its person, or of everybody's.
func subscribe(tx Tx, e webhook.Endpoint) error {
	whose, count := e.UserID, `SELECT count(*) FROM webhook WHERE user_id = @user AND tenant_id IS NULL AND enabled`
	if e.TenantID != "" {
		whose, count = identity.SystemAccount, `SELECT count(*) FROM webhook WHERE tenant_id > '' AND enabled`
	}
	args := Args{"user": e.UserID, "whose": whose}
	var n int
	if _, err := first(tx, count, args, &n); err != nil {
		return err
	}
	query := `DELETE FROM webhook_subscriber WHERE user_id = @whose`
	if n > 0 {
		query = `INSERT INTO webhook_subscriber (user_id) VALUES (@whose) ON CONFLICT (user_id) DO NOTHING`
	}
	_, err := tx.Exec(query, args)
	return err
}

// Endpoint implements webhook.Endpoints.
func (s *Store) Endpoint(ctx context.Context, v identity.Viewer, id string) (e webhook.Endpoint, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		e, err = s.endpoint(tx, v, id)
		return err
	})
	return e, err
}

// Endpoints implements webhook.Endpoints.
func (s *Store) Endpoints(ctx context.Context, v identity.Viewer) (list []webhook.Endpoint, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT `+webhookColumns+` FROM webhook w WHERE w.channel = 'http'
			AND (w.user_id = @user AND w.tenant_id IS NULL OR w.tenant_id = @of)`+madeByKey+` ORDER BY w.created_at DESC, w.id DESC`, s.webhookArgs(v), scanWebhook)
		return err
	})
	return list, err
}

// ChangeEndpoint implements webhook.Endpoints.
func (s *Store) ChangeEndpoint(ctx context.Context, v identity.Viewer, id string, change func(*webhook.Endpoint) error) (e webhook.Endpoint, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		if e, err = s.endpoint(tx, v, id); err != nil {
			return err
		}
		was := e.URL
		if err := change(&e); err != nil {
			return err
		}
		e.UpdatedAt = s.now()
		if err := updateWebhook(tx, e); err != nil {
			return err
		}
		return s.audit(tx, v.UserID, identity.AuditEvent{What: identity.WebhookChanged, UserID: e.UserID, Became: map[string]any{
			"webhook_id": id, "tenant": e.TenantID, "on": e.On, "moved": e.URL != was,
		}})
	})
	return e, err
}

func updateWebhook(tx Tx, e webhook.Endpoint) error {
	args, err := endpointArgs(e)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE webhook SET url = @url, description = @description, events = @events, assistants = @assistants, sealed = @sealed,
		after_minutes = @minutes, enabled = @on, reason = @reason, failing_since = @failing, updated_at = @updated WHERE id = @id AND user_id = @user`, args); err != nil {
		return err
	}
	if !e.On {
		if err := skipDeliveries(tx, e); err != nil {
			return err
		}
	}
	return subscribe(tx, e)
}

// skipDeliveries ends what waits for an endpoint that is off.
func skipDeliveries(tx Tx, e webhook.Endpoint) error {
	_, err := tx.Exec(`UPDATE webhook_delivery SET status = 'skipped', error = 'off', next_at = NULL, lease = NULL, ended_at = @now
		WHERE webhook_id = @id AND user_id = @user AND status = 'waiting'`, Args{"id": e.ID, "user": e.UserID, "now": e.UpdatedAt})
	return err
}

// RemoveEndpoint implements webhook.Endpoints.
func (s *Store) RemoveEndpoint(ctx context.Context, v identity.Viewer, id string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		e, err := s.endpoint(tx, v, id)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM webhook WHERE id = @id AND user_id = @user`, Args{"id": id, "user": e.UserID}); err != nil {
			return err
		}
		if err := subscribe(tx, e); err != nil {
			return err
		}
		return s.audit(tx, v.UserID, identity.AuditEvent{What: identity.WebhookEnded, UserID: e.UserID, Was: map[string]any{"webhook_id": id, "tenant": e.TenantID}})
	})
}

// Letters implements webhook.Endpoints.
func (s *Store) Letters(ctx context.Context, v identity.Viewer) (e webhook.Endpoint, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		e = webhook.Endpoint{}
		list, err := all(tx, `SELECT `+webhookColumns+` FROM webhook w WHERE w.user_id = @user AND w.channel = 'mail'`, Args{"user": v.UserID, "now": s.now()}, scanWebhook)
		if len(list) > 0 {
			e = list[0]
		}
		return err
	})
	return e, err
}

// SetLetters implements webhook.Endpoints.
func (s *Store) SetLetters(ctx context.Context, v identity.Viewer, e webhook.Endpoint) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		args := Args{"id": e.ID, "user": v.UserID}
		var has int
		if _, err := first(tx, `SELECT count(*) FROM webhook WHERE id = @id AND user_id = @user`, args, &has); err != nil {
			return err
		}
		e.CreatedAt = s.now()
		e.UpdatedAt = e.CreatedAt
		switch {
		case len(e.Events) == 0:
			if _, err := tx.Exec(`DELETE FROM webhook WHERE id = @id AND user_id = @user`, args); err != nil {
				return err
			}
			return subscribe(tx, e)
		case has == 1:
			return updateWebhook(tx, e)
		}
		if err := insertWebhook(tx, e); err != nil {
			return err
		}
		return subscribe(tx, e)
	})
}
