package files

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
)

const mib = 1 << 20

// types are the extensions people may upload and what they are (FILE-04).
// Only the extension decides, never the machine's own table or the browser.
var types = map[string]string{
	".txt": "text/plain", ".text": "text/plain", ".log": "text/plain", ".rst": "text/plain", ".org": "text/plain",
	".tex": "text/plain", ".csv": "text/csv", ".tsv": "text/tab-separated-values",
	".md": "text/markdown", ".markdown": "text/markdown",
	".html": "text/html", ".htm": "text/html", ".xhtml": "text/html",
	".pdf":  "application/pdf",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".docm": "application/vnd.ms-word.document.macroenabled.12",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".pptm": "application/vnd.ms-powerpoint.presentation.macroenabled.12",
	".ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
	".odt":  "application/vnd.oasis.opendocument.text",
	".odp":  "application/vnd.oasis.opendocument.presentation",
	".ods":  "application/vnd.oasis.opendocument.spreadsheet",
	".epub": "application/epub+zip",
	".eml":  "message/rfc822",
	".json": "application/json", ".jsonl": "application/json", ".yaml": "text/plain", ".yml": "text/plain",
	".toml": "text/plain", ".ini": "text/plain", ".xml": "text/plain", ".sql": "text/plain",
	".go": "text/plain", ".py": "text/plain", ".js": "text/plain", ".ts": "text/plain", ".tsx": "text/plain",
	".jsx": "text/plain", ".css": "text/plain", ".java": "text/plain", ".kt": "text/plain", ".c": "text/plain",
	".h": "text/plain", ".cc": "text/plain", ".cpp": "text/plain", ".hpp": "text/plain", ".cs": "text/plain",
	".rs": "text/plain", ".rb": "text/plain", ".php": "text/plain", ".sh": "text/plain", ".swift": "text/plain",
	".proto": "text/plain", ".diff": "text/plain", ".patch": "text/plain",
}

// Extensions lists what may be uploaded, sorted, with dots.
func Extensions() []string { return slices.Sorted(maps.Keys(types)) }

// TypeOf is the MIME type of a name; a name of no allowed extension is Invalid.
func TypeOf(name string) (string, error) {
	ext := strings.ToLower(path.Ext(name))
	if t, ok := types[ext]; ok {
		return t, nil
	}
	if ext == "" {
		ext = "without an extension"
	}
	return "", refused(ext, Extensions())
}

func refused(ext string, accepted []string) error {
	if images[ext] {
		return fault.New(fault.Invalid, "Files %s are images, and text in images is not recognised here (OCR). Run text recognition on it, save the result as a PDF or as text, and upload that.", ext).
			With(map[string]any{"field": "file", "extensions": accepted, "reason": "image"})
	}
	return fault.New(fault.Invalid, "Files %s cannot be read. Allowed are text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB, e-mail and source code.", ext).
		With(map[string]any{"field": "file", "extensions": accepted})
}

// images are the extensions that people try most of what would need text
// recognition.
var images = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".jfif": true, ".gif": true, ".webp": true, ".tif": true, ".tiff": true,
	".bmp": true, ".heic": true, ".heif": true, ".avif": true,
}

// foreign is the type of files the program itself does not read.
const foreign = "application/octet-stream"

// Accept makes the roots take files of further types as well: those that more
// lists for a viewer, as extensions with dots, because a tool of theirs makes
// text of them (RAG-02). It is called before the first use.
func (r *Roots) Accept(more func(ctx context.Context, v identity.Viewer) ([]string, error)) {
	r.more = more
}

// Extensions lists what the viewer may upload, sorted, with dots.
func (r *Roots) Extensions(ctx context.Context, v identity.Viewer) ([]string, error) {
	list := Extensions()
	if r.more == nil {
		return list, nil
	}
	more, err := r.more(ctx, v)
	for _, ext := range more {
		list = append(list, strings.ToLower(ext))
	}
	slices.Sort(list)
	return slices.Compact(list), err
}

// typeOf is TypeOf with the types that are the viewer's only.
func (r *Roots) typeOf(ctx context.Context, v identity.Viewer, name string) (string, error) {
	mime, err := TypeOf(name)
	if err == nil || r.more == nil {
		return mime, err
	}
	list, problem := r.Extensions(ctx, v)
	if problem != nil {
		return "", problem
	}
	if ext := strings.ToLower(path.Ext(name)); ext != "" && slices.Contains(list, ext) {
		return foreign, nil
	}
	return "", refused(cmp.Or(strings.ToLower(path.Ext(name)), "without an extension"), list)
}
