package extract

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"liminal/internal/fault"
)

const (
	maxSheetCells = 5_000_000 // of a workbook, with the empty ones before a cell
	sheetMemory   = 32 << 20  // bytes of a sheet that is kept in memory; a larger one goes to a temporary file
	headerEvery   = 30        // rows after which a table says again what its columns are
)

// xlsx reads a workbook: each visible sheet under its name, row by row, its
// values as they are shown. The first row is said again from time to time, so
// that a passage of a long table tells what its columns are.
func (a *archive) xlsx(r io.ReaderAt, size int64) (x Document, err error) {
	defer func() {
		if hurt := recover(); hurt != nil { // a library of this size has panicked on hostile files before
			x, err = Document{}, brokenArchive(fmt.Errorf("the reader of workbooks: %v", hurt))
		}
	}()
	var unpacked uint64
	for _, f := range a.files {
		unpacked += min(f.UncompressedSize64, maxUnzipped)
		if unpacked > maxUnzipped {
			return Document{}, tooLong()
		}
	}
	book, err := excelize.OpenReader(io.NewSectionReader(r, 0, size), excelize.Options{UnzipSizeLimit: maxUnzipped, UnzipXMLSizeLimit: sheetMemory})
	switch {
	case errors.Is(err, excelize.ErrWorkbookFileFormat):
		return Document{}, fault.Wrap(fault.Invalid, err, "the file is not a workbook that can be read. Save it as .xlsx and upload that.")
	case err != nil:
		return Document{}, brokenArchive(err)
	}
	defer func() { _ = book.Close() }() // it was only read
	s := sheets{archive: a, book: book, left: maxSheetCells}
	for _, name := range book.GetSheetList() {
		if visible, err := book.GetSheetVisible(name); err != nil || !visible {
			continue
		}
		if err := s.sheet(name); err != nil {
			return Document{}, err
		}
	}
	return s.out.extract(a.coreTitle(), 0), nil
}

// sheets is a workbook being read.
type sheets struct {
	*archive
	book *excelize.File
	out  composer
	left int // cells
}

func (s *sheets) sheet(name string) error {
	rows, err := s.book.Rows(name)
	if err != nil {
		return nil //nolint:nilerr // a sheet of nothing but a chart has no rows
	}
	defer func() { _ = rows.Close() }() // it was only read
	var header []string
	written := 0
	for rows.Next() {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		cells, err := rows.Columns()
		if err != nil {
			return brokenArchive(err)
		}
		if s.left -= len(cells) + 1; s.left < 0 || s.out.text.Len() > MaxText {
			return tooLong()
		}
		if !slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) != "" }) {
			continue
		}
		if written == 0 {
			s.out.path = outline{}
			s.out.heading(1, name)
		}
		switch {
		case header == nil && filled(cells) > 1:
			header = repeatable(cells)
		case header != nil && written%headerEvery == 0:
			s.out.row(header, true)
		}
		s.out.row(cells, written == 0)
		written++
	}
	if err := rows.Error(); err != nil {
		return brokenArchive(err)
	}
	return nil
}

// maxHeader is how long, in bytes, a first row may be that is said again.
const maxHeader = 8 << 10

// repeatable is a first row, or an empty one where saying it again would make
// much of little.
func repeatable(cells []string) []string {
	size := 0
	for _, c := range cells {
		if size += len(c) + 1; size > maxHeader {
			return []string{}
		}
	}
	return cells
}

// filled is how many cells of a row say something.
func filled(cells []string) (n int) {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}
