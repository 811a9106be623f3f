package api

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/webhook"
)

// Webhooks are where people and their programs are told of runs.
type Webhooks interface {
	Create(ctx context.Context, v identity.Viewer, n webhook.New) (e webhook.Endpoint, secret string, err error)
	List(ctx context.Context, v identity.Viewer) ([]webhook.Endpoint, error)
	Get(ctx context.Context, v identity.Viewer, id string) (webhook.Endpoint, error)
	Change(ctx context.Context, v identity.Viewer, id string, c webhook.Change) (webhook.Endpoint, error)
	Remove(ctx context.Context, v identity.Viewer, id string) error
	Rotate(ctx context.Context, v identity.Viewer, id string) (secret string, err error)
	Test(ctx context.Context, v identity.Viewer, id string) (webhook.Delivery, error)
	Deliveries(ctx context.Context, v identity.Viewer, id, cursor string, limit int) (list []webhook.Delivery, next string, err error)
	Redeliver(ctx context.Context, v identity.Viewer, id, deliveryID string) (webhook.Delivery, error)
	// Letters is of what the viewer is written, and after how long of a question.
	Letters(ctx context.Context, v identity.Viewer) ([]webhook.Kind, time.Duration, error)
	SetLetters(ctx context.Context, v identity.Viewer, events []webhook.Kind, after time.Duration) error
}

// WebhookMail tells people that a webhook of theirs was made or leads elsewhere.
type WebhookMail interface {
	TellWebhook(ctx context.Context, v identity.Viewer, address string)
}

func (s *server) webhookRoutes() {
	add(s, route("GET /v1/webhooks", "webhooks", "Where programs of mine are told of my runs, and for administrators of everybody's; latest first", scopeWebhooks), s.listWebhooks)
	add(s, route("POST /v1/webhooks", "createWebhook", "A new webhook; its secret is told once. Requests are signed as Standard Webhooks has it", scopeWebhooks), s.createWebhook)
	add(s, route("GET /v1/webhooks/{id}", "webhook", "One of them", scopeWebhooks), s.webhook)
	add(s, route("PATCH /v1/webhooks/{id}", "changeWebhook", "Change it, turn it off or on; what waits for one that is off is not sent any more", scopeWebhooks), s.changeWebhook)
	add(s, route("DELETE /v1/webhooks/{id}", "removeWebhook", "Remove it, with the list of its deliveries", scopeWebhooks), s.removeWebhook)
	add(s, route("POST /v1/webhooks/{id}/secret", "rotateWebhookSecret", "A new secret, told once; for a day requests are signed with the one before as well", scopeWebhooks), s.rotateWebhook)
	add(s, route("POST /v1/webhooks/{id}/test", "testWebhook", "Have it sent an event webhook.test", scopeWebhooks), s.testWebhook)
	add(s, route("GET /v1/webhooks/{id}/deliveries", "webhookDeliveries", "What it was and is to be told, latest first, for 30 days after", scopeWebhooks), s.webhookDeliveries)
	add(s, route("POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver", "redeliverWebhook", "Have one sent again, under the same webhook-id", scopeWebhooks), s.redeliverWebhook)
	add(s, route("GET /v1/notifications", "notifications", "Of what I get mail", scopeRead), s.notifications)
	add(s, route("PUT /v1/notifications", "setNotifications", "Change it; no events: no mail"), s.setNotifications)
}

// WebhookEndpoint is a webhook without its secret.
type WebhookEndpoint struct {
	ID           string         `json:"id" format:"uuid"`
	URL          string         `json:"url"`
	Description  string         `json:"description"`
	Tenant       bool           `json:"tenant" doc:"told of everybody's runs, and never a word of them"`
	Events       []webhook.Kind `json:"events" doc:"question.waiting, run.done, run.failed"`
	Assistants   []string       `json:"assistants" doc:"ids and names of workflows; empty: all"`
	Enabled      bool           `json:"enabled"`
	Reason       string         `json:"reason" doc:"why it is off: gone (it answered 410), failing (nothing got through for 5 days), key_ended; empty: its person turned it off"`
	ByKey        bool           `json:"by_key" doc:"an access key made it, and it ends with that"`
	FailingSince *time.Time     `json:"failing_since" nullable:"true" doc:"since when nothing gets through; null: it does"`
	CreatedAt    time.Time      `json:"created_at"`
	UpdatedAt    time.Time      `json:"updated_at"`
}

func webhookView(e webhook.Endpoint) WebhookEndpoint {
	out := WebhookEndpoint{
		ID: e.ID, URL: e.URL, Description: e.Description, Tenant: e.TenantID != "", Events: e.Events, Assistants: append([]string{}, e.Assistants...),
		Enabled: e.On && !e.KeyEnded, Reason: e.Reason, ByKey: e.KeyID != "", FailingSince: timeOrNil(e.FailingAt), CreatedAt: e.CreatedAt.UTC(), UpdatedAt: e.UpdatedAt.UTC(),
	}
	if e.KeyEnded {
		out.Reason = "key_ended"
	}
	return out
}

// NewWebhook is a webhook with its secret.
type NewWebhook struct {
	WebhookEndpoint
	Secret string `json:"secret" doc:"whsec_…, for the library that verifies; nobody can read it again"`
}

// WebhookDelivery is an event on its way to a webhook.
type WebhookDelivery struct {
	ID             string         `json:"id" format:"uuid" doc:"the webhook-id of each request"`
	Event          webhook.Kind   `json:"event"`
	RunID          string         `json:"run_id"`
	ConversationID string         `json:"conversation_id"`
	Status         webhook.Status `json:"status" doc:"waiting, sent, failed, skipped"`
	Attempts       int            `json:"attempts"`
	Code           int            `json:"code" doc:"the last status of HTTP; 0: there was no answer"`
	Error          string         `json:"error" doc:"why the last attempt failed: status, timeout, unreachable, closed (this server may not reach it); off, not_allowed, answered of one that was skipped"`
	NextAt         *time.Time     `json:"next_at" nullable:"true" doc:"when it is sent, or again; null: it has ended"`
	HappenedAt     time.Time      `json:"happened_at"`
	CreatedAt      time.Time      `json:"created_at"`
	EndedAt        *time.Time     `json:"ended_at" nullable:"true"`
}

func deliveryView(d webhook.Delivery) WebhookDelivery {
	return WebhookDelivery{
		ID: d.ID, Event: d.Event.Kind, RunID: d.Event.RunID, ConversationID: d.Event.ConversationID, Status: d.Status, Attempts: d.Attempts, Code: d.Code, Error: d.Error,
		NextAt: timeOrNil(d.NextAt), HappenedAt: d.Event.At.UTC(), CreatedAt: d.CreatedAt.UTC(), EndedAt: timeOrNil(d.EndedAt),
	}
}

func (s *server) listWebhooks(ctx context.Context, _ *struct{}) (Page[WebhookEndpoint], error) {
	list, err := s.Webhooks.List(ctx, viewerOf(ctx))
	return page(list, "", webhookView), err
}

type createWebhookInput struct {
	Body struct {
		URL         string         `json:"url" minLength:"1" maxLength:"2000" doc:"https://…; http only for an address of the own network that whoever runs this server allowed"`
		Description string         `json:"description,omitempty" maxLength:"200"`
		Events      []webhook.Kind `json:"events" minItems:"1" maxItems:"10"`
		Assistants  []string       `json:"assistants,omitempty" nullable:"true" maxItems:"50" doc:"ids and names of workflows; missing: all"`
		Tenant      bool           `json:"tenant,omitempty" doc:"for administrators: told of everybody's runs"`
	}
}

// There is no Idempotency-Key: the secret would be kept with the answer.
func (s *server) createWebhook(ctx context.Context, in *createWebhookInput) (NewWebhook, error) {
	v, b := viewerOf(ctx), in.Body
	if err := s.Limits.Spend(ctx, quota.WebhookSends(), v.UserID); err != nil {
		return NewWebhook{}, err
	}
	e, secret, err := s.Webhooks.Create(ctx, v, webhook.New{Tenant: b.Tenant, URL: b.URL, Description: b.Description, Events: b.Events, Assistants: b.Assistants})
	if err != nil {
		return NewWebhook{}, err
	}
	s.WebhookMail.TellWebhook(ctx, v, e.URL)
	return NewWebhook{WebhookEndpoint: webhookView(e), Secret: secret}, nil
}

func (s *server) webhook(ctx context.Context, in *ByID) (WebhookEndpoint, error) {
	e, err := s.Webhooks.Get(ctx, viewerOf(ctx), in.ID)
	return webhookView(e), err
}

type changeWebhookInput struct {
	ByID
	Body struct {
		URL         *string        `json:"url,omitempty" minLength:"1" maxLength:"2000"`
		Description *string        `json:"description,omitempty" maxLength:"200"`
		Events      []webhook.Kind `json:"events,omitempty" nullable:"true" minItems:"1" maxItems:"10"`
		Assistants  *[]string      `json:"assistants,omitempty" maxItems:"50"`
		Enabled     *bool          `json:"enabled,omitempty"`
	}
}

func (s *server) changeWebhook(ctx context.Context, in *changeWebhookInput) (WebhookEndpoint, error) {
	v, b := viewerOf(ctx), in.Body
	before, err := s.Webhooks.Get(ctx, v, in.ID)
	if err != nil {
		return WebhookEndpoint{}, err
	}
	e, err := s.Webhooks.Change(ctx, v, in.ID, webhook.Change{URL: b.URL, Description: b.Description, Events: b.Events, Assistants: b.Assistants, On: b.Enabled})
	if err == nil && e.URL != before.URL {
		s.WebhookMail.TellWebhook(ctx, v, e.URL)
	}
	return webhookView(e), err
}

func (s *server) removeWebhook(ctx context.Context, in *ByID) (Nothing, error) {
	return Nothing{}, s.Webhooks.Remove(ctx, viewerOf(ctx), in.ID)
}

// WebhookSecret is a secret, the one time it is told.
type WebhookSecret struct {
	Secret string `json:"secret"`
}

func (s *server) rotateWebhook(ctx context.Context, in *ByID) (WebhookSecret, error) {
	secret, err := s.Webhooks.Rotate(ctx, viewerOf(ctx), in.ID)
	return WebhookSecret{secret}, err
}

func (s *server) testWebhook(ctx context.Context, in *ByID) (WebhookDelivery, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, quota.WebhookSends(), v.UserID); err != nil {
		return WebhookDelivery{}, err
	}
	d, err := s.Webhooks.Test(ctx, v, in.ID)
	return deliveryView(d), err
}

type webhookDeliveriesInput struct {
	ByID
	Paged
}

func (s *server) webhookDeliveries(ctx context.Context, in *webhookDeliveriesInput) (Page[WebhookDelivery], error) {
	list, next, err := s.Webhooks.Deliveries(ctx, viewerOf(ctx), in.ID, in.Cursor, in.Limit)
	return page(list, next, deliveryView), err
}

type redeliverInput struct {
	ByID
	DeliveryID string `path:"delivery_id" format:"uuid"`
}

func (s *server) redeliverWebhook(ctx context.Context, in *redeliverInput) (WebhookDelivery, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, quota.WebhookSends(), v.UserID); err != nil {
		return WebhookDelivery{}, err
	}
	d, err := s.Webhooks.Redeliver(ctx, v, in.ID, in.DeliveryID)
	return deliveryView(d), err
}

// Notifications are of what a person gets mail.
type Notifications struct {
	Events       []webhook.Kind `json:"events" doc:"question.waiting, run.done, run.failed; empty: none"`
	AfterMinutes int            `json:"after_minutes" minimum:"0" maximum:"1440" doc:"how long a question waits before a mail about it"`
}

func (s *server) notifications(ctx context.Context, _ *struct{}) (Notifications, error) {
	events, after, err := s.Webhooks.Letters(ctx, viewerOf(ctx))
	return Notifications{Events: append([]webhook.Kind{}, events...), AfterMinutes: int(after / time.Minute)}, err
}

type notificationsInput struct {
	Body struct {
		Events       []webhook.Kind `json:"events" maxItems:"10"`
		AfterMinutes int            `json:"after_minutes" minimum:"0" maximum:"1440"`
	}
}

func (s *server) setNotifications(ctx context.Context, in *notificationsInput) (Notifications, error) {
	if err := s.Webhooks.SetLetters(ctx, viewerOf(ctx), in.Body.Events, time.Duration(in.Body.AfterMinutes)*time.Minute); err != nil {
		return Notifications{}, err
	}
	return s.notifications(ctx, nil)
}
