package api

import (
	"context"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
	"liminal/internal/sharing"
)

func (s *server) shareRoutes() {
	add(s, route("POST /v1/shares", "createShare", "Share a context, a document set or an artifact of mine with a person or the tenant; again: what they may"), s.createShare)
	add(s, route("GET /v1/shares", "listShares", "What I share and with whom, or what others share with me; latest first", scopeRead), s.listShares)
	add(s, route("DELETE /v1/shares/{id}", "deleteShare", "Take a share back, at once; or let go of what is shared with me alone"), s.deleteShare)
}

// Share is one thing shared with one person, or with everybody of a tenant.
type Share struct {
	ID        string       `json:"id" format:"uuid"`
	Kind      string       `json:"kind" enum:"context,document_set,artifact"`
	ObjectID  string       `json:"object_id" format:"uuid" doc:"of the context, the set or the artifact"`
	Name      string       `json:"name" doc:"of it"`
	Owner     SharedPerson `json:"owner" doc:"whose it is"`
	Write     bool         `json:"write" doc:"they may add: documents of their own to a context, versions to an artifact"`
	CreatedAt time.Time    `json:"created_at"`

	With Nullable[SharedPerson] `json:"with" doc:"null: everybody of the tenant"`
}

// SharedPerson is somebody at the other end of a share.
type SharedPerson struct {
	ID     string `json:"id" format:"uuid"`
	Email  string `json:"email"`
	Handle string `json:"handle"`
}

var shareKinds = map[sharing.Kind]string{sharing.Context: "context", sharing.Set: "document_set", sharing.Artifact: "artifact"}

func shareView(n sharing.Named) Share {
	out := Share{
		ID: n.ID, Kind: shareKinds[n.Kind], ObjectID: n.ObjectID, Name: n.Name, Owner: SharedPerson(n.Owner), Write: n.Write, CreatedAt: n.CreatedAt.UTC(),
	}
	if n.GranteeID != "" {
		with := SharedPerson(n.Grantee)
		out.With = Nullable[SharedPerson]{&with}
	}
	return out
}

// shared names what a request is about: one of the three.
func shared(contextID, setID, artifactID string) (kind sharing.Kind, objectID string, err error) {
	for k, one := range map[sharing.Kind]string{sharing.Context: contextID, sharing.Set: setID, sharing.Artifact: artifactID} {
		if one == "" {
			continue
		}
		if objectID != "" {
			return "", "", fault.New(fault.Invalid, "Name one thing: a context, a document set or an artifact.").With(map[string]any{"field": "context_id"})
		}
		kind, objectID = k, one
	}
	return kind, objectID, nil
}

type createShareInput struct {
	Body struct {
		Context  string `json:"context_id,omitempty" format:"uuid"`
		Set      string `json:"document_set_id,omitempty" format:"uuid"`
		Artifact string `json:"artifact_id,omitempty" format:"uuid"`
		With     string `json:"with,omitempty" maxLength:"320" doc:"the address or the name of a person of the tenant, exactly as it is"`
		Everyone bool   `json:"everyone,omitempty" doc:"everybody of the tenant, in place of with"`
		Write    bool   `json:"write,omitempty" doc:"they may add, too; of a set they may not"`
	}
}

// findPeople is the rule against finding out who has an account by sharing with
// every name there could be.
func findPeople() quota.Rule { return quota.Rule{Name: "share.find", Burst: 30, Per: time.Hour} }

func (s *server) createShare(ctx context.Context, in *createShareInput) (Share, error) {
	v, b := viewerOf(ctx), in.Body
	kind, objectID, err := shared(b.Context, b.Set, b.Artifact)
	switch {
	case err != nil:
		return Share{}, err
	case objectID == "":
		return Share{}, invalidField("context_id", "Say what to share: a context, a document set or an artifact.")
	case (b.With == "") == !b.Everyone:
		return Share{}, invalidField("with", "Say with whom: the address or the name of a person, or everyone.")
	case kind == sharing.Set && b.Write:
		return Share{}, invalidField("write", "A document set is shared to read; share the context to have documents added.")
	}
	h := sharing.Share{Kind: kind, ObjectID: objectID, Write: b.Write, TenantID: v.TenantID}
	if !b.Everyone {
		who, err := s.grantee(ctx, v, h, b.With)
		if err != nil {
			return Share{}, err
		}
		h.GranteeID, h.TenantID = who.ID, ""
	}
	put, err := s.Shares.PutShare(ctx, v, h)
	if err != nil {
		return Share{}, err
	}
	list, _, err := s.Shares.ListShares(ctx, v, sharing.Filter{Kind: kind, ObjectID: objectID, Limit: 100})
	for _, n := range list {
		if n.ID == put.ID {
			return shareView(n), err
		}
	}
	return shareView(sharing.Named{Share: put}), err
}

// grantee finds the person to share with. What is to be shared is looked at first:
// who shares nothing finds nobody.
func (s *server) grantee(ctx context.Context, v identity.Viewer, h sharing.Share, exact string) (sharing.Person, error) {
	if err := s.Shares.MayShare(ctx, v, h.Kind, h.ObjectID); err != nil {
		return sharing.Person{}, err
	}
	if err := s.Limits.Spend(ctx, findPeople(), v.UserID); err != nil {
		return sharing.Person{}, err
	}
	who, err := s.Shares.FindPerson(ctx, v, exact)
	if err == nil && who.ID == v.UserID {
		err = invalidField("with", "It is yours already.")
	}
	return who, err
}

type listSharesInput struct {
	Paged
	Received bool   `query:"received" doc:"what others share with me, instead of what I share"`
	Context  string `query:"context_id" format:"uuid" doc:"only of this context"`
	Set      string `query:"document_set_id" format:"uuid"`
	Artifact string `query:"artifact_id" format:"uuid"`
}

func (s *server) listShares(ctx context.Context, in *listSharesInput) (Page[Share], error) {
	kind, objectID, err := shared(in.Context, in.Set, in.Artifact)
	if err != nil {
		return Page[Share]{}, err
	}
	list, next, err := s.Shares.ListShares(ctx, viewerOf(ctx), sharing.Filter{Received: in.Received, Kind: kind, ObjectID: objectID, Cursor: in.Cursor, Limit: in.Limit})
	return page(list, next, shareView), err
}

func (s *server) deleteShare(ctx context.Context, in *ByID) (Nothing, error) {
	_, err := s.Shares.DropShare(ctx, viewerOf(ctx), in.ID)
	return Nothing{}, err
}
