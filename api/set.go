package api

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/quota"
)

func (s *server) setRoutes() {
	add(s, route("POST /v1/document-sets", "createDocumentSet", "A named list of my documents, tagged as one", scopeWrite), s.createSet)
	add(s, route("GET /v1/document-sets", "listDocumentSets", "My document sets, latest first", scopeRead), s.listSets)
	add(s, route("GET /v1/document-sets/{id}", "documentSet", "One document set with the titles of its documents", scopeRead), s.set)
	add(s, route("PATCH /v1/document-sets/{id}", "changeDocumentSet", "Rename it, or give it other documents", scopeWrite), s.changeSet)
	add(s, route("DELETE /v1/document-sets/{id}", "deleteDocumentSet", "Delete a set; its documents stay", scopeWrite), s.deleteSet)
}

// DocumentSet is a named list of documents (G-05).
type DocumentSet struct {
	ID        string    `json:"id" format:"uuid"`
	Title     string    `json:"title"`
	Documents []string  `json:"document_ids"`
	OwnerID   string    `json:"owner_id" format:"uuid" doc:"another's than mine: they share it with me"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func setView(n knowledge.Set) DocumentSet {
	out := DocumentSet{ID: n.ID, OwnerID: n.UserID, Title: n.Title, Documents: n.Documents, CreatedAt: n.CreatedAt.UTC(), UpdatedAt: n.UpdatedAt.UTC()}
	if out.Documents == nil {
		out.Documents = []string{}
	}
	return out
}

// OneDocumentSet is a set with the titles of its documents.
type OneDocumentSet struct {
	DocumentSet
	Titles []DocumentTitle `json:"documents"`
}

func (s *server) oneSet(ctx context.Context, v identity.Viewer, n knowledge.Set) (OneDocumentSet, error) {
	list, err := s.Titles.DocumentsByID(ctx, v, n.Documents)
	return OneDocumentSet{setView(n), page(list, "", titleView).Data}, err
}

type createSetInput struct {
	Key  string `header:"Idempotency-Key"`
	Body struct {
		Title     string   `json:"title" doc:"1 to 200 characters on one line"`
		Documents []string `json:"document_ids,omitempty" nullable:"true" doc:"own documents, at most 200"`
	}
}

func (s *server) createSet(ctx context.Context, in *createSetInput) (OneDocumentSet, error) {
	v, b := viewerOf(ctx), in.Body
	made, _, err := once(ctx, s, quota.Key{Route: "POST /v1/document-sets", Key: in.Key}, b, func(ctx context.Context) (OneDocumentSet, error) {
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return OneDocumentSet{}, err
		}
		n, err := s.Sets.CreateSet(ctx, v, knowledge.Set{Title: b.Title, Documents: b.Documents})
		if err != nil {
			return OneDocumentSet{}, err
		}
		return s.oneSet(ctx, v, n)
	})
	return made, err
}

func (s *server) listSets(ctx context.Context, in *Paged) (Page[DocumentSet], error) {
	list, next, err := s.Sets.ListSets(ctx, viewerOf(ctx), in.Cursor, in.Limit)
	return page(list, next, setView), err
}

func (s *server) set(ctx context.Context, in *ByID) (OneDocumentSet, error) {
	v := viewerOf(ctx)
	n, err := s.Sets.Set(ctx, v, in.ID)
	if err != nil {
		return OneDocumentSet{}, err
	}
	return s.oneSet(ctx, v, n)
}

type changeSetInput struct {
	ByID
	Body struct {
		Title     *string   `json:"title,omitempty"`
		Documents *[]string `json:"document_ids,omitempty" doc:"the whole new list"`
	}
}

func (s *server) changeSet(ctx context.Context, in *changeSetInput) (OneDocumentSet, error) {
	v := viewerOf(ctx)
	n, err := s.Sets.UpdateSet(ctx, v, in.ID, knowledge.SetChange{Title: in.Body.Title, Documents: in.Body.Documents})
	if err != nil {
		return OneDocumentSet{}, err
	}
	return s.oneSet(ctx, v, n)
}

func (s *server) deleteSet(ctx context.Context, in *ByID) (Nothing, error) {
	return Nothing{}, s.Sets.DeleteSet(ctx, viewerOf(ctx), in.ID)
}
