package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge/extract"
)

// Outcome is what came of looking at a document's file.
type Outcome string

// What may come of it.
const (
	Extracted Outcome = "extracted" // its text is stored
	Unchanged Outcome = "unchanged" // it is ready as it is (RAG-04)
	Foreign   Outcome = "foreign"   // of a type the program does not read itself
)

// Extract reads the document's file and stores its text. A file that did not
// change since it was taken in is left alone (RAG-04). The document's own
// title, pages and length are stored with it. A file of a type there is no
// parser for is Foreign and no error: Accept takes its text from somebody who
// can read it, and Pass passes it over. What a person must know about a file
// that cannot be read comes as fault.Invalid.
func (l *Library) Extract(ctx context.Context, v identity.Viewer, documentID, runID string, open Opener) (Document, Outcome, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, "", err
	}
	d.RunID = runID
	f, err := open(ctx, v, d.Path)
	if err != nil {
		return Document{}, "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	d, current, err := l.begin(ctx, v, d, f)
	if err != nil || current {
		return d, Unchanged, err
	}
	x, err := l.o.Parsers.Parse(ctx, d.Path, d.MIME, f, f.Size())
	switch {
	case errors.Is(err, extract.ErrUnsupported):
		return d, Foreign, nil
	case err != nil:
		return Document{}, "", err
	}
	d, err = l.keep(ctx, v, d, x)
	return d, Extracted, err
}

// begin notes which file is being read, unless that is done already.
func (l *Library) begin(ctx context.Context, v identity.Viewer, d Document, f File) (began Document, current bool, err error) {
	d.Size = f.Size()
	if most := l.fileBytes(v); most > 0 && d.Size > most {
		err := fault.New(fault.Invalid, "%q has %d MB; files of your plan may have %d. It was passed over.", fileName(d.Path), d.Size>>20, most>>20)
		return Document{}, false, errors.Join(err, l.skip(ctx, v, d, err))
	}
	if d.SHA256, err = checksum(ctx, f); err != nil {
		return Document{}, false, fmt.Errorf("read %q: %w", d.Path, err)
	}
	if l.Current(d) {
		d, err = l.finish(ctx, v, d)
		return d, true, err
	}
	if err := CheckChunkSize(d.ChunkSize); err != nil {
		return Document{}, false, err
	}
	d.Status, d.Error, d.Version = Reading, "", beingRead+d.SHA256
	return d, false, l.o.Documents.SetDocument(ctx, v, d)
}

func (l *Library) fileBytes(v identity.Viewer) int64 {
	if l.o.FileBytes == nil {
		return 0
	}
	return l.o.FileBytes(v)
}

// Read is Extract for those who have nobody to ask about a foreign file: it is
// passed over, with the sentence about it as the error (RAG-05).
func (l *Library) Read(ctx context.Context, v identity.Viewer, documentID, runID string, open Opener) (Document, error) {
	d, outcome, err := l.Extract(ctx, v, documentID, runID, open)
	if err == nil && outcome == Foreign {
		return l.Pass(ctx, v, documentID)
	}
	return d, err
}

// Pass passes over a document nobody reads: it is Skipped and says why, and so
// does the error (RAG-05).
func (l *Library) Pass(ctx context.Context, v identity.Viewer, documentID string) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	err = extract.Unsupported(d.Path)
	return Document{}, errors.Join(err, l.skip(ctx, v, d, err))
}

// Accept stores the text of a foreign file as another reader gives it: plain
// text, or Markdown, whose headings become the document's (RAG-02). A text
// longer than extract.MaxText, or empty, is Invalid.
func (l *Library) Accept(ctx context.Context, v identity.Viewer, documentID, title, text string, markdown bool) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	x, err := extract.FromText(ctx, d.Path, title, text, markdown)
	if err != nil {
		return Document{}, err
	}
	return l.keep(ctx, v, asRead(d), x)
}

// Clean takes out of the stored text what nobody searches for, and once more
// what is personal where the context asks for that. Offsets are final from
// here on.
func (l *Library) Clean(ctx context.Context, v identity.Viewer, documentID string) (Document, error) {
	d, err := l.o.Documents.Document(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	x, err := l.o.Documents.Text(ctx, v, documentID)
	if err != nil {
		return Document{}, err
	}
	return l.keep(ctx, v, asRead(d), tidied(x))
}

// PIIScrub is the key of a context's meta that, when true, takes what is
// personal out of texts before they are stored (RAG-06).
const PIIScrub = "pii_scrub"

// skip reports a file that is passed over, and not broken (RAG-05).
func (l *Library) skip(ctx context.Context, v identity.Viewer, d Document, cause error) error {
	d.Status, d.Error = Skipped, fault.From(cause).Message
	return l.o.Documents.SetDocument(ctx, v, d)
}

// keep stores a text that was read. Chunks of an older text go first, so that
// no chunk ever quotes a text that is no longer there.
func (l *Library) keep(ctx context.Context, v identity.Viewer, d Document, x extract.Document) (Document, error) {
	c, err := l.o.Contexts.Context(ctx, v, d.ContextID)
	if err != nil {
		return Document{}, err
	}
	if scrub, _ := c.Meta[PIIScrub].(bool); scrub {
		x = scrubbed(x)
	}
	l.cuts.forget(d.ID)
	// A text that is stored as Clean would leave it is left so: its chunks stay.
	if old, err := l.o.Documents.Text(ctx, v, d.ID); err != nil || old.Text != x.Text && old.Text != tidied(x).Text {
		if err := l.o.Index.Prune(ctx, v, d.ID, nil); err != nil {
			return Document{}, err
		}
		if err := l.o.Documents.PutText(ctx, v, d.ID, x); err != nil {
			return Document{}, err
		}
	}
	if x.Title != "" && (d.Title == "" || d.Title == fileName(d.Path) || d.Title == unnumbered(fileName(d.Path))) {
		d.Title = x.Title
	}
	d.Pages, d.Length = x.Pages, len(x.Text)
	return d, l.o.Documents.SetDocument(ctx, v, d)
}

func fileName(p string) string { return path.Base(p) }

// copied is the name of a file that was given a number because there was another
// of its name: "report (2).pdf".
var copied = regexp.MustCompile(`^(.+) \(\d+\)(\.[^.]*)?$`)

// unnumbered is the name of a file as it came.
func unnumbered(name string) string { return copied.ReplaceAllString(name, "$1$2") }

// checksum is the SHA-256 of a file, in hex.
func checksum(ctx context.Context, f File) (string, error) {
	h := sha256.New()
	src := io.NewSectionReader(f, 0, f.Size())
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := io.CopyN(h, src, 4<<20)
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			return hex.EncodeToString(h.Sum(nil)), nil
		}
		if err != nil {
			return "", err
		}
	}
}
