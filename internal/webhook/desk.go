package webhook

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/vault"
)

// DeskOptions are what a desk stands on; all are required.
type DeskOptions struct {
	Endpoints  Endpoints
	Deliveries Deliveries
	Vault      *vault.Vault
	// Reaches says why an address cannot be reached from here; nil: it may be, as far
	// as that is known before it is dialled.
	Reaches func(u *url.URL) error
	Now     func() time.Time
}

// Desk is what people do with webhooks. It is safe for concurrent use.
type Desk struct{ o DeskOptions }

// NewDesk makes one.
func NewDesk(o DeskOptions) *Desk { return &Desk{o} }

// New is an endpoint somebody wants.
type New struct {
	Tenant      bool
	URL         string
	Description string
	Events      []Kind
	Assistants  []string
}

// Change is what to change of an endpoint; nil leaves a field as it is.
type Change struct {
	URL, Description *string
	Events           []Kind
	Assistants       *[]string
	On               *bool
}

func invalid(field, sentence string, args ...any) error {
	return fault.New(fault.Invalid, sentence, args...).With(map[string]any{"field": field})
}

// Create keeps an endpoint and gives its secret, which nobody is told again.
func (d *Desk) Create(ctx context.Context, v identity.Viewer, n New) (Endpoint, string, error) {
	e := Endpoint{
		ID: id.New(), UserID: v.UserID, Channel: HTTP, URL: n.URL, Description: n.Description,
		Events: n.Events, Assistants: n.Assistants, On: true, KeyID: v.KeyID(),
	}
	if n.Tenant && !v.IsAdmin() {
		return e, "", fault.New(fault.Forbidden, "Only administrators are told of everybody's runs.")
	}
	if n.Tenant {
		e.TenantID = v.TenantID
	}
	if err := d.check(v, &e); err != nil {
		return e, "", err
	}
	secret := newSecret()
	var err error
	if e.Sealed, err = seal(d.o.Vault, e.ID, secrets{Now: secret}); err != nil {
		return e, "", err
	}
	e, err = d.o.Endpoints.CreateEndpoint(ctx, v, e)
	return e, secret, err
}

// check refuses an endpoint that cannot be, or that an access key is not for.
func (d *Desk) check(v identity.Viewer, e *Endpoint) error {
	u, err := url.Parse(strings.TrimSpace(e.URL))
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return invalid("url", "The address must be a URL as https://example.org/hooks, without a name and password.")
	case u.Scheme == "http" && !inside(u.Hostname()):
		return invalid("url", "The address must begin with https: what is sent there is readable on the way otherwise. An address of your own network as http://10.0.0.5:5678/ may do without.")
	}
	u.Fragment, u.RawFragment = "", ""
	e.URL = u.String()
	if err := d.o.Reaches(u); err != nil {
		return err
	}
	if len(e.Events) == 0 {
		return invalid("events", "Name at least one event: question.waiting, run.done or run.failed.")
	}
	for _, k := range e.Events {
		if !slices.Contains(Kinds(), k) {
			return invalid("events", "There is no event %q; there are question.waiting, run.done and run.failed.", string(k))
		}
	}
	slices.Sort(e.Events)
	e.Events = slices.Compact(e.Events)
	return granted(v, e.Assistants)
}

// granted refuses assistants that an access key is not for.
func granted(v identity.Viewer, assistants []string) error {
	if v.Grant == nil || len(v.Grant.Assistants) == 0 {
		return nil
	}
	if len(assistants) == 0 {
		return fault.New(fault.Forbidden, "This access key is for some assistants only: name those the webhook is about.").With(map[string]any{"field": "assistants"})
	}
	for _, a := range assistants {
		if !slices.Contains(v.Grant.Assistants, a) {
			return fault.New(fault.Forbidden, "This access key is not for the assistant %q.", a).With(map[string]any{"field": "assistants"})
		}
	}
	return nil
}

// inside reports whether a host is written as an address of an own network.
func inside(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && (a.Unmap().IsPrivate() || a.Unmap().IsLoopback())
}

// List lists the viewer's, and for an administrator the tenant's.
func (d *Desk) List(ctx context.Context, v identity.Viewer) ([]Endpoint, error) {
	return d.o.Endpoints.Endpoints(ctx, v)
}

// Get gives one.
func (d *Desk) Get(ctx context.Context, v identity.Viewer, id string) (Endpoint, error) {
	return d.o.Endpoints.Endpoint(ctx, v, id)
}

// Change changes one. Whoever turns it on begins anew with its failures.
func (d *Desk) Change(ctx context.Context, v identity.Viewer, id string, c Change) (Endpoint, error) {
	return d.o.Endpoints.ChangeEndpoint(ctx, v, id, func(e *Endpoint) error {
		if c.URL != nil {
			e.URL = *c.URL
		}
		if c.Description != nil {
			e.Description = *c.Description
		}
		if c.Events != nil {
			e.Events = c.Events
		}
		if c.Assistants != nil {
			e.Assistants = *c.Assistants
		}
		if c.On != nil {
			e.On, e.Reason, e.FailingAt = *c.On, "", time.Time{}
		}
		return d.check(v, e)
	})
}

// Remove forgets one.
func (d *Desk) Remove(ctx context.Context, v identity.Viewer, id string) error {
	return d.o.Endpoints.RemoveEndpoint(ctx, v, id)
}

// Rotate makes a new secret. For OverlapFor requests are signed with the one before
// as well, so that a receiver misses none.
func (d *Desk) Rotate(ctx context.Context, v identity.Viewer, id string) (secret string, err error) {
	secret = newSecret()
	_, err = d.o.Endpoints.ChangeEndpoint(ctx, v, id, func(e *Endpoint) error {
		kept := secrets{Now: secret}
		if before, err := open(d.o.Vault, *e); err == nil {
			kept.Before, kept.Until = before.Now, d.o.Now().Add(OverlapFor)
		}
		var err error
		e.Sealed, err = seal(d.o.Vault, e.ID, kept)
		return err
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Test has an event sent that means nothing.
func (d *Desk) Test(ctx context.Context, v identity.Viewer, endpointID string) (Delivery, error) {
	return d.o.Deliveries.AddDelivery(ctx, v, Delivery{
		ID: id.New(), EndpointID: endpointID, Event: Event{Kind: Test, UserID: v.UserID, At: d.o.Now()},
	})
}

// Deliveries lists what an endpoint was told.
func (d *Desk) Deliveries(ctx context.Context, v identity.Viewer, endpointID, cursor string, limit int) ([]Delivery, string, error) {
	return d.o.Deliveries.ListDeliveries(ctx, v, endpointID, cursor, limit)
}

// Redeliver has one sent again, under its id.
func (d *Desk) Redeliver(ctx context.Context, v identity.Viewer, endpointID, id string) (Delivery, error) {
	return d.o.Deliveries.Redeliver(ctx, v, endpointID, id)
}

// Letters is what the viewer is written of, and after how long a question.
func (d *Desk) Letters(ctx context.Context, v identity.Viewer) ([]Kind, time.Duration, error) {
	e, err := d.o.Endpoints.Letters(ctx, v)
	return e.Events, e.After, err
}

// SetLetters changes it; without events nothing is written any more.
func (d *Desk) SetLetters(ctx context.Context, v identity.Viewer, events []Kind, after time.Duration) error {
	for _, k := range events {
		if !slices.Contains(Kinds(), k) {
			return invalid("events", "There is no event %q; there are question.waiting, run.done and run.failed.", string(k))
		}
	}
	if after < 0 || after > MaxAfter {
		return invalid("after_minutes", "A letter about a question is written after at most %d minutes.", int(MaxAfter.Minutes()))
	}
	events = slices.Clone(events)
	slices.Sort(events)
	return d.o.Endpoints.SetLetters(ctx, v, Endpoint{
		ID: id.Derive("letters", v.UserID), UserID: v.UserID, Channel: Mail, Events: slices.Compact(events), After: after.Truncate(time.Minute), On: true,
	})
}

// Unreachable is the refusal where nothing is reached from here.
func Unreachable() error {
	return fault.New(fault.Internal, "This server reaches no other: whoever runs it sets LIMINAL_WEB_ALLOW.").With(map[string]any{"reason": fault.NotConfigured})
}

// Off is the refusal of an endpoint that is off, for stores.
func Off() error {
	return fault.New(fault.Conflict, "This webhook is off. Turn it on first.").With(map[string]any{"reason": "webhook_off"})
}

// TooMany is the refusal of one more than Most, for stores.
func TooMany() error {
	return fault.New(fault.Conflict, "There are %d webhooks, which is the most. Remove one first.", Most).With(map[string]any{"reason": "too_many_webhooks"})
}
