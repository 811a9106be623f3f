package extract

import (
	"path"
	"strings"

	"golang.org/x/net/html"

	"liminal/internal/fault"
)

// epub reads a book chapter by chapter, in the order it is read in.
func (a *archive) epub() (Document, error) {
	if raw, err := a.bytes("META-INF/encryption.xml"); err == nil && strings.Contains(string(raw), "www.w3.org/2001/04/xmlenc#aes") {
		return Document{}, fault.New(fault.Invalid, "the book is encrypted (DRM), and only the programs of its shop can open it.")
	}
	var container struct {
		Roots []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := a.decode("META-INF/container.xml", &container); err != nil {
		return Document{}, err
	}
	if len(container.Roots) == 0 {
		return Document{}, fault.New(fault.Invalid, "the book is damaged: it does not say where its text is.")
	}
	root := container.Roots[0].Path
	var book struct {
		Title string `xml:"metadata>title"`
		Items []struct {
			ID   string `xml:"id,attr"`
			Href string `xml:"href,attr"`
		} `xml:"manifest>item"`
		Spine []struct {
			ID     string `xml:"idref,attr"`
			Linear string `xml:"linear,attr"`
		} `xml:"spine>itemref"`
	}
	if err := a.decode(root, &book); err != nil {
		return Document{}, err
	}
	parts := map[string]string{}
	for _, item := range book.Items {
		parts[item.ID] = path.Join(path.Dir(root), item.Href)
	}
	w := walker{}
	for _, chapter := range book.Spine {
		if chapter.Linear == "no" || !a.has(parts[chapter.ID]) {
			continue
		}
		if err := a.chapter(&w, parts[chapter.ID]); err != nil {
			return Document{}, err
		}
	}
	return w.out.extract(book.Title, 0), nil
}

// chapter writes one page of a book.
func (a *archive) chapter(w *walker, part string) error {
	raw, err := a.bytes(part)
	if err != nil {
		return err
	}
	text := Clean(raw)
	if strings.Count(text, "<") > maxElements {
		return TooManyPieces()
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return brokenArchive(err)
	}
	w.block(doc, 0)
	w.flush("")
	if w.out.text.Len() > MaxText {
		return tooLong()
	}
	return nil
}
