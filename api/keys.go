package api

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

func (s *server) keyRoutes() {
	add(s, route("GET /v1/keys", "listKeys", "My access keys, latest first; their text is not kept"), s.listKeys)
	add(s, route("POST /v1/keys", "createKey", "A new access key for a program, told once; in a session signed in within the hour"), s.createKey)
	add(s, route("DELETE /v1/keys/{id}", "revokeKey", "End an access key, at once and with the runs that were begun with it"), s.revokeKey)
}

// AccessKey is an access key without its text.
type AccessKey struct {
	ID         string     `json:"id" format:"uuid"`
	Name       string     `json:"name"`
	Scopes     []string   `json:"scopes" doc:"what it opens; tools:files.* is some tools"`
	Audience   string     `json:"audience" doc:"mcp: of a program that signed me in, and good at /mcp only; empty: good for all of the API"`
	Assistants []string   `json:"assistants" doc:"ids and names of workflows it may run; empty: all I may"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
	UsedAt     *time.Time `json:"used_at" nullable:"true" doc:"to a minute; null: never"`
	RevokedAt  *time.Time `json:"revoked_at" nullable:"true" doc:"null: it was not ended"`
	Ended      bool       `json:"ended" doc:"it opens nothing any more"`
}

func (s *server) keyView(k identity.Key) AccessKey {
	return AccessKey{
		ID: k.ID, Name: k.Name, Scopes: k.ScopesOf(), Audience: k.Audience, Assistants: append([]string{}, k.Assistants...),
		CreatedAt: k.CreatedAt.UTC(), ExpiresAt: k.ExpiresAt.UTC(), UsedAt: timeOrNil(k.UsedAt), RevokedAt: timeOrNil(k.RevokedAt),
		Ended: k.Ended(s.Now()),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (s *server) keys() (AccessKeys, error) {
	if s.Keys == nil {
		return nil, fault.New(fault.Conflict, "This server keeps no access keys.")
	}
	return s.Keys, nil
}

func (s *server) listKeys(ctx context.Context, _ *struct{}) (Page[AccessKey], error) {
	keys, err := s.keys()
	if err != nil {
		return Page[AccessKey]{}, err
	}
	list, err := keys.ListKeys(ctx, viewerOf(ctx))
	if err != nil {
		return Page[AccessKey]{}, err
	}
	return page(list, "", s.keyView), nil
}

type createKeyInput struct {
	Body struct {
		Name         string   `json:"name" minLength:"1" maxLength:"80" doc:"what it is for"`
		Scopes       []string `json:"scopes" minItems:"1" maxItems:"60" doc:"chat, read, write, tools, tools:PREFIX.*, artifacts, propose, mcp, webhooks; admin for administrators"`
		Assistants   []string `json:"assistants,omitempty" nullable:"true" maxItems:"50" doc:"ids and names of workflows it may run; missing: all I may"`
		Days         int      `json:"expires_in_days,omitempty" minimum:"1" maximum:"366" doc:"90 when missing"`
		Code         string   `json:"code,omitempty" doc:"six digits of the authenticator, for an account that has one"`
		RecoveryCode string   `json:"recovery_code,omitempty" doc:"instead of code"`
	}
}

// NewAccessKey is a key with its text.
type NewAccessKey struct {
	AccessKey
	Key string `json:"key" doc:"the key itself; nobody can read it again"`
}

func (s *server) createKey(ctx context.Context, in *createKeyInput) (NewAccessKey, error) {
	keys, err := s.keys()
	if err != nil {
		return NewAccessKey{}, err
	}
	v, b := viewerOf(ctx), in.Body
	if err := s.Limits.Spend(ctx, quota.SignIn(), v.UserID); err != nil { // codes are guessed here as at a sign-in
		return NewAccessKey{}, err
	}
	k, text, err := keys.CreateKey(ctx, v, identity.NewKey{
		Name: b.Name, Scopes: b.Scopes, Assistants: b.Assistants, Life: time.Duration(b.Days) * 24 * time.Hour,
		Proof: identity.Proof{Code: b.Code, Recovery: b.RecoveryCode},
	})
	if err != nil {
		return NewAccessKey{}, err
	}
	return NewAccessKey{AccessKey: s.keyView(k), Key: text}, nil
}

type revokeKeyInput struct {
	ID string `path:"id" format:"uuid"`
}

func (s *server) revokeKey(ctx context.Context, in *revokeKeyInput) (Nothing, error) {
	keys, err := s.keys()
	if err != nil {
		return Nothing{}, err
	}
	return Nothing{}, keys.RevokeKey(ctx, viewerOf(ctx), in.ID)
}
