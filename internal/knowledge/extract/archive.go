package extract

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"

	"liminal/internal/fault"
)

// Word, PowerPoint, OpenDocument and EPUB files are archives of XML. The
// libraries there are for DOCX and PPTX in Go give a flat text, or are far from
// kept; what a citation needs (headings, list numbers, tables, slides, notes)
// is read here from the parts themselves. XLSX goes through excelize, for its
// number formats.

// The bounds of an archive. Sizes are those of what comes out of it, which a
// file of a few kilobytes may claim to be endless.
const (
	maxParts    = 20_000    // files in an archive
	maxPart     = 128 << 20 // bytes of one
	maxUnzipped = 512 << 20 // bytes of all that is read
	maxNodes    = 5_000_000 // elements and texts of the parts that are read
	maxNesting  = 2_000     // elements in elements
)

// archive is an opened zip file. No name in it ever reaches a file system,
// and nothing outside of it is followed.
type archive struct {
	ctx   context.Context
	files map[string]*zip.File
	left  int64 // bytes that may still be read
	nodes int   // and elements
}

func openArchive(ctx context.Context, r io.ReaderAt, size int64) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, brokenArchive(err)
	}
	if len(z.File) > maxParts {
		return nil, TooManyPieces()
	}
	a := &archive{ctx: ctx, files: make(map[string]*zip.File, len(z.File)), left: maxUnzipped, nodes: maxNodes}
	for _, f := range z.File {
		if f.Flags&1 != 0 {
			return nil, locked()
		}
		a.files[partName(f.Name)] = f
	}
	return a, nil
}

// partName is a name in an archive the way it is looked up.
func partName(name string) string {
	return strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
}

func brokenArchive(err error) error {
	return fault.Wrap(fault.Invalid, err, "the file is damaged and cannot be read. Open it in the program it was made with, save it again, and upload that.")
}

func locked() error {
	return fault.New(fault.Invalid, "the file is protected by a password. Save a copy without the password and upload that.")
}

// has reports whether the archive holds a part.
func (a *archive) has(name string) bool { return a.files[partName(name)] != nil }

// part opens a part for reading within the bounds.
func (a *archive) part(name string) (io.ReadCloser, error) {
	f := a.files[partName(name)]
	if f == nil {
		return nil, fault.New(fault.Invalid, "the file is damaged: it lacks its part %q.", path.Base(name))
	}
	if f.UncompressedSize64 > maxPart { // what it claims; what it is is counted
		return nil, tooLong()
	}
	rc, err := f.Open()
	if err != nil {
		return nil, brokenArchive(err)
	}
	return &bounded{rc, a, maxPart}, nil
}

// bounded reads a part and fails beyond the bounds.
type bounded struct {
	io.ReadCloser
	of   *archive
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.of.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.of.left -= int64(n)
	if b.left < 0 || b.of.left < 0 {
		return 0, tooLong()
	}
	return n, err
}

// bytes is the whole of a part.
func (a *archive) bytes(name string) ([]byte, error) {
	rc, err := a.part(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rc.Close() }() // it was only read
	raw, err := io.ReadAll(rc)
	return raw, a.trouble(err)
}

// trouble is an error of reading as a person may see it.
func (a *archive) trouble(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	if cause := a.ctx.Err(); cause != nil {
		return cause
	}
	if _, told := errors.AsType[*fault.Error](err); told {
		return err
	}
	return brokenArchive(err)
}

// decode reads a small part into a struct of encoding/xml; a part that is not
// there leaves it as it is.
func (a *archive) decode(name string, into any) error {
	if !a.has(name) {
		return nil
	}
	raw, err := a.bytes(name)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(bytes.NewReader(raw))
	d.CharsetReader = charset.NewReaderLabel
	return a.trouble(xml.NewTokenDecoder(&counter{of: a, d: d}).Decode(into))
}

// keptNodes is how much more an element counts that is kept and not only told.
const keptNodes = 9

// counter gives the tokens of a part to encoding/xml within the bounds: it
// keeps every element that is open.
type counter struct {
	of    *archive
	d     *xml.Decoder
	depth int
}

func (c *counter) Token() (xml.Token, error) {
	token, err := c.of.token(c.d, c.depth)
	switch token.(type) {
	case nil:
		err = cmp.Or(err, io.EOF)
	case xml.StartElement:
		c.depth++
		c.of.nodes -= keptNodes
	case xml.EndElement:
		c.depth--
	default:
	}
	return token, err
}

// visitor is told what stands in a part of XML, in order. Names are without
// their prefix: the two families of OOXML differ in nothing else.
type visitor interface {
	// open is told of an element; false leaves out all that is in it.
	open(name string, attr func(name string) string) bool
	close(name string)
	text(s string)
}

// walk tells a visitor what stands in a part.
func (a *archive) walk(name string, v visitor) error {
	rc, err := a.part(name)
	if err != nil {
		return err
	}
	defer func() { _ = rc.Close() }() // it was only read
	d := xml.NewDecoder(rc)
	d.CharsetReader = charset.NewReaderLabel
	return a.trouble(a.tell(d, v))
}

func (a *archive) tell(d *xml.Decoder, v visitor) error {
	for depth := 0; ; {
		token, err := a.token(d, depth)
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case nil:
			return nil
		case xml.StartElement:
			if !v.open(t.Name.Local, func(name string) string { return attribute(t.Attr, name) }) {
				if err := a.pass(d); err != nil {
					return err
				}
				continue
			}
			depth++
		case xml.EndElement:
			if depth--; depth < 0 {
				return errors.New("an element ends that never began")
			}
			v.close(t.Name.Local)
		case xml.CharData:
			v.text(string(t))
		default: // comments and instructions say nothing
		}
	}
}

// token is the next one of a part, nil at its end. Names need no resolving, and
// ends are matched by whoever counts the depth.
func (a *archive) token(d *xml.Decoder, depth int) (xml.Token, error) {
	token, err := d.RawToken()
	switch {
	case errors.Is(err, io.EOF) && depth == 0:
		return nil, nil //nolint:nilnil // the end of a part is no error
	case errors.Is(err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	if a.nodes--; a.nodes < 0 || depth > maxNesting {
		return nil, TooManyPieces()
	}
	return token, nil
}

// pass reads to the end of an element that is left out.
func (a *archive) pass(d *xml.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := a.token(d, depth)
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		default:
		}
	}
	return nil
}

// attribute finds an attribute by its name; ":id" is an id with a prefix,
// whatever that is.
func attribute(list []xml.Attr, name string) string {
	local, prefixed := strings.CutPrefix(name, ":")
	for _, a := range list {
		if a.Name.Local == local && (!prefixed || a.Name.Space != "") {
			return a.Value
		}
	}
	return ""
}

// relation is one entry of a part's list of what it refers to.
type relation struct {
	ID     string `xml:"Id,attr"`
	Type   string `xml:"Type,attr"`
	Target string `xml:"Target,attr"`
	Mode   string `xml:"TargetMode,attr"`
}

// is reports whether the relation is of a kind, which is the end of its type.
func (r relation) is(kind string) bool { return strings.HasSuffix(r.Type, "/"+kind) }

// relations are those of a part that stay inside the archive, their targets as
// names of parts. What leads outside is nobody's business here.
func (a *archive) relations(part string) ([]relation, error) {
	dir, base := path.Split(partName(part))
	var list struct {
		Relations []relation `xml:"Relationship"`
	}
	if err := a.decode(dir+"_rels/"+base+".rels", &list); err != nil {
		return nil, err
	}
	var inside []relation
	for _, r := range list.Relations {
		if r.Mode == "External" {
			continue
		}
		if !strings.HasPrefix(r.Target, "/") {
			r.Target = dir + r.Target
		}
		r.Target = partName(r.Target)
		inside = append(inside, r)
	}
	return inside, nil
}

// parseArchive finds out what an archive is by what it holds, whatever it is
// called, and reads it.
func (p *Parsers) parseArchive(ctx context.Context, r io.ReaderAt, size int64) (Document, error) {
	a, err := openArchive(ctx, r, size)
	if err != nil {
		return Document{}, err
	}
	if kind, err := a.bytes("mimetype"); err == nil {
		switch kind := strings.TrimSpace(string(kind)); {
		case kind == "application/epub+zip":
			return a.epub()
		case strings.HasPrefix(kind, "application/vnd.oasis.opendocument."):
			return a.openDocument()
		}
	}
	main, root, err := a.main()
	if err != nil {
		return Document{}, err
	}
	switch root {
	case "document":
		return a.docx(main)
	case "presentation":
		return a.pptx(main)
	case "workbook":
		return a.xlsx(r, size)
	}
	return Document{}, fault.Wrap(fault.Invalid, ErrUnsupported, "it is an archive, or a file of a kind that cannot be read. Accepted are %s.", accepted())
}

// main is the main part of an Office file and the name of its root element.
func (a *archive) main() (part, root string, err error) {
	list, err := a.relations("")
	if err != nil {
		return "", "", err
	}
	for _, r := range list {
		if r.is("officeDocument") && a.has(r.Target) {
			root, err := a.root(r.Target)
			return r.Target, root, err
		}
	}
	return "", "", nil
}

// root is the name of a part's root element; of a part that is no XML, nothing.
func (a *archive) root(part string) (string, error) {
	rc, err := a.part(part)
	if err != nil {
		return "", err
	}
	defer func() { _ = rc.Close() }() // it was only read
	d := xml.NewDecoder(rc)
	d.CharsetReader = charset.NewReaderLabel
	for {
		token, err := d.RawToken()
		if err != nil {
			return "", a.trouble(err)
		}
		if start, ok := token.(xml.StartElement); ok {
			return start.Name.Local, nil
		}
	}
}

// coreTitle is the title an Office file says it has.
func (a *archive) coreTitle() string {
	list, err := a.relations("")
	if err != nil {
		return ""
	}
	for _, r := range list {
		if r.is("core-properties") {
			var core struct {
				Title string `xml:"title"`
			}
			if a.decode(r.Target, &core) == nil {
				return madeUp(core.Title)
			}
		}
	}
	return ""
}
