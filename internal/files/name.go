package files

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"liminal/internal/fault"
)

// maxName bounds a file's name, in bytes: below the 255 of common file
// systems, with room for " (99)" and a temporary suffix.
const maxName = 200

// reserved are the names Windows keeps for devices, with any extension.
var reserved = func() map[string]bool {
	m := map[string]bool{"con": true, "prn": true, "aux": true, "nul": true}
	for _, d := range "123456789" {
		m["com"+string(d)], m["lpt"+string(d)] = true, true
	}
	return m
}()

// CleanName turns the name a browser sent into one that is a plain file name
// on every system (FILE-06). Whatever comes in, what comes out has no
// separator, no control character, no leading dot, and at most 200 bytes.
func CleanName(name string) string {
	name = strings.ReplaceAll(strings.ToValidUTF8(name, "_"), `\`, "/")
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`/\<>:"|?*`, r):
			return '_'
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r): // no overrides of direction either
			return -1
		}
		return r
	}, path.Base(name))
	name = norm.NFC.String(name) // after, for what was dropped may have stood between two characters
	name = strings.TrimRight(strings.TrimLeft(name, " ._~-"), " .")
	stem, ext := splitName(name)
	if stem == "" {
		stem = "file"
	}
	if base, _, _ := strings.Cut(strings.ToLower(stem), "."); reserved[strings.TrimSpace(base)] {
		stem = "_" + stem
	}
	return cut(stem, maxName-len(ext)) + ext
}

// splitName separates the extension, if it looks like one.
func splitName(name string) (stem, ext string) {
	ext = path.Ext(name)
	if len(ext) > 16 || ext == name || strings.ContainsRune(ext, ' ') {
		return name, ""
	}
	return strings.TrimSuffix(name, ext), ext
}

// cut shortens s to at most n bytes without breaking a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], " .")
}

// maxOrigin bounds where a file came from, in bytes.
const maxOrigin = 1024

// CleanOrigin is where a file lies with the person who sends it, in one form:
// names between slashes, as CleanName makes them. It names nothing here, and is
// only compared. One that is too long is "", as if nothing was said.
func CleanOrigin(origin string) string {
	if len(origin) >= maxOrigin {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(strings.ReplaceAll(origin, `\`, "/"), "/") {
		if part = strings.TrimSpace(part); part != "" && part != "." && part != ".." {
			parts = append(parts, CleanName(part))
		}
	}
	return strings.Join(parts, "/")
}

// CleanPath checks a stored file's path as clients send it back: relative to
// the user's root, below "files/", in its shortest form. It refuses rather
// than repairs: a path that needs repair was not given out by us.
func CleanPath(p string) (string, error) {
	bad := p == "" || len(p) > 1024 || !utf8.ValidString(p) || strings.ContainsAny(p, "\x00\\") ||
		path.IsAbs(p) || path.Clean(p) != p || !strings.HasPrefix(p, Dir+"/")
	for part := range strings.SplitSeq(p, "/") {
		bad = bad || part == ".." || part == "."
	}
	if bad {
		return "", fault.New(fault.NotFound, "There is no such file.")
	}
	return p, nil
}
