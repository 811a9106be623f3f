package extract

import (
	"regexp"
	"strings"
)

// declaration is a line that begins something that has a name, in the
// languages people keep in files. Only what begins at the margin counts.
var declaration = regexp.MustCompile(`^(?:@?(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([a-z]+\))?|unsafe|extern|open|override|data|sealed|declare)\s+)*` +
	`(?:func|def|class|type|interface|struct|enum|impl|fn|function|module|namespace|package|trait|object|protocol|extension|message|service|rpc|mod|union|record|sub|` +
	`CREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|FUNCTION|INDEX|TRIGGER|PROCEDURE|TYPE)|create\s+(?:or\s+replace\s+)?(?:table|view|function|index|trigger|procedure|type))\s+[\w(*&<\[]`)

// parseCode reads source code: the text stays as it is, and what a passage
// stands under is the declaration it is in. A comment directly above a
// declaration belongs to it.
func parseCode(text string) Document {
	var s sections
	l := lines{text: text}
	above := -1 // where the comment begins that ends on the line before
	for l.scan() {
		line := l.line()
		switch {
		case declaration.MatchString(line):
			s.path = outline{}
			s.path.enter(1, strings.TrimRight(line, " \t{:(="))
			start := l.start
			if above >= 0 {
				start = s.giveBack(above)
			}
			s.blocks = append(s.blocks, Block{Start: start, End: l.end, Heading: s.path.path(), Kind: "code"})
			above = -1
		case strings.TrimSpace(line) == "":
			above = -1
		case comment(line):
			if above < 0 {
				above = l.start
			}
			s.add("code", l.start, l.end)
		default:
			above = -1
			s.add("code", l.start, l.end)
		}
	}
	return s.extract(text)
}

func comment(line string) bool {
	for _, sign := range []string{"//", "#", "--", "/*", " *", "@", ";;"} {
		if strings.HasPrefix(line, sign) {
			return true
		}
	}
	return false
}

// giveBack takes text from its last block again, from start on, and returns
// start.
func (s *sections) giveBack(start int) int {
	last := len(s.blocks) - 1
	if last < 0 {
		return start
	}
	if s.blocks[last].Start >= start-1 {
		s.blocks = s.blocks[:last]
		return start
	}
	s.blocks[last].End = start - 1 // the line end before it belongs to neither
	return start
}
