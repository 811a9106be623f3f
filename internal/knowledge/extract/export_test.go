package extract

import "time"

// Hurried are parsers that give a file so little time to compute that a test
// can wait for it.
func Hurried(p *Parsers, atLeast time.Duration) *Parsers {
	p.atLeast = atLeast
	return p
}

// The bounds of a reading process, in bytes.
const ReadMemory = readMemory

// ComposePages makes one text of pages whose document has no outline.
func ComposePages(pages ...string) Document { return composePages(pages, nil, "") }
