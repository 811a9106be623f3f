package store

import (
	"context"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/webhook"
)

var _ webhook.Deliveries = (*Store)(nil)

const deliveryColumns = `d.id, d.webhook_id, d.user_id, d.kind, d.subject_id, d.run_id, d.interrupt_id, d.conversation_id, d.assistant_id, d.assistant, d.happened_at,
	d.status, d.attempts, d.next_at, d.lease, d.code, d.error, d.created_at, d.ended_at`

func deliveryDest(d *webhook.Delivery) []any {
	e := &d.Event
	return []any{
		&d.ID, &d.EndpointID, &d.UserID, &e.Kind, &e.UserID, text{&e.RunID}, text{&e.InterruptID}, text{&e.ConversationID}, text{&e.AssistantID}, &e.Assistant, when{&e.At},
		&d.Status, &d.Attempts, when{&d.NextAt}, text{&d.Lease}, &d.Code, &d.Error, when{&d.CreatedAt}, when{&d.EndedAt},
	}
}

func scanDelivery(scan Scan) (d webhook.Delivery, err error) {
	err = scan(deliveryDest(&d)...)
	return d, err
}

// insertDelivery keeps one; what is there under its id stays.
func insertDelivery(tx Tx, d webhook.Delivery) error {
	e := d.Event
	_, err := tx.Exec(`INSERT INTO webhook_delivery (id, webhook_id, user_id, subject_id, kind, run_id, interrupt_id, conversation_id, assistant_id, assistant, happened_at, status, next_at, created_at)
		VALUES (@id, @webhook, @user, @subject, @kind, @run, @interrupt, @conversation, @assistant, @name, @at, 'waiting', @next, @created) ON CONFLICT (id) DO NOTHING`,
		Args{
			"id": d.ID, "webhook": d.EndpointID, "user": d.UserID, "subject": e.UserID, "kind": string(e.Kind), "run": optional(e.RunID), "interrupt": optional(e.InterruptID),
			"conversation": optional(e.ConversationID), "assistant": optional(e.AssistantID), "name": e.Assistant, "at": stamp(e.At), "next": d.NextAt, "created": d.CreatedAt,
		})
	return err
}

// ListDeliveries implements webhook.Deliveries.
func (s *Store) ListDeliveries(ctx context.Context, v identity.Viewer, endpointID, cursor string, limit int) (list []webhook.Delivery, next string, err error) {
	after, err := begin(cursor)
	if err != nil {
		return nil, "", err
	}
	size := pageSize(limit)
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		e, err := s.endpoint(tx, v, endpointID)
		if err != nil {
			return err
		}
		list, err = all(tx, `SELECT `+deliveryColumns+` FROM webhook_delivery d WHERE d.webhook_id = @webhook AND d.user_id = @user AND (d.created_at, d.id) < (@at, @id)
			ORDER BY d.created_at DESC, d.id DESC LIMIT @limit`,
			Args{"webhook": e.ID, "user": e.UserID, "at": after.at, "id": orNil(after.id), "limit": size + 1}, scanDelivery)
		return err
	})
	list, next = cut(list, size, func(d webhook.Delivery) place { return place{d.CreatedAt, d.ID} })
	return list, next, err
}

// AddDelivery implements webhook.Deliveries.
func (s *Store) AddDelivery(ctx context.Context, v identity.Viewer, d webhook.Delivery) (webhook.Delivery, error) {
	err := s.write(ctx, identity.System(), func(tx Tx) error {
		e, err := s.endpoint(tx, v, d.EndpointID)
		if err != nil {
			return err
		}
		if !e.On {
			return webhook.Off()
		}
		d.UserID, d.Status, d.CreatedAt, d.NextAt = e.UserID, webhook.Waiting, s.now(), s.now()
		return insertDelivery(tx, d)
	})
	return d, err
}

// Redeliver implements webhook.Deliveries. One that is being sent now is left alone.
func (s *Store) Redeliver(ctx context.Context, v identity.Viewer, endpointID, id string) (d webhook.Delivery, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		e, err := s.endpoint(tx, v, endpointID)
		if err != nil {
			return err
		}
		if !e.On {
			return webhook.Off()
		}
		args := Args{"id": id, "webhook": e.ID, "user": e.UserID, "now": s.now()}
		n, err := tx.Exec(`UPDATE webhook_delivery SET status = 'waiting', attempts = 0, next_at = @now, lease = NULL, ended_at = NULL
			WHERE id = @id AND webhook_id = @webhook AND user_id = @user AND (lease IS NULL OR status <> 'waiting' OR next_at <= @now)`, args)
		if err != nil {
			return err
		}
		list, err := all(tx, `SELECT `+deliveryColumns+` FROM webhook_delivery d WHERE d.id = @id AND d.webhook_id = @webhook AND d.user_id = @user`, args, scanDelivery)
		if d, err = only(list, err, "delivery"); err == nil && n == 0 {
			err = fault.New(fault.Conflict, "This delivery is being sent right now.").With(map[string]any{"reason": "delivery_under_way"})
		}
		return err
	})
	return d, err
}
