// Package extract reads the text of files: what stands in them, under which
// headings and on which pages.
//
// It may import fault, cell and parsing libraries. It knows no database, no
// chunks and nobody who asks. A file goes into Parsers.Parse and comes out as a
// Document, whose Blocks say where in its text the headings, tables and pages
// stand; every offset counts bytes of that text. To add a format, add a row to
// formats and a file called after it.
//
// PDFs are read by PDFium and workbooks by excelize. For Word, PowerPoint,
// OpenDocument and EPUB there is no library in Go that is well kept and gives
// more than a flat text; what a citation needs of them (headings, list
// numbers, tables, slides, notes) is read from their XML in archive.go and its
// neighbours. E-mails are read with the standard library. HTML has an extractor of its own for the same reason: those of
// the readability family give a cleaned page and lose where a text stood. Page
// reads those of the web by it, as Markdown with their links.
//
// What a stranger wrote can cost its reader far more time and memory than it is
// large, so Parsers of NewConfined read such files in processes of their own,
// within bounds (confined.go).
package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/cell"
	"liminal/internal/fault"
)

// The bounds of one document. What exceeds them is refused with a sentence.
const (
	MaxText  = 32 << 20 // bytes of extracted text
	MaxPages = 10_000
	maxPlain = 64 << 20 // bytes of a file that is text already, before cleaning

	// What takes much more memory, or rows, than it takes bytes in a file.
	maxBlocks   = 100_000   // headings, and what stands between them
	maxElements = 1_000_000 // tags of a page
)

// Parsers turns files into text. It is safe for concurrent use; the PDF
// engine is compiled on first need and lives until Close.
type Parsers struct {
	pdf     func() (*pdfEngine, error)
	cell    *cell.Cell    // where costly files are read; nil: in this process
	atLeast time.Duration // that a costly file may compute
	code    string        // folder for the PDF engine in machine code; "": none

	mu     sync.Mutex
	opened *pdfEngine
}

// New returns the parsers of every accepted type (RAG-02). They read in this
// process; what strangers wrote is better read by those of NewConfined.
func New() *Parsers {
	p := &Parsers{}
	p.pdf = sync.OnceValues(func() (*pdfEngine, error) {
		e, err := newPDFEngine(p.code)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.opened = e
		return e, err
	})
	return p
}

// Close releases the PDF engine and the processes that wait. Parse must not be
// called afterwards.
func (p *Parsers) Close() error {
	if p.cell != nil {
		if err := p.cell.Close(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		return nil
	}
	e := p.opened
	p.opened = nil
	return e.close()
}

// format is one row of the table of parsers.
type format struct {
	name       string
	mime       string
	extensions []string
	parse      func(p *Parsers, ctx context.Context, r io.ReaderAt, size int64) (Document, error)
	archived   bool // it is a zip file
	dangerous  bool // reading it can take much more time or memory than it is large
}

// formats lists what is accepted; the first extension is the usual one.
func formats() []format {
	return []format{
		{"PDF", "application/pdf", []string{".pdf"}, (*Parsers).parsePDF, false, true},
		{"Word", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", []string{".docx", ".docm", ".dotx"}, (*Parsers).parseArchive, true, true},
		{"PowerPoint", "application/vnd.openxmlformats-officedocument.presentationml.presentation", []string{".pptx", ".pptm", ".ppsx"}, (*Parsers).parseArchive, true, true},
		{"Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", []string{".xlsx", ".xlsm"}, (*Parsers).parseArchive, true, true},
		{"OpenDocument", "application/vnd.oasis.opendocument.text", []string{".odt", ".odp", ".ods"}, (*Parsers).parseArchive, true, true},
		{"EPUB", "application/epub+zip", []string{".epub"}, (*Parsers).parseArchive, true, true},
		{"Markdown", "text/markdown", []string{".md", ".markdown", ".mdown", ".mkd"}, textParser(parseMarkdown), false, false},
		{"HTML", "text/html", []string{".html", ".htm", ".xhtml"}, plainHTML, false, true},
		{"e-mail", "message/rfc822", []string{".eml"}, parseMail, false, true},
		{"table", "text/csv", []string{".csv", ".tsv"}, textParser(parseCSV), false, false},
		{"source code", "text/x-source", []string{
			".go", ".py", ".js", ".jsx", ".ts", ".tsx", ".java", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".rb", ".php", ".cs", ".kt", ".swift",
			".sh", ".sql", ".css", ".proto",
		}, textParser(parseCode), false, false},
		{"text", "text/plain", []string{
			".txt", ".text", ".log", ".json", ".jsonl", ".yaml", ".yml", ".toml", ".ini", ".xml", ".rst", ".org", ".adoc", ".tex", ".diff", ".patch",
		}, textParser(parseText), false, false},
	}
}

// Extensions lists the file name extensions Parse accepts, sorted, each with
// its dot.
func Extensions() []string {
	var out []string
	for _, f := range formats() {
		out = append(out, f.extensions...)
	}
	slices.Sort(out)
	return out
}

// Reads reports whether the program itself reads files of this name or MIME
// type, as far as these tell.
func Reads(name, mime string) bool {
	_, known := typed(name, mime)
	return known
}

// Parse reads the text of a file. name decides the type by its extension,
// mime (may be empty) when the extension says nothing; what the file begins
// with overrides both where it is plain. The text is NFC, its lines end in
// "\n", it holds no NUL, and every Block lies inside it. A file that cannot be
// read as what it claims to be gives fault.Invalid with a sentence for a
// person (RAG-02, RAG-05); ctx bounds the time.
func (p *Parsers) Parse(ctx context.Context, name, mime string, r io.ReaderAt, size int64) (Document, error) {
	if size == 0 {
		return Document{}, fault.New(fault.Invalid, "%q is empty: there is nothing to read.", path.Base(name))
	}
	head := make([]byte, min(size, 8<<10))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return Document{}, fmt.Errorf("read %q: %w", path.Base(name), err)
	}
	f, err := choose(name, mime, head)
	if err != nil {
		return Document{}, err
	}
	if p.cell != nil && f.costly(size) {
		return p.confined(ctx, name, mime, r, size)
	}
	x, err := f.parse(p, ctx, r, size)
	if err != nil {
		return Document{}, named(ctx, name, err)
	}
	if len(x.Blocks) > maxBlocks {
		return Document{}, named(ctx, name, TooManyPieces())
	}
	if strings.TrimSpace(x.Text) == "" {
		return Document{}, NoText(name)
	}
	return x, nil
}

// NoText is the refusal of a file called name that holds no text.
func NoText(name string) *fault.Error {
	return fault.New(fault.Invalid, "%q holds no text: there is nothing to search in it.", path.Base(name))
}

// progressKey is where a context keeps who is told of pages.
type progressKey struct{}

// Progress is what is told of a file while it is read.
type Progress struct {
	Done, Total int // pages; zero: nothing is known of them yet
	// Preparing: the reader itself is made ready. That takes seconds where it has
	// to be compiled, once in an installation.
	Preparing bool
}

// WithProgress is a context whose Parse tells from time to time how many pages
// of a long file it has read, of how many; and, when that takes long, that the
// reader is being made ready, and then that it is. It tells one thing after the
// other.
func WithProgress(ctx context.Context, tell func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, tell)
}

func report(ctx context.Context, at Progress) {
	if tell, ok := ctx.Value(progressKey{}).(func(Progress)); ok {
		tell(at)
	}
}

// everyPages is how many pages lie between two reports.
const everyPages = 20

func reportPages(ctx context.Context, done, total int) {
	if done > 0 && done%everyPages == 0 {
		report(ctx, Progress{Done: done, Total: total})
	}
}

// named makes err a fault that names the file, unless ctx ended.
func named(ctx context.Context, name string, err error) error {
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("reading %q was stopped: %w", path.Base(name), cause)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return fault.Wrap(f.Code, errors.Unwrap(f), "%q: %s", path.Base(name), f.Message)
	}
	return fmt.Errorf("read %q: %w", path.Base(name), err)
}

// choose finds the parser of a file.
func choose(name, mime string, head []byte) (format, error) {
	list := formats()
	if i := bytes.Index(head, []byte("%PDF-")); i >= 0 && i < 1024 {
		return list[0], nil
	}
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return list[1], nil // what kind of archive it is, it says inside
	}
	if bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) {
		return format{}, compound(name)
	}
	if notText(head) {
		return format{}, Unsupported(name)
	}
	if f, known := typed(name, mime); known {
		return confirmed(f, name)
	}
	return format{}, Unsupported(name)
}

// TypeOf names the type of a file as its name, or else its MIME type, tells it:
// the names are those of the table of formats, such as "table" or "source code",
// and "text" where neither says more.
func TypeOf(name, mime string) string {
	f, _ := typed(name, mime)
	return f.name
}

// typed is the format that a name, or else a MIME type, tells.
func typed(name, mime string) (format, bool) {
	list := formats()
	ext := strings.ToLower(path.Ext(name))
	for _, f := range list {
		if slices.Contains(f.extensions, ext) {
			return f, true
		}
	}
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	for _, f := range list {
		if f.mime == strings.TrimSpace(mime) {
			return f, true
		}
	}
	return list[len(list)-1], strings.HasPrefix(mime, "text/")
}

// confirmed refuses a file that claims to be of a kind whose beginning it does
// not have.
func confirmed(f format, name string) (format, error) {
	switch {
	case f.mime == "application/pdf":
		return f, fault.New(fault.Invalid, "%q is named like a PDF but is not one: it may be damaged or was renamed. Open it, save it again as PDF, and upload that.", path.Base(name))
	case f.archived:
		return f, fault.New(fault.Invalid, "%q is named like a file of %s but is not one: it may be damaged or was renamed. Open it, save it again, and upload that.", path.Base(name), f.name)
	}
	return f, nil
}

// compound refuses the container that old Office files have, and those that
// are protected by a password.
func compound(name string) error {
	base := path.Base(name)
	f, known := typed(name, "")
	if known && f.archived {
		return fault.New(fault.Invalid, "%q is protected by a password, or is an old file under a new name. Save a copy without the password as %s and upload that.", base, f.extensions[0])
	}
	return fault.Wrap(fault.Invalid, ErrUnsupported, "%q is in the format of Office before 2007. Save it as .docx, .xlsx or .pptx and upload that.", base)
}

// ErrUnsupported is the cause of refusing a file for its type, to tell it from
// a broken file.
var ErrUnsupported = errors.New("no parser for this type")

// Unsupported is the refusal of a file called name for its type; its cause is
// ErrUnsupported (RAG-05).
func Unsupported(name string) error {
	about := ""
	if image(path.Ext(name)) {
		about = noOCR
	}
	return fault.Wrap(fault.Invalid, ErrUnsupported, "%q is of a type that cannot be read.%s Accepted are %s.", path.Base(name), about, accepted())
}

// noOCR is what to do about an image. There is no text recognition in Go that is
// well kept and needs no C: the bindings of Tesseract need cgo, and what
// runs it as WebAssembly has one author and no stable release.
const noOCR = " Text in images is not recognised here (OCR). Run text recognition on it, save the result as a PDF or as text, and upload that."

// image reports whether files of an extension, with its dot, are images.
func image(extension string) bool {
	switch strings.ToLower(extension) {
	case ".png", ".jpg", ".jpeg", ".jfif", ".gif", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".heif", ".avif":
		return true
	}
	return false
}

// accepted names the accepted types as part of a sentence.
func accepted() string {
	return "PDF (.pdf), Word (.docx), PowerPoint (.pptx), Excel (.xlsx), OpenDocument (.odt, .odp, .ods), EPUB (.epub), e-mail (.eml), Markdown (.md), HTML (.html) and plain text (.txt, .csv, .json, source code and the like)"
}

// notText reports whether a file that is no PDF cannot be text either.
func notText(head []byte) bool {
	if utf16Order(head) != nil {
		return false
	}
	for _, magic := range []string{"\x7fELF", "\x89PNG", "\xff\xd8\xff", "GIF8", "\x1f\x8b", "BM\x00", "7z\xbc\xaf", "Rar!", "MZ\x90"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	control := 0
	for _, b := range head {
		if b == 0 || b < 32 && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b {
			control++
		}
	}
	return control > len(head)/50
}

// textParser makes a parser of a function over cleaned text.
func textParser(parse func(text string) Document) func(*Parsers, context.Context, io.ReaderAt, int64) (Document, error) {
	return func(_ *Parsers, ctx context.Context, r io.ReaderAt, size int64) (Document, error) {
		raw, err := readAll(ctx, r, size)
		if err != nil {
			return Document{}, err
		}
		text := Clean(raw)
		if len(text) > MaxText {
			return Document{}, tooLong()
		}
		return parse(text), nil
	}
}

func tooLong() error {
	return fault.New(fault.Invalid, "its text is longer than %d MiB. Split it into several files.", MaxText>>20)
}

// TooManyPieces is the refusal of a file that is made of more pieces than can be
// kept; it does not name the file.
func TooManyPieces() *fault.Error {
	return fault.New(fault.Invalid, "it is made of more pieces than can be kept: headings, tables and elements with hardly any text. Split it into several files.")
}

// readAll reads a text file in pieces, so that a stopped ingestion stops here.
func readAll(ctx context.Context, r io.ReaderAt, size int64) ([]byte, error) {
	if size > maxPlain {
		return nil, tooLong()
	}
	out := make([]byte, 0, size)
	src := io.NewSectionReader(r, 0, size)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := io.CopyN(&appender{&out}, src, 1<<20)
		if errors.Is(err, io.EOF) || n == 0 && err == nil {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

type appender struct{ to *[]byte }

func (a *appender) Write(b []byte) (int, error) {
	*a.to = append(*a.to, b...)
	return len(b), nil
}
