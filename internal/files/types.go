package files

import (
	"maps"
	"path"
	"slices"
	"strings"

	"liminal/internal/fault"
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
	return "", fault.New(fault.Invalid, "Files %s cannot be read. Allowed are text, Markdown, HTML, PDF, Word, PowerPoint, Excel, OpenDocument, EPUB and source code.", ext).
		With(map[string]any{"field": "file", "extensions": Extensions()})
}
