package builtin

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"liminal/internal/id"
	"liminal/internal/knowledge"
	"liminal/internal/tool"
)

// enough is from where on a name counts as a title (LG-16).
const enough = 0.85

// matchDocuments finds the caller's own documents by what a person calls them:
// an id, a title, titles in a longer text, or nearly a title.
type matchDocuments struct{ titles Titles }

func (matchDocuments) Name() string { return "documents.match_v1" }

func (t matchDocuments) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	among, err := t.among(ctx, c)
	if err != nil {
		return nil, err
	}
	s := newTitleIndex(among)
	if least, ok := c.Inputs["least"].(float64); ok {
		s.least = least
	}
	var found []knowledge.Titled
	unmatched, seen := []any{}, map[string]bool{}
	for _, name := range flat(c.Inputs["names"]) {
		if ctx.Err() != nil { // many names and many titles take a while
			return nil, ctx.Err()
		}
		matches, err := t.match(ctx, c, s, name)
		if err != nil {
			return nil, err
		}
		if len(matches) == 0 {
			unmatched = append(unmatched, name)
		}
		for _, d := range matches {
			if !seen[d.ID] {
				seen[d.ID] = true
				found = append(found, d)
			}
		}
	}
	out := titled(found, german(c))
	out["unmatched"] = unmatched
	if n := number(c, "closest", 0); n > 0 {
		s.tellClosest(out, flat(unmatched), n)
	}
	return out, nil
}

// among are the documents to look through: those given, or all of the
// caller's.
func (t matchDocuments) among(ctx context.Context, c *tool.Call) ([]knowledge.Titled, error) {
	given, ok := c.Inputs["among"].([]any)
	if !ok {
		return t.titles.OwnDocuments(ctx, c.Viewer, 0)
	}
	out := make([]knowledge.Titled, 0, len(given))
	for _, g := range given {
		if one, ok := g.(map[string]any); ok {
			d := knowledge.Titled{}
			d.ID, _ = one["id"].(string)
			d.Title, _ = one["title"].(string)
			d.Path, _ = one["file"].(string)
			out = append(out, d)
		}
	}
	return out, nil
}

// withFileNames are documents beside what they are called: each with its title, and
// once more with the name of its file where that is another.
func withFileNames(among []knowledge.Titled) ([]knowledge.Titled, []string) {
	out, names := slices.Clone(among), make([]string, len(among), 2*len(among))
	for i, d := range among {
		names[i] = d.Title
	}
	for _, d := range among {
		if file, ok := calledData(d)["file"].(string); ok {
			out, names = append(out, d), append(names, file)
		}
	}
	return out, names
}

func (t matchDocuments) match(ctx context.Context, c *tool.Call, s titleIndex, name string) ([]knowledge.Titled, error) {
	name = strings.TrimPrefix(name, "@")
	if id.Valid(strings.ToLower(name)) {
		found, err := t.titles.DocumentsByID(ctx, c.Viewer, []string{strings.ToLower(name)})
		if err != nil || len(found) > 0 {
			return found, err
		} // else it may be what a document is called
	}
	return s.called(name), nil
}

// titleIndex is documents with their titles made plain for comparing.
type titleIndex struct {
	least     float64
	titles    []string
	folded    []string // the titles as findFolded wants them
	bare      []string // the titles without articles and the like
	documents []knowledge.Titled
}

func newTitleIndex(among []knowledge.Titled) titleIndex {
	among, names := withFileNames(among)
	s := titleIndex{
		least: enough, documents: among,
		titles: make([]string, len(among)), folded: make([]string, len(among)), bare: make([]string, len(among)),
	}
	for i, name := range names {
		s.titles[i] = plainTitle(name)
		s.folded[i] = folded(s.titles[i])
		s.bare[i] = bareTitle(s.titles[i])
	}
	return s
}

// called are the documents a name means: those of just that title, else those
// of that title but for articles, else those whose titles stand in it, else the
// one whose title is most like it, else the only one whose title it stands in.
func (s titleIndex) called(name string) []knowledge.Titled {
	plain := plainTitle(name)
	if plain == "" {
		return nil
	}
	var same, alike, within []knowledge.Titled
	low, bare := folded(plain), bareTitle(plain)
	best, score := -1, s.least
	for i, title := range s.titles {
		switch {
		case title == "":
		case title == plain:
			same = append(same, s.documents[i])
		case s.bare[i] == bare:
			alike = append(alike, s.documents[i])
		case len(title) < len(plain) && utf8.RuneCountInString(title) > 2 && stands(plain, low, s.folded[i]):
			within = append(within, s.documents[i])
		default:
			if like := similarity(plain, title, score); like >= score && (best < 0 || like > score) {
				best, score = i, like
			}
		}
	}
	switch {
	case len(same) > 0:
		return same
	case len(alike) > 0:
		return alike
	case len(within) > 0:
		return within
	case best >= 0:
		return []knowledge.Titled{s.documents[best]}
	}
	if found := s.partly(plain, low); len(found) > 0 || bare == plain {
		return found
	}
	return s.partly(bare, folded(bare)) // "the house rules" in "House rules of the pool"
}

// partName is how many characters a name has at least that is taken for a part
// of a title.
const partName = 4

// partly is the only document whose title has a name in it, word for word.
func (s titleIndex) partly(plain, low string) []knowledge.Titled {
	if utf8.RuneCountInString(plain) < partName {
		return nil
	}
	var out []knowledge.Titled
	for i, title := range s.titles {
		if len(plain) >= len(title) || !stands(title, s.folded[i], low) {
			continue
		}
		if len(out) == 0 || out[0].ID != s.documents[i].ID {
			out = append(out, s.documents[i])
		}
	}
	if len(out) != 1 {
		return nil
	}
	return out
}

func stands(text, low, term string) bool {
	at, _ := findFolded(text, low, term)
	return at >= 0
}

// similarity is 1 for the same text and 0 for nothing in common: Levenshtein's
// distance over the longer length. Below least it may be 0.
func similarity(a, b string, least float64) float64 {
	la, lb := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	longer := max(la, lb)
	if longer == 0 || float64(min(la, lb)) < least*float64(longer) {
		return 0
	}
	return 1 - float64(levenshtein.ComputeDistance(a, b))/float64(longer)
}

// bareTitle is a plain title without its articles and other words that only
// hold a name together; the whole where it has no others.
func bareTitle(plain string) string {
	var kept []string
	for w := range strings.FieldsSeq(plain) {
		if !glue[w] {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return plain
	}
	return strings.Join(kept, " ")
}

// glue are articles, possessives and what stands before the second noun of a
// name, in English and German. Whoever names a document leaves them out, or puts
// others in.
var glue = func() map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(`the a an of for in on at our my your der die das den dem des ein eine einer eines einem einen
		für von vom zum zur im am unser unsere unserer unseres unserem unseren mein meine meiner meines meinem meinen`) {
		out[w] = true
	}
	return out
}()

// plainTitle is a title in lower case, without the ending of a file's name and
// with single spaces for what joins words.
func plainTitle(title string) string {
	if ext := path.Ext(title); len(ext) > 1 && len(ext) <= 5 && !strings.ContainsAny(ext, " 0123456789") {
		title = strings.TrimSuffix(title, ext)
	}
	title = strings.NewReplacer("_", " ", "-", " ").Replace(strings.ToLower(title))
	return strings.Join(strings.Fields(title), " ")
}
