package knowledge

import (
	"context"

	"liminal/internal/identity"
)

// Versions keeps what came of a file in one context over time. Each version is a
// document with an id, a file and a text of its own, so that a citation opens
// what it was taken from; one of them is searched. A version takes the place of
// those before it when it has been read, not when it comes: one that cannot be
// read replaces nothing.
type Versions interface {
	// PutVersion is PutDocument for a file that comes from d.Origin, where it may
	// have come from before: the document joins the versions of the viewer's that
	// came from there into the same context. replaced is the one that it will
	// take the place of; nil: there is none, or it is that one. A version that was
	// replaced waits to be read again. apart makes it no version of anything.
	PutVersion(ctx context.Context, v identity.Viewer, d Document, apart bool) (stored Document, replaced *Document, err error)
	// DocumentVersions lists the versions of a document and itself, the newest
	// first; of a document without other versions only itself.
	DocumentVersions(ctx context.Context, v identity.Viewer, id string) ([]Document, error)
	// Supersede makes a document that has been read take the place of the
	// versions before it, and of it those that came after and have been read: sets
	// hold it instead of them. It returns the ids of the versions out of use that
	// still have chunks. Again is no error.
	Supersede(ctx context.Context, v identity.Viewer, id string) ([]string, error)
}

// replace makes a document that is ready take the place of the versions before
// it, and takes what is out of use out of the index. It asks anew whether there
// are others: they may have come while the document was read.
func (l *Library) replace(ctx context.Context, v identity.Viewer, documentID string) error {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil || d.Lineage == "" {
		return err
	}
	gone, err := l.o.Documents.Supersede(ctx, v, d.ID)
	if err != nil {
		return err
	}
	for _, id := range gone {
		l.cuts.forget(id)
		if err := l.o.Index.Prune(ctx, v, id, nil); err != nil {
			return err
		}
	}
	return nil
}

// inUse is the document of an id, or the version that has taken its place: who
// named a document before it was replaced means the one of today.
func (l *Library) inUse(ctx context.Context, v identity.Viewer, id string) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, id)
	if err != nil || !d.Superseded() || d.CurrentID == "" {
		return d, err
	}
	return l.o.Documents.Document(ctx, v, d.CurrentID)
}
