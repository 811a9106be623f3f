package knowledge

import (
	"context"
	"errors"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

// Unread is a document that is not ready, or not yet: on its way in, or one
// that could not be read.
type Unread struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Status  DocumentStatus `json:"status"`          // waiting, reading, failed
	Percent int            `json:"percent"`         // of its passages that can be found, 0 to 100
	Error   string         `json:"error,omitempty"` // why it failed, in a sentence
}

// Coming reports whether the document is still on its way in.
func (u Unread) Coming() bool { return u.Status == Waiting || u.Status == Reading }

func unreadOf(d Document) Unread {
	u := Unread{ID: d.ID, Title: title(d), Status: d.Status}
	if d.Chunks > 0 {
		u.Percent = min(100*d.Indexed/d.Chunks, 100)
	}
	if d.Status == Failed {
		u.Error = d.Error
	}
	return u
}

// MaxUnread is how many documents a search names, or Progress looks at.
const MaxUnread = 50

// unread are the documents of a scope that are on their way in. The contexts
// say whether there are any: where there are none, nothing is read for it.
func (l *Library) unread(ctx context.Context, v identity.Viewer, s scope) ([]Unread, error) {
	var contexts []string
	for _, c := range s.contexts {
		if c.Unread > 0 {
			contexts = append(contexts, c.ID)
		}
	}
	if len(contexts) == 0 {
		return nil, nil
	}
	list, err := l.o.Documents.Unread(ctx, v, contexts, MaxUnread)
	if err != nil {
		return nil, err
	}
	var out []Unread
	for _, d := range list {
		if len(s.documents) == 0 || slices.Contains(s.documents, d.ID) {
			out = append(out, unreadOf(d))
		}
	}
	return out, nil
}

// Progress tells which of some documents are not ready, and how far they are;
// MaxUnread are looked at. One that is ready, was skipped, or is not there any
// more, is left out.
func (l *Library) Progress(ctx context.Context, v identity.Viewer, documentIDs []string) ([]Unread, error) {
	var out []Unread
	for _, id := range documentIDs[:min(len(documentIDs), MaxUnread)] {
		d, err := l.o.Documents.Document(ctx, v, id)
		switch {
		case errors.Is(err, fault.NotFound):
		case err != nil:
			return nil, err
		case d.Status == Waiting, d.Status == Reading, d.Status == Failed:
			out = append(out, unreadOf(d))
		}
	}
	return out, nil
}
