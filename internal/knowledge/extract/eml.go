package extract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"liminal/internal/fault"
)

// The bounds of one e-mail. Its text is bounded as that of every file.
const (
	maxMailHeader = 1 << 20 // bytes before the body
	maxMailParts  = 1_000   // bodies and attachments
	maxMailDepth  = 12      // of parts in parts, and of messages in messages
	maxMailField  = 4_000   // bytes of a header that are kept, of many addresses
	maxMailFile   = 200     // bytes of the name of an attachment
)

// parseMail reads an e-mail as it is saved by mail programs (RAG-02): who wrote
// it to whom, when and about what, its text, and the names of what is attached.
func parseMail(_ *Parsers, ctx context.Context, r io.ReaderAt, size int64) (Document, error) {
	raw, err := readAll(ctx, r, size)
	if err != nil {
		return Document{}, err
	}
	m := mailReader{ctx: ctx}
	if err := m.message(envelope(raw), 1); err != nil {
		return Document{}, err
	}
	return m.out.extract(m.title, 0), nil
}

// envelope is a message without what stands before its header in some files: a
// byte order mark, blank lines, and the "From " line of a mailbox.
func envelope(raw []byte) []byte {
	raw = bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), "\r\n")
	if bytes.HasPrefix(raw, []byte("From ")) || bytes.HasPrefix(raw, []byte(">From ")) {
		if _, rest, more := bytes.Cut(raw, []byte("\n")); more {
			return rest
		}
	}
	return raw
}

// mailReader reads one e-mail, with those inside of it.
type mailReader struct {
	ctx   context.Context
	out   composer
	title string
	parts int
}

func notMail(cause error) error {
	return fault.Wrap(fault.Invalid, cause, "this is not an e-mail: it does not begin with who wrote it, to whom and when. Save the message again as .eml, and upload that.")
}

// headerEnds is where the header of a message ends, or its length.
func headerEnds(raw []byte) int {
	for _, blank := range []string{"\n\n", "\n\r\n"} {
		if at := bytes.Index(raw[:min(len(raw), maxMailHeader)], []byte(blank)); at >= 0 {
			return at
		}
	}
	return len(raw)
}

// message reads a message; level is that of its subject as a heading.
func (m *mailReader) message(raw []byte, level int) error {
	if headerEnds(raw) > maxMailHeader {
		return notMail(nil)
	}
	read, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return notMail(err)
	}
	h := read.Header
	if h.Get("From")+h.Get("To")+h.Get("Date")+h.Get("Subject")+h.Get("Received") == "" {
		return notMail(nil)
	}
	subject := field(h.Get("Subject"))
	m.title = cmp.Or(m.title, subject)
	m.out.heading(level, subject)
	m.out.write("", strings.Join(headLines(h), "\n"))
	var attached []string
	if err := m.part(textproto.MIMEHeader(h), read.Body, level, &attached); err != nil {
		return err
	}
	if len(attached) > 0 {
		m.out.write("", "Attachments (not read): "+strings.Join(attached, ", "))
	}
	return nil
}

// headLines are the lines of a header that people read.
func headLines(h mail.Header) (lines []string) {
	for _, name := range []string{"From", "To", "Cc", "Date"} {
		value := h.Get(name)
		switch name {
		case "Date":
			if at, err := mail.ParseDate(value); err == nil {
				value = at.Format("Monday, 2 January 2006, 15:04 -0700")
			}
		default:
			value = people(value)
		}
		if value = field(value); value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	return lines
}

// encodedWords decodes what a header says in other characters than ASCII.
var encodedWords = mime.WordDecoder{CharsetReader: charset.NewReaderLabel}

// field is the value of a header on one line, decoded where it can be.
func field(value string) string {
	value = value[:min(len(value), maxMailHeader)]
	if decoded, err := encodedWords.DecodeHeader(value); err == nil {
		value = decoded
	}
	return shorten(strings.Join(strings.Fields(Clean([]byte(value))), " "), maxMailField)
}

// people are the addresses of a header, as "Name <address>".
func people(value string) string {
	parser := mail.AddressParser{WordDecoder: &encodedWords}
	list, err := parser.ParseList(value)
	if err != nil {
		return value
	}
	names := make([]string, len(list))
	for i, a := range list {
		if names[i] = a.Address; a.Name != "" {
			names[i] = fmt.Sprintf("%s <%s>", a.Name, a.Address)
		}
	}
	return strings.Join(names, ", ")
}

// part reads one part of a message: its text, or, of what has another type or is
// attached, the name. level also bounds how deep parts lie in parts.
func (m *mailReader) part(h textproto.MIMEHeader, body io.Reader, level int, attached *[]string) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if m.parts++; m.parts > maxMailParts || level > maxMailDepth {
		return TooManyPieces()
	}
	kind, params := mediaType(h)
	if name, is := attachment(h, kind, params); is {
		*attached = append(*attached, name)
		return nil
	}
	if strings.HasPrefix(kind, "multipart/") {
		return m.several(kind, params["boundary"], body, level, attached)
	}
	raw, err := decoded(h, body)
	if err != nil {
		return err
	}
	if kind == "message/rfc822" {
		if m.message(envelope(raw), level+1) != nil { // what is forwarded may be cut off
			*attached = append(*attached, kind)
		}
		return m.ctx.Err()
	}
	return m.text(kind, params, raw, level)
}

// mediaType is the type of a part; without one it is plain text.
func mediaType(h textproto.MIMEHeader) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil && kind == "" {
		return "text/plain", map[string]string{}
	}
	return kind, params
}

// attachment reports whether a part is a file beside the text, and its name.
func attachment(h textproto.MIMEHeader, kind string, params map[string]string) (name string, is bool) {
	disposition, said, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name = shorten(field(cmp.Or(said["filename"], params["name"])), maxMailFile)
	readable := kind == "text/plain" || kind == "text/html" || kind == "message/rfc822" || strings.HasPrefix(kind, "multipart/")
	if readable && (disposition != "attachment" || kind == "message/rfc822") {
		return "", false
	}
	return cmp.Or(name, kind), true
}

// several reads the parts of a part. Of alternatives the plain one is read, or
// else the last that can be.
func (m *mailReader) several(kind, boundary string, body io.Reader, level int, attached *[]string) error {
	if boundary == "" {
		return nil
	}
	parts := multipart.NewReader(body, boundary)
	var chosen *alternative
	for {
		p, err := parts.NextRawPart()
		if err != nil { // its end, or where a message was cut off: what came before counts
			break
		}
		if kind != "multipart/alternative" {
			if err := m.part(p.Header, p, level+1, attached); err != nil {
				return err
			}
			continue
		}
		if m.parts++; m.parts > maxMailParts {
			return TooManyPieces()
		}
		raw, err := io.ReadAll(p)
		if err != nil && len(raw) == 0 {
			break
		}
		if a := (&alternative{p.Header, raw}); chosen == nil || a.better(chosen) {
			chosen = a
		}
	}
	if chosen == nil {
		return nil
	}
	return m.part(chosen.header, bytes.NewReader(chosen.raw), level+1, attached)
}

// alternative is one of several forms of the same text.
type alternative struct {
	header textproto.MIMEHeader
	raw    []byte
}

func (a *alternative) better(than *alternative) bool { return a.rank() >= than.rank() }

func (a *alternative) rank() int {
	kind, _ := mediaType(a.header)
	switch {
	case kind == "text/plain" && len(bytes.TrimSpace(a.raw)) > 0:
		return 3
	case kind == "text/html", strings.HasPrefix(kind, "multipart/"):
		return 2
	case kind == "text/plain":
		return 1
	}
	return 0
}

// decoded is the content of a part as its transfer encoding carries it. What is
// broken ends it.
func decoded(h textproto.MIMEHeader, body io.Reader) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, onlyBase64{body})
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxPlain+1))
	if len(raw) > maxPlain {
		return nil, tooLong()
	}
	if err != nil && len(raw) == 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil //nolint:nilerr // a broken part does not lose the others
	}
	return raw, nil
}

// onlyBase64 drops what some programs write between the lines of base64.
type onlyBase64 struct{ io.Reader }

func (r onlyBase64) Read(b []byte) (int, error) {
	for {
		n, err := r.Reader.Read(b)
		kept := b[:0]
		for _, c := range b[:n] {
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '=' {
				kept = append(kept, c)
			}
		}
		if len(kept) > 0 || err != nil || len(b) == 0 {
			return len(kept), err
		}
	}
}

// text writes the text of a part.
func (m *mailReader) text(kind string, params map[string]string, raw []byte, level int) error {
	raw = inUTF8(raw, params["charset"])
	if kind == "text/html" {
		return m.page(raw, level)
	}
	text := Clean(raw)
	if strings.EqualFold(params["format"], "flowed") {
		text = unflowed(text, strings.EqualFold(params["delsp"], "yes"))
	}
	if m.out.text.Len()+len(text) > MaxText {
		return tooLong()
	}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		m.out.write("", paragraph)
	}
	return nil
}

// inUTF8 is a text in UTF-8 where its declared characters are known and it is
// not in UTF-8 already.
func inUTF8(raw []byte, label string) []byte {
	if label == "" || utf8.Valid(raw) && !strings.HasPrefix(strings.ToLower(label), "iso-2022") && !strings.HasPrefix(strings.ToLower(label), "utf-16") {
		return raw
	}
	r, err := charset.NewReaderLabel(label, bytes.NewReader(raw))
	if err != nil {
		return raw
	}
	if text, err := io.ReadAll(io.LimitReader(r, maxPlain)); err == nil {
		return text
	}
	return raw
}

// page writes what stands in an HTML part, under the subject.
func (m *mailReader) page(raw []byte, level int) error {
	x, err := parseHTML(raw)
	if err != nil {
		return err
	}
	if m.out.text.Len()+len(x.Text) > MaxText {
		return tooLong()
	}
	for _, b := range x.Blocks {
		text := x.Text[b.Start:b.End]
		if b.Kind == "heading" {
			m.out.heading(level+1+strings.Count(b.Heading, HeadingSeparator), text)
			continue
		}
		m.out.write(b.Kind, text)
	}
	return nil
}

// unflowed joins the lines that a mail program broke where they would have been
// too long (RFC 3676): those that end in a space. The space itself goes where
// the message says so.
func unflowed(text string, dropSpace bool) string {
	var b strings.Builder
	soft, depth := false, -1
	for line := range strings.SplitSeq(text, "\n") {
		said := strings.TrimLeft(line, ">")
		quoted := len(line) - len(said)
		said = strings.TrimPrefix(said, " ")
		if !soft || quoted != depth { // else it goes on
			if depth >= 0 {
				b.WriteByte('\n')
			}
			if b.WriteString(line[:quoted]); quoted > 0 {
				b.WriteByte(' ')
			}
		}
		soft, depth = strings.HasSuffix(said, " ") && said != "-- ", quoted // "-- " stands above a signature
		if soft && dropSpace {
			said = said[:len(said)-1]
		}
		b.WriteString(said)
	}
	return b.String()
}
