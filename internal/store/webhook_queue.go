package store

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/webhook"
)

var _ webhook.Queue = (*Store)(nil)

const (
	// couriers is the one lock of endpoints and what they are told: whoever changes
	// several rows of them holds it, so that no two wait for each other. Turns never do.
	couriers = "webhook couriers"
	// perEndpoint and perPerson are how many deliveries of one endpoint, and of one
	// person, are sent at a time: whoever is slow holds up themselves.
	perEndpoint, perPerson = 2, 4
	// looked is how many due deliveries one claim looks at.
	looked = 200
)

func onlyCouriers(v identity.Viewer) error {
	if v.IsSystem() {
		return nil
	}
	return fault.New(fault.Forbidden, "Only the system sends what webhooks are told.")
}

// Due implements webhook.Queue.
func (s *Store) Due(ctx context.Context, v identity.Viewer) (due bool, err error) {
	if err := onlyCouriers(v); err != nil {
		return false, err
	}
	err = s.read(ctx, v, func(tx Tx) error {
		var one int
		if due, err = first(tx, `SELECT 1 FROM webhook_event WHERE id > @none ORDER BY id LIMIT 1`, Args{"none": nobody}, &one); err != nil || due {
			return err
		}
		due, err = first(tx, `SELECT 1 FROM webhook_delivery WHERE status = 'waiting' AND next_at <= @now ORDER BY next_at, id LIMIT 1`, Args{"now": s.now()}, &one)
		return err
	})
	return due, err
}

// Spread implements webhook.Queue.
func (s *Store) Spread(ctx context.Context, v identity.Viewer, limit int) (n int, err error) {
	if err := onlyCouriers(v); err != nil {
		return 0, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		n = 0
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		events, err := all(tx, `SELECT id, user_id, kind, run_id, interrupt_id, conversation_id, assistant_id, assistant, happened_at FROM webhook_event WHERE id > @none ORDER BY id LIMIT @limit`,
			Args{"none": nobody, "limit": limit}, func(scan Scan) (e webhook.Event, err error) {
				err = scan(&e.ID, &e.UserID, &e.Kind, &e.RunID, text{&e.InterruptID}, text{&e.ConversationID}, text{&e.AssistantID}, &e.Assistant, when{&e.At})
				return e, err
			})
		if err != nil || len(events) == 0 {
			return err
		}
		ids := make([]string, len(events))
		for i, e := range events {
			ids[i] = e.ID
			if err := s.spread(tx, e); err != nil {
				return err
			}
		}
		args := Args{}
		_, err = tx.Exec(`DELETE FROM webhook_event WHERE id IN `+args.in("id", ids), args)
		n = len(events)
		return err
	})
	return n, err
}

// spread makes the deliveries of an event. Their ids come of it and the endpoint, so
// that doing it twice makes one.
func (s *Store) spread(tx Tx, e webhook.Event) error {
	own, err := all(tx, `SELECT `+webhookColumns+` FROM webhook w WHERE w.user_id = @user AND w.tenant_id IS NULL AND w.enabled`, Args{"user": e.UserID, "now": s.now()}, scanWebhook)
	if err != nil {
		return err
	}
	tenants, err := all(tx, `SELECT `+webhookColumns+` FROM webhook w
		WHERE w.enabled AND w.tenant_id = (SELECT u.tenant_id FROM app_user u WHERE u.id = @user)`, Args{"user": e.UserID, "now": s.now()}, scanWebhook)
	if err != nil {
		return err
	}
	for _, w := range append(own, tenants...) {
		if w.KeyEnded || !slices.Contains(w.Events, e.Kind) ||
			len(w.Assistants) > 0 && !slices.Contains(w.Assistants, e.AssistantID) && !slices.Contains(w.Assistants, e.Assistant) {
			continue
		}
		d := webhook.Delivery{ID: id.Derive("delivery", e.ID, w.ID), EndpointID: w.ID, UserID: w.UserID, Event: e, CreatedAt: s.now(), NextAt: s.now()}
		if w.Channel == webhook.Mail && e.Kind == webhook.QuestionWaiting {
			d.NextAt = e.At.Add(w.After)
		}
		if err := insertDelivery(tx, d); err != nil {
			return err
		}
	}
	return nil
}

// Claim implements webhook.Queue. A lease is a time at which the delivery is due
// again; the attempt counts from here on, so that one which kills its courier each
// time comes to an end as well.
func (s *Store) Claim(ctx context.Context, v identity.Viewer, n int, lease time.Duration) (jobs []webhook.Job, err error) {
	if err := onlyCouriers(v); err != nil {
		return nil, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		jobs = nil
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		now := s.now()
		endpoints, people, err := busy(tx, now)
		if err != nil {
			return err
		}
		args := Args{"now": now, "limit": looked}
		due, err := all(tx, `SELECT d.id, d.webhook_id, d.user_id FROM webhook_delivery d WHERE d.status = 'waiting' AND d.next_at <= @now
			AND d.webhook_id NOT IN `+args.in("w", full(endpoints, perEndpoint))+` AND d.user_id NOT IN `+args.in("u", full(people, perPerson))+`
			ORDER BY d.next_at, d.id LIMIT @limit`, args, func(scan Scan) (d webhook.Delivery, err error) {
			err = scan(&d.ID, &d.EndpointID, &d.UserID)
			return d, err
		})
		if err != nil {
			return err
		}
		for _, d := range due {
			if len(jobs) == n {
				break
			}
			if endpoints[d.EndpointID] >= perEndpoint || people[d.UserID] >= perPerson {
				continue
			}
			endpoints[d.EndpointID]++
			people[d.UserID]++
			j, err := s.claim(tx, d.ID, now.Add(lease))
			if err != nil {
				return err
			}
			jobs = append(jobs, j)
		}
		return nil
	})
	return jobs, err
}

// busy counts what is being sent, by endpoint and by person.
func busy(tx Tx, now time.Time) (endpoints, people map[string]int, err error) {
	endpoints, people = map[string]int{}, map[string]int{}
	err = tx.Query(`SELECT webhook_id, user_id FROM webhook_delivery WHERE lease IS NOT NULL AND next_at > @now`, Args{"now": now}, func(scan Scan) error {
		var endpoint, person string
		err := scan(&endpoint, &person)
		endpoints[endpoint]++
		people[person]++
		return err
	})
	return endpoints, people, err
}

// full are those that have no room; where there is none it is nobody's id, since
// nothing is unlike NULL.
func full(counts map[string]int, most int) []string {
	list := []string{nobody}
	for id, n := range counts {
		if n >= most {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}

func (s *Store) claim(tx Tx, deliveryID string, until time.Time) (j webhook.Job, err error) {
	args := Args{"id": deliveryID, "lease": id.New(), "until": until, "now": s.now()}
	if _, err := tx.Exec(`UPDATE webhook_delivery SET lease = @lease, next_at = @until, attempts = attempts + 1 WHERE id = @id`, args); err != nil {
		return j, err
	}
	var minutes, ended int64
	dest := slices.Concat(deliveryDest(&j.Delivery), webhookDest(&j.Endpoint, &minutes, &ended), userDest(&j.Person))
	_, err = first(tx, `SELECT `+deliveryColumns+`, `+webhookColumns+`, `+userColumns+` FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id
		JOIN app_user u ON u.id = d.user_id LEFT JOIN user_settings t ON t.user_id = u.id WHERE d.id = @id`, args, dest...)
	j.Endpoint.After, j.Endpoint.KeyEnded = time.Duration(minutes)*time.Minute, ended == 1
	return j, err
}

// Subject implements webhook.Queue.
func (s *Store) Subject(ctx context.Context, v identity.Viewer, e webhook.Event) (t webhook.Subject, err error) {
	if err := onlyCouriers(v); err != nil {
		return t, err
	}
	err = s.read(ctx, v, func(tx Tx) error {
		t = webhook.Subject{}
		if e.InterruptID != "" {
			list, err := all(tx, `SELECT `+interruptColumns+` FROM interrupt WHERE id = @id AND user_id = @user`, Args{"id": e.InterruptID, "user": e.UserID}, scanInterrupt)
			if err == nil && len(list) == 1 {
				t.Question = &list[0]
			}
			return err
		}
		var failure struct {
			Code string `json:"code"`
		}
		var doc json.RawMessage
		_, err := first(tx, `SELECT error FROM run WHERE id = @id AND user_id = @user`, Args{"id": e.RunID, "user": e.UserID}, decode{&doc})
		if err == nil && doc != nil {
			_ = json.Unmarshal(doc, &failure) // of another form: no code
		}
		t.Code = failure.Code
		return err
	})
	return t, err
}

// Settle implements webhook.Queue.
func (s *Store) Settle(ctx context.Context, v identity.Viewer, j webhook.Job, o webhook.Outcome) (off bool, err error) {
	if err := onlyCouriers(v); err != nil {
		return false, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		off = false
		if err := tx.Lock(couriers); err != nil {
			return err
		}
		now := s.now()
		var ended any
		if o.Status != webhook.Waiting {
			ended = now
		}
		n, err := tx.Exec(`UPDATE webhook_delivery SET status = @status, code = @code, error = @error, next_at = @next, lease = NULL, ended_at = @ended
			WHERE id = @id AND lease = @lease AND status = 'waiting'`,
			Args{"id": j.ID, "lease": j.Lease, "status": string(o.Status), "code": o.Code, "error": o.Error, "next": moment(o.NextAt), "ended": ended})
		if err != nil || n == 0 || o.Status == webhook.Skipped || j.Endpoint.Channel == webhook.Mail {
			return err
		}
		off, err = s.health(tx, j.EndpointID, o, now)
		return err
	})
	return off, err
}

// health writes since when nothing gets through to an endpoint, and turns off one
// that is gone or has been failing for long.
func (s *Store) health(tx Tx, endpointID string, o webhook.Outcome, now time.Time) (off bool, err error) {
	args := Args{"id": endpointID, "now": now}
	if o.Status == webhook.Sent {
		_, err := tx.Exec(`UPDATE webhook SET failing_since = NULL WHERE id = @id AND failing_since IS NOT NULL`, args)
		return false, err
	}
	list, err := all(tx, `SELECT `+webhookColumns+` FROM webhook w WHERE w.id = @id`, args, scanWebhook)
	if err != nil || len(list) == 0 || !list[0].On {
		return false, err
	}
	e := list[0]
	if e.FailingAt.IsZero() {
		e.FailingAt = now
	}
	switch {
	case o.Gone:
		e.On, e.Reason = false, webhook.Gone
	case o.Status == webhook.Failed && now.Sub(e.FailingAt) >= webhook.FailingFor:
		e.On, e.Reason = false, webhook.Failing
	}
	e.UpdatedAt = now
	return !e.On, updateWebhook(tx, e)
}

// Prune implements webhook.Queue.
func (s *Store) Prune(ctx context.Context, v identity.Viewer, before time.Time) (n int, err error) {
	if err := onlyCouriers(v); err != nil {
		return 0, err
	}
	err = s.write(ctx, v, func(tx Tx) error {
		gone, err := tx.Exec(`DELETE FROM webhook_delivery WHERE ended_at < @before`, Args{"before": stamp(before)})
		n = int(gone)
		return err
	})
	return n, err
}
