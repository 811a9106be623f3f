package artifacts

import "strings"

// describedPrefix begins the names of the tool.specs that describe the
// program's own HTTP operations (API-11). They are there to be read: nothing
// implements them as tools, so no graph and no model is ever given one.
const describedPrefix = "api."

// described reports whether a tool.spec of this name only describes.
func described(name string) bool { return strings.HasPrefix(name, describedPrefix) }

// OnlyDescribes reports whether an artifact describes one of the program's HTTP
// operations and does nothing: nobody but the program writes those.
func OnlyDescribes(kind, name string) bool { return kind == KindTool && described(name) }

// Describe adds tool.specs that describe the program's HTTP operations to what
// Seed writes; their names begin with "api.". Nobody but the program changes
// them. Call it before Seed.
func (l *Library) Describe(operations []Seed) { l.operations = append(l.operations, operations...) }
