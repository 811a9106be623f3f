package eval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"liminal/internal/embed"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/store"
	"liminal/internal/store/sqlite"
)

// collection is a set's documents, taken in with one encoder.
type collection struct {
	db      *sqlite.DB
	index   *sqlite.Index
	library *knowledge.Library
	encoder embed.Embedder
	viewer  identity.Viewer
	context string
	answers []answer // of the set's questions, in their order
}

// answer is where the passage stands that answers a question.
type answer struct {
	document   string
	start, end int
}

// found reports whether text[start:end] of a document holds at least half of
// the passage.
func (a answer) found(document string, start, end int) bool {
	return document == a.document && 2*(min(end, a.end)-max(start, a.start)) >= a.end-a.start
}

// openCollection takes a set in; dir is a scratch folder of its own.
func openCollection(ctx context.Context, dir string, s Set, e embed.Embedder, k int) (h *collection, err error) {
	db, err := sqlite.Open(ctx, filepath.Join(dir, "eval.db"), sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	stored := store.New(db, store.Options{})
	h = &collection{db: db, index: sqlite.NewIndex(db, sqlite.IndexOptions{}), encoder: e}
	h.library = knowledge.NewLibrary(knowledge.Options{Contexts: stored, Documents: stored, Index: h.index, Embedder: e, K: k})
	u, err := stored.CreateUser(ctx, identity.User{ID: id.New(), Email: "eval@localhost", Active: true}, identity.Credential{Hash: "-", Algorithm: "-"})
	if err != nil {
		return nil, err
	}
	h.viewer = u.Viewer("")
	c, err := knowledge.Recording(stored, e).CreateContext(ctx, h.viewer, knowledge.Context{Name: s.Name})
	if err != nil {
		return nil, err
	}
	h.context = c.ID
	return h, h.fill(ctx, stored, s)
}

func (h *collection) fill(ctx context.Context, documents knowledge.Documents, s Set) error {
	ids := map[string]string{}
	texts := map[string]letters{}
	for _, name := range s.Documents {
		d, err := documents.PutDocument(ctx, h.viewer, knowledge.Document{ContextID: h.context, Path: "files/" + name, Title: name})
		if err != nil {
			return err
		}
		if err := h.ingest(ctx, d.ID, s.root); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		x, err := documents.Text(ctx, h.viewer, d.ID)
		if err != nil {
			return err
		}
		ids[name], texts[name] = d.ID, newLetters(x.Text)
	}
	for _, q := range s.Questions {
		if q.OffTopic() {
			h.answers = append(h.answers, answer{})
			continue
		}
		start, end, err := texts[q.Document].locate(q.Passage)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", s.Name, q.Document, err)
		}
		h.answers = append(h.answers, answer{ids[q.Document], start, end})
	}
	return nil
}

// ingest runs the three steps of taking a document in.
func (h *collection) ingest(ctx context.Context, documentID, root string) error {
	open := func(_ context.Context, _ identity.Viewer, path string) (knowledge.File, error) {
		return openFile(filepath.Join(root, filepath.Base(path)))
	}
	if _, err := h.library.Read(ctx, h.viewer, documentID, "", open); err != nil {
		return err
	}
	if _, err := h.library.Cut(ctx, h.viewer, documentID); err != nil {
		return err
	}
	_, err := h.library.Store(ctx, h.viewer, documentID, nil)
	return err
}

func (h *collection) Close() error { return errors.Join(h.library.Close(), h.db.Close()) }

// sized is an open file that knows its size.
type sized struct {
	*os.File
	size int64
}

func (f sized) Size() int64 { return f.size }

func openFile(path string) (knowledge.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return sized{f, info.Size()}, nil
}
