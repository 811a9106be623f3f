package model

import (
	"regexp"
	"strings"
)

// Frame is material inside the text of a message, between marks that bear its
// name: <name>…</name>. Material that holds the closing mark cannot end the
// frame. Names are lower-case words with underscores.
func Frame(name, material string) string {
	end := "</" + name + ">"
	return "<" + name + ">\n" + strings.ReplaceAll(material, end, "< /"+name+">") + "\n" + end
}

var opening = regexp.MustCompile(`<([a-z][a-z_]*)>\n`)

// Unframe takes the frames out of a text: what is left, and the material by
// name. A mark that nothing closes is text.
func Unframe(text string) (rest string, material map[string]string) {
	material = map[string]string{}
	var out strings.Builder
	for {
		at := opening.FindStringSubmatchIndex(text)
		if at == nil {
			out.WriteString(text)
			return strings.TrimSpace(out.String()), material
		}
		name, body := text[at[2]:at[3]], text[at[1]:]
		end := "\n</" + name + ">"
		within, after, closed := strings.Cut(body, end)
		if !closed {
			out.WriteString(text[:at[1]])
			text = body
			continue
		}
		out.WriteString(text[:at[0]])
		material[name], text = within, after
	}
}
