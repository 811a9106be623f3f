package knowledge

import (
	"context"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Bounds of sets and of lists of titles.
const (
	MaxSets         = 500  // sets of one person
	MaxSetDocuments = 200  // documents of one set
	MaxTitle        = 200  // characters of the title of a set or a document
	MaxTitles       = 5000 // titles OwnDocuments and DocumentsByID return at most
)

// Set is a person's named list of documents, tagged as one (G-05). A document
// that is deleted leaves every set it was in.
type Set struct {
	ID        string
	UserID    string
	Title     string
	Documents []string // ids, in the order they were given, each once
	CreatedAt time.Time
	UpdatedAt time.Time
}

// SetChange names what to change of a set; nil leaves a field as it is.
type SetChange struct {
	Title     *string
	Documents *[]string // the whole new list
}

// Sets keeps document sets. Whose set it is not gets NotFound, as for one
// that does not exist (ISO-01).
type Sets interface {
	// CreateSet stores a set of documents of the viewer's own: one that is not
	// is NotFound, a title or list out of bounds Invalid, and beyond MaxSets a
	// Conflict. ID may be empty.
	CreateSet(ctx context.Context, v identity.Viewer, s Set) (Set, error)
	// Set returns a set of the viewer's own, or one that is shared with them.
	Set(ctx context.Context, v identity.Viewer, id string) (Set, error)
	// SetsByID returns those of ids that are the viewer's or shared with them, in
	// the order of ids.
	SetsByID(ctx context.Context, v identity.Viewer, ids []string) ([]Set, error)
	// ListSets lists the viewer's and those shared with them by updated_at, newest
	// first, with their documents.
	ListSets(ctx context.Context, v identity.Viewer, cursor string, limit int) ([]Set, string, error)
	// UpdateSet has the errors of CreateSet.
	UpdateSet(ctx context.Context, v identity.Viewer, id string, c SetChange) (Set, error)
	// DeleteSet removes the set; its documents stay.
	DeleteSet(ctx context.Context, v identity.Viewer, id string) error
}

// Titled is a document by its name.
type Titled struct {
	ID        string
	ContextID string
	Title     string // never empty: without a title the name of the file
	Path      string
	Status    DocumentStatus // only a Ready one has passages to find
	Error     string         // why it is Failed or Skipped, a sentence for people
	UpdatedAt time.Time
}

// ContextFinder finds contexts by words of their names.
type ContextFinder interface {
	// FindContexts lists what v may see, newest first, whose name holds every
	// word of q, in any case; an empty one finds all.
	FindContexts(ctx context.Context, v identity.Viewer, q, cursor string, limit int) ([]Context, string, error)
}

// DocumentTitles finds the viewer's own documents, those they put in
// themselves, across all their contexts. What is another person's is not there
// (LG-26), unless they share it: then it is found by its id and when it is
// looked for.
type DocumentTitles interface {
	// OwnDocuments returns the latest limit of them, newest first; a limit of 0
	// or above MaxTitles is MaxTitles.
	OwnDocuments(ctx context.Context, v identity.Viewer, limit int) ([]Titled, error)
	// DocumentsByID returns those of ids that are the viewer's own, in the order
	// of ids, each once. An id that is none of theirs, or no id, is left out.
	DocumentsByID(ctx context.Context, v identity.Viewer, ids []string) ([]Titled, error)
	// FindDocuments pages through them, newest first: those whose title and
	// file's name hold every word of q, whatever its case and accents; all for
	// an empty q.
	FindDocuments(ctx context.Context, v identity.Viewer, q, cursor string, limit int) ([]Titled, string, error)
	// RenameDocument gives a document of the viewer's own a title. Reading the
	// file again keeps it.
	RenameDocument(ctx context.Context, v identity.Viewer, id, title string) (Document, error)
}

// TitleOf is what a document is called: its title, else the name of its file.
// Both may be a stranger's: they come back on one line, without what nobody
// sees or what turns text around.
func TitleOf(title, file string) string {
	if title = onLine(title); title != "" {
		return title
	}
	if name := onLine(path.Base(file)); name != "" {
		return name
	}
	return path.Base(file)
}

// onLine is a title as it can be shown; empty when nothing of it is seen.
func onLine(title string) string {
	title = strings.TrimSpace(strings.Map(func(r rune) rune {
		if offLine(r) {
			return ' '
		}
		return unturned(r)
	}, title))
	if strings.TrimFunc(title, blank) == "" {
		return ""
	}
	return title
}

// CheckTitle returns a title of a set or a document without the space around
// it and the signs that turn text around, or Invalid: it has 1 to MaxTitle
// characters on one line, and not only such as nobody sees.
func CheckTitle(title string) (string, error) {
	valid := utf8.ValidString(title)
	title = strings.TrimSpace(strings.Map(unturned, title))
	switch {
	case strings.TrimFunc(title, blank) == "":
		return "", fault.New(fault.Invalid, "A title is needed.").With(map[string]any{"field": "title"})
	case utf8.RuneCountInString(title) > MaxTitle:
		return "", fault.New(fault.Invalid, "A title has at most %d characters.", MaxTitle).With(map[string]any{"field": "title"})
	case !valid || strings.ContainsFunc(title, offLine):
		return "", fault.New(fault.Invalid, "A title is text on one line.").With(map[string]any{"field": "title"})
	}
	return title, nil
}

// unturned drops the embeddings and overrides of direction: a title with one
// shows the words behind it backwards as well.
func unturned(r rune) rune {
	if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
		return -1
	}
	return r
}

// blank reports whether nothing is seen of a character.
func blank(r rune) bool {
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) || r == 0x2800
}

// offLine reports whether a character has no place on a line.
func offLine(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 }

// CheckMembers returns the ids of a set's documents, each once and in lower
// case, or Invalid: at most MaxSetDocuments, all of them ids.
func CheckMembers(ids []string) ([]string, error) {
	list, seen := make([]string, 0, len(ids)), make(map[string]bool, len(ids))
	for _, one := range ids {
		if !id.Valid(one) {
			return nil, fault.New(fault.Invalid, "document_ids holds %q, which is not an id.", one).With(map[string]any{"field": "document_ids"})
		}
		if one = strings.ToLower(one); !seen[one] {
			seen[one] = true
			list = append(list, one)
		}
	}
	if len(list) > MaxSetDocuments {
		return nil, fault.New(fault.Invalid, "A set has at most %d documents, not %d.", MaxSetDocuments, len(list)).With(map[string]any{"field": "document_ids"})
	}
	return list, nil
}
