package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"liminal/internal/fault"
	"liminal/internal/tool"
)

// The bounds of one reading, in bytes.
const (
	readDefault = 50_000
	readMost    = 200_000
)

// readFile reads a text file of the person's own.
type readFile struct{ files Files }

func (readFile) Name() string { return "files.read_v1" }

func (t readFile) Run(ctx context.Context, c *tool.Call) (map[string]any, error) {
	offset := int64(number(c, "offset", 0))
	path, err := placed(c)
	if err != nil {
		return nil, err
	}
	f, err := t.files.Open(ctx, c.Viewer, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content := make([]byte, min(number(c, "limit", readDefault), readMost))
	n, err := f.ReadAt(content, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	content = whole(content[:n])
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, fault.New(fault.Invalid, "%s is not a text file.", path)
	}
	next := offset + int64(len(content))
	out := map[string]any{
		"path": path, "text": string(bytes.ToValidUTF8(content, []byte("\uFFFD"))),
		"size": float64(info.Size()), "offset": float64(offset), "more": next < info.Size(),
	}
	if next < info.Size() {
		out["notice"] = fmt.Sprintf("The file has %d bytes and goes on from offset %d.", info.Size(), next)
	}
	return out, nil
}

// whole leaves out the bytes of a character that was cut at the end: the next
// reading begins with it.
func whole(content []byte) []byte {
	for at := len(content) - 1; at >= 0 && at > len(content)-utf8.UTFMax; at-- {
		if utf8.RuneStart(content[at]) {
			if at > 0 && !utf8.FullRune(content[at:]) {
				return content[:at]
			}
			break
		}
	}
	return content
}
