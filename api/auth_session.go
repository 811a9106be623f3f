package api

import (
	"context"
	"time"

	"liminal/internal/identity"
)

func (s *server) sessionRoutes() {
	add(s, route("GET /v1/auth/sessions", "listSessions", "Where this account is signed in"), s.listSessions)
	add(s, route("DELETE /v1/auth/sessions", "endOtherSessions", "End every sign-in but this one"), s.endOtherSessions)
	add(s, route("DELETE /v1/auth/sessions/{id}", "endSession", "End one sign-in"), s.endSession)
}

// SignedInOn is a device that is signed in.
type SignedInOn struct {
	ID         string    `json:"id" format:"uuid" doc:"of the sign-in; stays when its session_id changes"`
	Client     string    `json:"client" enum:"web,mobile"`
	UserAgent  string    `json:"user_agent"`
	Address    string    `json:"address"`
	SignedInAt time.Time `json:"signed_in_at"`
	UsedAt     time.Time `json:"used_at" doc:"when its tokens were made or refreshed last"`
	ExpiresAt  time.Time `json:"expires_at"`
	Current    bool      `json:"current" doc:"this request's own"`
}

func (s *server) listSessions(ctx context.Context, _ *struct{}) (Page[SignedInOn], error) {
	list, own, err := s.Devices.Sessions(ctx, viewerOf(ctx))
	if err != nil {
		return Page[SignedInOn]{}, err
	}
	return page(list, "", func(n identity.Session) SignedInOn {
		return SignedInOn{
			ID: n.FamilyID, Client: n.Client, UserAgent: n.UserAgent, Address: n.Address, SignedInAt: n.SignedInAt.UTC(),
			UsedAt: n.UsedAt.UTC(), ExpiresAt: n.ExpiresAt.UTC(), Current: n.FamilyID == own,
		}
	}), nil
}

func (s *server) endOtherSessions(ctx context.Context, _ *struct{}) (Nothing, error) {
	return Nothing{}, s.Devices.EndOtherSessions(ctx, viewerOf(ctx))
}

type endSessionInput struct {
	ID string `path:"id" format:"uuid"`
}

func (s *server) endSession(ctx context.Context, in *endSessionInput) (Nothing, error) {
	return Nothing{}, s.Devices.EndSession(ctx, viewerOf(ctx), in.ID)
}
