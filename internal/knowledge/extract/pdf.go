package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"golang.org/x/text/unicode/norm"

	"liminal/internal/fault"
)

// pdfEngine is PDFium compiled to WebAssembly: Chrome's own reader, in a
// sandbox without files, clock or network, whose memory is bounded and whose
// code stops when its document's time is over. Each document gets a fresh
// instance, so a hostile one spoils nothing after it.
type pdfEngine struct{ pool pdfium.Pool }

const (
	pdfMemory    = 4096 // pages of 64 KiB: 256 MiB for one document, and as much again while it grows
	pdfInstances = 2    // documents read at once
)

// newPDFEngine makes the reader ready. That compiles it, which takes seconds of a processor;
// where there is a folder for it, what was compiled is kept there.
func newPDFEngine(code string) (*pdfEngine, error) {
	runtime := wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(pdfMemory)
	if code != "" {
		if kept, err := wazero.NewCompilationCacheWithDir(code); err == nil { // else it is compiled once more
			runtime = runtime.WithCompilationCache(kept)
		}
	}
	pool, err := webassembly.Init(webassembly.Config{
		MaxIdle:       1,
		MaxTotal:      pdfInstances,
		FSConfig:      wazero.NewFSConfig(), // the default would mount "/"
		RuntimeConfig: runtime,
		Stdout:        io.Discard,
		Stderr:        io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("start the PDF reader: %w", err)
	}
	return &pdfEngine{pool}, nil
}

// preparingAfter is how long the reader may take to be ready before whoever
// waits is told of it. Compiled already it is ready sooner.
const preparingAfter = time.Second

// readyPDF is the reader, for which the first PDF of an installation waits for
// seconds: it is compiled then and not before, so that nobody pays for it who
// has no PDF. Who waits is told what for.
func (p *Parsers) readyPDF(ctx context.Context) (*pdfEngine, error) {
	told := make(chan struct{})
	late := time.AfterFunc(preparingAfter, func() { defer close(told); report(ctx, Progress{Preparing: true}) })
	engine, err := p.pdf()
	if !late.Stop() {
		<-told
		report(ctx, Progress{})
	}
	return engine, err
}

func (e *pdfEngine) close() error { return e.pool.Close() }

// parsePDF reads the text of every page (RAG-02).
func (p *Parsers) parsePDF(ctx context.Context, r io.ReaderAt, size int64) (Document, error) {
	engine, err := p.readyPDF(ctx)
	if err != nil {
		return Document{}, err
	}
	instance, err := engine.pool.GetInstanceWithContext(ctx)
	if err != nil {
		return Document{}, fmt.Errorf("wait for the PDF reader: %w", err)
	}
	defer func() { _ = instance.Close() }() // it is thrown away
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { defer close(interrupted); interrupt(ctx, instance) })
	defer func() {
		if !stop() { // it must not reach for an instance that is closed
			<-interrupted
		}
	}()
	d := pdfReader{ctx: ctx, pdf: instance}
	if err := d.open(r, size); err != nil {
		return Document{}, err
	}
	return d.read()
}

// interrupt closes the instance's module, which makes a call running in it
// return. The library's own Kill does the same without a lock, so the module
// is reached through the exported field of its implementation instead.
func interrupt(ctx context.Context, instance pdfium.Pdfium) {
	if m := module(instance); m != nil {
		_ = m.CloseWithExitCode(context.WithoutCancel(ctx), 1)
	}
}

func module(instance pdfium.Pdfium) api.Module {
	v := reflect.Indirect(reflect.ValueOf(instance.GetImplementation()))
	if v.Kind() != reflect.Struct {
		return nil
	}
	m, _ := reflect.TypeAssert[api.Module](v.FieldByName("Module"))
	return m
}

// pdfReader reads one document.
type pdfReader struct {
	ctx  context.Context
	pdf  pdfium.Pdfium
	doc  references.FPDF_DOCUMENT
	size int

	work pageWork
}

func (d *pdfReader) open(r io.ReaderAt, size int64) error {
	res, err := d.pdf.OpenDocument(&requests.OpenDocument{FileReader: io.NewSectionReader(r, 0, size), FileReaderSize: size})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fault.Wrap(fault.Invalid, err, "this PDF is protected by a password. Save a copy without the password and upload that.")
	case err != nil:
		return d.broken(err)
	}
	d.doc = res.Document
	count, err := d.pdf.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.doc})
	if err != nil {
		return d.broken(err)
	}
	d.size = count.PageCount
	if d.size > MaxPages {
		return fault.New(fault.Invalid, "this PDF has %d pages; the limit is %d. Split it into several files.", d.size, MaxPages)
	}
	return nil
}

// broken tells a document that wanted more memory than there is from one that
// cannot be read.
func (d *pdfReader) broken(err error) error {
	if d.full() {
		return fault.Wrap(fault.Invalid, err, "this PDF needs more than %d MiB of memory to be read. Split it into several files, or save it in a simpler form, and upload that.", pdfMemory*pdfPage>>20)
	}
	return damaged(err)
}

// pdfPage is a page of the sandbox's memory; it asks for many at once, so that
// one whose memory is up stands a little below the limit.
const (
	pdfPage = 64 << 10
	pdfFull = pdfMemory * pdfPage / 10 * 7
)

func (d *pdfReader) full() bool {
	m := module(d.pdf)
	return m != nil && m.Memory() != nil && int(m.Memory().Size()) > pdfFull
}

func damaged(err error) error {
	return fault.Wrap(fault.Invalid, err, "this PDF is damaged and cannot be read. Open it in a PDF viewer, save it again, and upload that.")
}

// read extracts all pages and composes the text.
func (d *pdfReader) read() (Document, error) {
	pages := make([]string, d.size)
	total := 0
	var broken error
	for i := range pages {
		if err := d.ctx.Err(); err != nil {
			return Document{}, err
		}
		reportPages(d.ctx, i, d.size)
		text, err := d.page(i)
		switch {
		case errors.Is(err, fault.Invalid):
			return Document{}, err
		case err != nil && d.full():
			return Document{}, d.broken(err)
		case err != nil:
			broken = err // one damaged page does not lose the others
			continue
		}
		pages[i] = pageText(text)
		if total += len(pages[i]); total > MaxText {
			return Document{}, tooLong()
		}
	}
	if err := d.ctx.Err(); err != nil {
		return Document{}, err
	}
	if total < 2*d.size && total < 200 {
		if broken != nil {
			return Document{}, d.broken(broken)
		}
		return Document{}, fault.New(fault.Invalid, "this PDF has no text: its %s probably scanned images. Run text recognition (OCR) on it first.", pagesAre(d.size))
	}
	return composePages(pages, d.marks(), d.title()), nil
}

// page is the raw text of a page. The library's GetPageText does the same with
// one call into the sandbox for every character; this takes four.
func (d *pdfReader) page(index int) (string, error) {
	page, err := d.pdf.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.doc, Index: index})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = d.pdf.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: page.Page}) }()
	text, err := d.pdf.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = d.pdf.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	count, err := d.pdf.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return "", err
	}
	objects, err := d.pdf.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: requests.Page{ByReference: &page.Page}})
	if err != nil {
		return "", err
	}
	if count.Count <= 0 {
		return "", d.work.add(d.size, "", objects.Count)
	}
	res, err := d.pdf.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: min(count.Count, MaxText)})
	if err != nil {
		return "", err
	}
	return res.Text, d.work.add(d.size, res.Text, objects.Count)
}

func pagesAre(n int) string {
	if n == 1 {
		return "one page is"
	}
	return fmt.Sprintf("%d pages are", n)
}

// hyphenated is a word PDFium marks as broken at the end of its line; softHyphen
// is one whose mark is a plain hyphen.
var (
	hyphenated = regexp.MustCompile("([\\p{L}\\p{N}-]*)[\ufffe\u0002]\\s*\n?([\\p{L}\\p{N}]*)")
	softHyphen = regexp.MustCompile(`([\p{L}-]*\p{Ll}{2})-\n(\p{Ll}{2,})`)
)

// hyphenPrefixes are written with a hyphen before most words. Those that also
// begin words without one, such as "re" and "long", are not among them.
var hyphenPrefixes = map[string]bool{"self": true, "non": true, "well": true, "half": true, "quasi": true, "high": true}

// joined puts the halves of a word broken at the end of a line together. Its
// hyphen stays where it is the word's own: beside a digit, before a capital
// ("E-Mail"), after a usual prefix, in a chain ("state-of-the-art"), and where
// the page has the word with it elsewhere and nowhere without.
func joined(before, after, page string) string {
	whole := before + "-" + after
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case before == "" || after == "":
		return before + after
	case unicode.IsDigit(last) || unicode.IsDigit(next),
		unicode.IsUpper(next) && (unicode.IsLower(last) || utf8.RuneCountInString(before) == 1),
		hyphenPrefixes[strings.ToLower(before)] && len(after) > 3,
		strings.Count(before, "-") > 1,
		strings.Contains(page, whole) && !strings.Contains(page, before+after):
		return whole
	}
	return before + after
}

var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "\u00a0", " ")

// pageText cleans the text of one page.
func pageText(s string) string {
	s = strings.ToValidUTF8(lineEnds.Replace(s), "")
	// Most pages have none of these; looking first is a tenth of the work.
	if strings.ContainsAny(s, "\ufffe\u0002") {
		page := s
		s = hyphenated.ReplaceAllStringFunc(s, func(broken string) string {
			m := hyphenated.FindStringSubmatch(broken)
			return joined(m[1], m[2], page)
		})
	}
	if strings.Contains(s, "-\n") {
		page := s
		s = softHyphen.ReplaceAllStringFunc(s, func(broken string) string {
			m := softHyphen.FindStringSubmatch(broken)
			return joined(m[1], m[2], page) + "\n"
		})
	}
	return tidy(accented(ligatures.Replace(s)))
}

// TeX's oldest fonts set an accent and its letter side by side: "f¨ur".
var (
	apart     = regexp.MustCompile(`([´ˆ¨¸˜ˇ])(\p{L})`)
	grave     = regexp.MustCompile("(\\p{L})`([aeuAEU])|(^|\\s)`([aA])(\\s)")
	combining = strings.NewReplacer("´", "\u0301", "ˆ", "\u0302", "¨", "\u0308", "¸", "\u0327", "˜", "\u0303", "ˇ", "\u030c")
)

// accented puts such accents onto their letters, where there is such a letter.
func accented(s string) string {
	if !strings.ContainsAny(s, "`´ˆ¨¸˜ˇ") {
		return norm.NFC.String(s)
	}
	s = apart.ReplaceAllStringFunc(s, func(pair string) string {
		m := apart.FindStringSubmatch(pair)
		letter := strings.NewReplacer("ı", "i", "ȷ", "j").Replace(m[2])
		one := norm.NFC.String(letter + combining.Replace(m[1]))
		if utf8.RuneCountInString(one) != 1 {
			return pair
		}
		return one
	})
	return norm.NFC.String(grave.ReplaceAllString(s, "$1$3$2$4\u0300$5"))
}

// title is the document's own title, unless a program made it up.
func (d *pdfReader) title() string {
	res, err := d.pdf.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: d.doc, Tag: "Title"})
	if err != nil {
		return ""
	}
	return madeUp(res.Value)
}

// fileLike is a title that is the name of a file.
var fileLike = regexp.MustCompile(`^\S+\.[a-z]{2,4}$`)

// madeUp is a title from a file's properties, or nothing where a program made
// it up.
func madeUp(title string) string {
	t := strings.Join(strings.Fields(tidy(title)), " ")
	low := strings.ToLower(t)
	if fileLike.MatchString(low) || low == "presentation" {
		return ""
	}
	for _, made := range []string{
		"microsoft word", "untitled", "powerpoint", "unbenannt", ".doc", ".tex", ".dvi", ".indd", ".odt", ".fm", ".ppt", ".xls",
	} {
		if strings.Contains(low, made) {
			return ""
		}
	}
	return t
}
