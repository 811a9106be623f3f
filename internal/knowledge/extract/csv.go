package extract

import (
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// parseCSV reads a table of values. Its first row is said again from time to
// time, so that a passage tells what its columns are. What is no table after
// all is read as text.
func parseCSV(text string) Document {
	comma := separated(text)
	if comma == 0 {
		return parseText(text)
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = comma, true, -1, true
	var out composer
	var header []string
	written := 0
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out.extract("", 0)
		}
		if err != nil || out.text.Len() > MaxText {
			return parseText(text)
		}
		switch {
		case header == nil && filled(row) > 1:
			header = append([]string{}, repeatable(row)...)
		case header != nil && written%headerEvery == 0:
			out.row(header, true)
		}
		if out.row(row, written == 0) {
			written++
		}
	}
}

// separated is the sign between the values of a table, or 0: the one that
// stands equally often in the first lines.
func separated(text string) rune {
	for _, sign := range ",;\t|" {
		l := lines{text: text}
		per, seen := -1, 0
		for seen < 5 && l.scan() {
			if strings.TrimSpace(l.line()) == "" {
				continue
			}
			n := outside(l.line(), sign)
			if per >= 0 && n != per {
				per = 0
				break
			}
			per = n
			seen++
		}
		if per > 0 && seen > 1 {
			return sign
		}
	}
	return 0
}

// outside counts a sign outside of quotes.
func outside(line string, sign rune) (n int) {
	quoted := false
	for _, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case r == sign && !quoted:
			n++
		}
	}
	return n
}
