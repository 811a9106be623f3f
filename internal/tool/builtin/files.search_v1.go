package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// The bounds of one search of files.
const (
	maxHits      = 100
	maxSearched  = 2000     // files
	searchedEach = 2 << 20  // bytes of one file
	searchedAll  = 64 << 20 // bytes of all
	hitChars     = 300
)

// searchFiles looks for words in the lines of the person's own text files.
type searchFiles struct{ files Files }

func (searchFiles) Name() string { return "files.search_v1" }

func (t searchFiles) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	query := strings.ToLower(words(c, "query"))
	if query == "" {
		return nil, fault.New(fault.Invalid, "%s needs words to look for.", t.Name())
	}
	p, err := placed(c)
	if err != nil {
		return nil, err
	}
	found, err := t.files.Walk(ctx, c.Viewer, p, true)
	if err != nil {
		return nil, err
	}
	s := grep{call: c, query: query, left: searchedAll}
	for i, f := range found {
		if i == maxSearched || s.left <= 0 || len(s.matches) >= maxHits {
			s.more = true
			break
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := s.file(ctx, t.files, f.Path); err != nil {
			return nil, err
		}
	}
	return s.outputs(german(c)), nil
}

// grep is one search under way.
type grep struct {
	call    *tool.Call
	query   string
	left    int64
	matches []any
	lines   []string
	more    bool
}

// file looks through one file. One that has just gone, or is no text, holds
// nothing.
func (s *grep) file(ctx context.Context, from Files, p string) error {
	f, err := from.Open(ctx, s.call.Viewer, p)
	if errors.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, err := io.ReadAll(io.LimitReader(f, min(searchedEach, s.left)))
	if err != nil {
		return err
	}
	s.left -= int64(len(content))
	if bytes.IndexByte(content, 0) >= 0 {
		return nil
	}
	if len(content) == searchedEach {
		s.more = true
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, searchedEach+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.ToValidUTF8(lines.Text(), "\uFFFD")
		at := strings.Index(strings.ToLower(line), s.query)
		if at < 0 {
			continue
		}
		if len(s.matches) == maxHits {
			s.more = true
			return nil
		}
		s.hit(beside(s.call, p), n, around(line, at))
	}
	return nil
}

func (s *grep) hit(p string, line int, text string) {
	s.matches = append(s.matches, map[string]any{"path": p, "line": float64(line), "text": text})
	s.lines = append(s.lines, fmt.Sprintf("%s:%d: %s", p, line, text))
}

// around is a line, or of a long one what is about the byte at.
func around(line string, at int) string {
	line = strings.TrimSpace(line)
	if len(line) <= hitChars {
		return line
	}
	from := max(0, min(at, len(line))-hitChars/3)
	return strings.TrimSpace(strings.ToValidUTF8(line[from:min(len(line), from+hitChars)], ""))
}

func (s *grep) outputs(german bool) map[string]any {
	matches, lines := s.matches, s.lines
	if matches == nil {
		matches, lines = []any{}, []string{"Nothing found."}
	}
	if s.more {
		lines = append(lines, "… and not everything was looked through: search for more, or in one folder")
	}
	return map[string]any{
		"matches": matches, "more": s.more, "text": strings.Join(lines, "\n"),
		"summary": count(len(matches), "line", german),
	}
}
