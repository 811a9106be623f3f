package knowledge

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Source is a file or a folder whose files are in a context; what changes
// there is taken in again (RAG-07).
type Source struct {
	ContextID string
	UserID    string // whose folder it is
	Path      string // relative to the user's root: "files/reports"
	Recursive bool
}

// Holding is a ready document as the sweep over encoders sees it.
type Holding struct {
	DocumentID string
	UserID     string
	Version    string
	Leftover   bool // it has chunks of another encoder than asked for
}

// SweepStore is everybody's contexts, for the sweeps; only the system reads it.
type SweepStore interface {
	// AddSource notes that a context takes its files from a path; again is no error.
	AddSource(ctx context.Context, v identity.Viewer, s Source) error
	// Sources lists the sources of all contexts that belong to somebody.
	Sources(ctx context.Context, v identity.Viewer) ([]Source, error)
	// SourcesOf lists, by path, those of a context that v may change; of any
	// other there are none.
	SourcesOf(ctx context.Context, v identity.Viewer, contextID string) ([]Source, error)
	// ContextsAfter lists all contexts by id, those behind after.
	ContextsAfter(ctx context.Context, v identity.Viewer, after string, limit int) ([]Context, error)
	// Holdings lists a context's ready documents.
	Holdings(ctx context.Context, v identity.Viewer, contextID, encoder string) ([]Holding, error)
	// SetEncoder makes encoder the one whose chunks a search of the context reads.
	SetEncoder(ctx context.Context, v identity.Viewer, contextID, encoder string) error
}

// Entry is a file as it lies in a folder.
type Entry struct {
	Path    string
	Size    int64
	Changed time.Time
}

// SweepOptions are what a Sweep works with; all are required but those with a default.
type SweepOptions struct {
	Library *Library
	Store   SweepStore
	// Viewer finds who a person is now; NotFound for one who may not act.
	Viewer func(ctx context.Context, userID string) (identity.Viewer, error)
	// Entries lists the files of a path that can be read in.
	Entries func(ctx context.Context, v identity.Viewer, path string, recursive bool) ([]Entry, error)
	// Adopt makes a file that is new there one of the person's files; nil: they
	// all are.
	Adopt func(ctx context.Context, v identity.Viewer, path string) error
	// Start takes a document in; Conflict when that is under way.
	Start func(ctx context.Context, v identity.Viewer, documentID string) error
	// Ready is the share of a context's documents with the new encoder from
	// which its searches read them; 0: 0.95 (RAG-08).
	Ready  float64
	Logger *slog.Logger // nil: discarded
}

// Sweep keeps contexts as their files and the encoder are now. Both passes
// may be stopped anywhere and run again.
type Sweep struct{ o SweepOptions }

// NewSweep returns a Sweep.
func NewSweep(o SweepOptions) *Sweep {
	o.Ready = cmp.Or(o.Ready, 0.95)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Sweep{o}
}

// Sources starts taking in every file of a watched source that is new or has
// changed, and returns how many (RAG-07). One source that fails holds up no
// other.
func (s *Sweep) Sources(ctx context.Context) (started int, err error) {
	sources, err := s.o.Store.Sources(ctx, identity.System())
	if err != nil {
		return 0, err
	}
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return started, err
		}
		n, err := s.source(ctx, src)
		started += n
		if err != nil {
			s.o.Logger.WarnContext(ctx, "a source was not looked through", "context", src.ContextID, "error", err)
		}
	}
	return started, nil
}

func (s *Sweep) source(ctx context.Context, src Source) (started int, err error) {
	v, err := s.o.Viewer(ctx, src.UserID)
	if err != nil {
		return 0, err
	}
	entries, err := s.o.Entries(ctx, v, src.Path, src.Recursive)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	known, err := s.documents(ctx, v, src.ContextID)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		d, ok := known[e.Path]
		if ok && !stale(d, e) {
			continue
		}
		if !ok {
			if d, err = s.arrive(ctx, v, src, e); err != nil {
				return started, err
			}
		}
		if d.Superseded() || d.Status == Skipped && !ok {
			continue
		}
		switch err := s.o.Start(ctx, v, d.ID); {
		case err == nil:
			started++
		case !errors.Is(err, fault.Conflict): // else it is on its way already
			return started, err
		}
	}
	return started, nil
}

// arrive makes a document of a file that is new in a source. One the person
// has no room for is a document that was skipped and says why; the others in
// the folder come in (RAG-05).
func (s *Sweep) arrive(ctx context.Context, v identity.Viewer, src Source, e Entry) (Document, error) {
	var full error
	if s.o.Adopt != nil {
		full = s.o.Adopt(ctx, v, e.Path)
	}
	if full != nil && !errors.Is(full, fault.Invalid) && !errors.Is(full, fault.Conflict) {
		return Document{}, full
	}
	d, err := s.o.Library.o.Documents.PutDocument(ctx, v, Document{
		ContextID: src.ContextID, Path: e.Path, Title: fileName(e.Path), Size: e.Size,
	})
	if err != nil || full == nil {
		return d, err
	}
	d.Status = Skipped
	return d, s.o.Library.skip(ctx, v, d, full)
}

// stale reports whether a document may be behind its file. A document on its
// way is not; whether the content really differs is found out by reading.
func stale(d Document, e Entry) bool {
	if d.Status == Waiting || d.Status == Reading {
		return false
	}
	return e.Size != d.Size || e.Changed.After(readAfter(d))
}

// readAfter is a time before the document's file was read: its run began then.
// What changes while it is taken in is not yet in it.
func readAfter(d Document) time.Time {
	if began, known := id.Made(d.RunID); known {
		return began
	}
	return d.UpdatedAt
}

// documents are a context's documents by path.
func (s *Sweep) documents(ctx context.Context, v identity.Viewer, contextID string) (map[string]Document, error) {
	known := map[string]Document{}
	for cursor := ""; ; {
		page, next, err := s.o.Library.o.Documents.ListDocuments(ctx, v, contextID, cursor, 100)
		if err != nil {
			return nil, err
		}
		for _, d := range page {
			known[d.Path] = d
		}
		if next == "" {
			return known, nil
		}
		cursor = next
	}
}

// Encoders embeds anew what another encoder has embedded. Until enough of a
// context is ready its searches read the old chunks; then they read the new
// ones, and the old ones go (RAG-08). progress, which may be nil, is told
// after each document.
func (s *Sweep) Encoders(ctx context.Context, progress func(done int)) (embedded int, err error) {
	for after := ""; ; {
		page, err := s.o.Store.ContextsAfter(ctx, identity.System(), after, 100)
		if err != nil || len(page) == 0 {
			return embedded, err
		}
		for _, c := range page {
			n, err := s.roll(ctx, c, func(done int) {
				if progress != nil {
					progress(embedded + done)
				}
			})
			embedded += n
			if ctx.Err() != nil {
				return embedded, ctx.Err()
			}
			if err != nil {
				s.o.Logger.WarnContext(ctx, "a context was not embedded anew", "context", c.ID, "error", err)
			}
			after = c.ID
		}
	}
}

// roll brings one context to the encoder of today.
func (s *Sweep) roll(ctx context.Context, c Context, progress func(done int)) (embedded int, err error) {
	version := s.o.Library.version()
	all, err := s.o.Store.Holdings(ctx, identity.System(), c.ID, version)
	if err != nil {
		return 0, err
	}
	ready := 0
	for _, h := range all {
		if current(h, version) {
			ready++
		}
	}
	for _, h := range all {
		if current(h, version) {
			continue
		}
		if err := s.embed(ctx, h); err != nil {
			if ctx.Err() != nil {
				return embedded, ctx.Err()
			}
			s.o.Logger.WarnContext(ctx, "a document was not embedded anew", "document", h.DocumentID, "error", err)
			continue
		}
		embedded++
		ready++
		progress(embedded)
	}
	if float64(ready) < s.o.Ready*float64(len(all)) {
		return embedded, nil
	}
	if c.Encoder != version {
		if err := s.o.Store.SetEncoder(ctx, identity.System(), c.ID, version); err != nil {
			return embedded, err
		}
	}
	return embedded, s.retire(ctx, c.ID)
}

func current(h Holding, version string) bool { return strings.HasPrefix(h.Version, version+"/") }

// embed works from the stored text: the file may be gone, and has not changed.
func (s *Sweep) embed(ctx context.Context, h Holding) error {
	v, err := s.o.Viewer(ctx, h.UserID)
	if err != nil {
		return err
	}
	_, err = s.o.Library.Store(ctx, v, h.DocumentID, nil)
	return err
}

// retire removes the chunks no search reads any more.
func (s *Sweep) retire(ctx context.Context, contextID string) error {
	all, err := s.o.Store.Holdings(ctx, identity.System(), contextID, s.o.Library.version())
	if err != nil {
		return err
	}
	for _, h := range all {
		if !h.Leftover || !current(h, s.o.Library.version()) {
			continue
		}
		v, err := s.o.Viewer(ctx, h.UserID)
		if err != nil {
			return err
		}
		if err := s.o.Library.prune(ctx, v, h.DocumentID); err != nil {
			return err
		}
	}
	return nil
}
