package builtin

import (
	"cmp"
	"path"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/files"
	"liminal/internal/tool"
)

// placed is the path a call names: as it stands, or, where the call has a base,
// below that. There it may be written as people write paths (./notes/, a//b), and
// one that leads anywhere else is Invalid (CLAUDE-07).
func placed(c *tool.Call) (string, error) {
	p, base := words(c, "path"), strings.Trim(words(c, "base"), "/")
	if base == "" {
		return cmp.Or(p, files.Dir), nil
	}
	if path.IsAbs(p) || strings.HasPrefix(p, "~") || strings.ContainsAny(p, "\\\x00") || strings.Contains("/"+p+"/", "/../") {
		return "", fault.New(fault.Invalid, "%q is no path in your folder. Paths are relative to it, as notes/today.md, and have no \"..\".", p)
	}
	return path.Join(base, p), nil
}

// beside is a path as a call with a base reads it.
func beside(c *tool.Call, p string) string {
	if base := strings.Trim(words(c, "base"), "/"); base != "" {
		return strings.TrimPrefix(p, base+"/")
	}
	return p
}
