package extract

import (
	"crypto/sha256"

	"liminal/internal/fault"
)

// pageWork is what the pages of a PDF have cost so far.
type pageWork struct {
	done  int
	again int                            // of pages that were there before
	seen  map[[sha256.Size]byte]struct{} // the texts of pages
}

// The bounds of the work of all pages, in things drawn and letters.
const (
	maxPageWork  = 100_000_000
	maxPageAgain = 2_000_000 // of pages whose text was there before
)

// add counts the work of a page. A file can name one page thousands of times:
// PDFium reads it anew each time and does not tell that it is the same, but
// its text is.
func (w *pageWork) add(pages int, text string, objects int) error {
	work := len(text) + objects
	if w.done += work; w.done > maxPageWork {
		return fault.New(fault.Invalid, "the pages of this PDF are made of more pieces than can be read. Split it into several files.")
	}
	if text == "" {
		return nil // drawings without words are not the same for it
	}
	sum := sha256.Sum256([]byte(text))
	if w.seen == nil {
		w.seen = map[[sha256.Size]byte]struct{}{}
	}
	if _, there := w.seen[sum]; !there {
		w.seen[sum] = struct{}{}
		return nil
	}
	if w.again += work; w.again > maxPageAgain {
		return fault.New(fault.Invalid, "this PDF has %d pages that show the same again and again. Save one with each page once and upload that.", pages)
	}
	return nil
}
