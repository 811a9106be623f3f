package extract

import (
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// mark is an entry of the document's outline.
type mark struct {
	title string
	level int
	page  int // 1-based; 0 if it leads nowhere
}

// The bounds of an outline: of what is used of it, and of what is looked at.
// The entries of a hostile one lead in a circle.
const (
	maxMarks        = 5_000
	maxOutline      = 20_000
	maxOutlineDepth = 64
)

func (d *pdfReader) marks() []mark {
	left := maxOutline
	if !d.ends(nil, 0, &left) {
		return nil
	}
	res, err := d.pdf.GetBookmarks(&requests.GetBookmarks{Document: d.doc})
	if err != nil {
		return nil
	}
	var out []mark
	var walk func(list []responses.GetBookmarksBookmark, level int)
	walk = func(list []responses.GetBookmarksBookmark, level int) {
		for _, b := range list {
			if len(out) >= maxMarks || level > 8 {
				return
			}
			m := mark{title: strings.Join(strings.Fields(tidy(b.Title)), " "), level: level}
			if b.DestInfo != nil {
				m.page = b.DestInfo.PageIndex + 1
			}
			out = append(out, m)
			walk(b.Children, level+1)
		}
	}
	walk(res.Bookmarks, 1)
	return out
}

// ends reports whether the entries below one are so few that the library may
// gather them: it follows them wherever they lead.
func (d *pdfReader) ends(above *references.FPDF_BOOKMARK, depth int, left *int) bool {
	first, err := d.pdf.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: d.doc, Bookmark: above})
	if err != nil || depth > maxOutlineDepth {
		return false
	}
	for at := first.Bookmark; at != nil; {
		if *left--; *left < 0 || d.ctx.Err() != nil || !d.ends(at, depth+1, left) {
			return false
		}
		next, err := d.pdf.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: d.doc, Bookmark: *at})
		if err != nil {
			return false
		}
		at = next.Bookmark
	}
	return true
}
