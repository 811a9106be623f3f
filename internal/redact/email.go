package redact

import "strings"

// Lengths of RFC 5321; they also bound the work around one @.
const (
	maxLocal  = 64
	maxDomain = 253
)

// emails finds addresses: a local part, an @, and a domain of at least two
// labels whose last is letters. user@host in a URL names a server's account,
// not a mailbox.
func emails(s string) (found []Span) {
	for i := 0; ; i++ {
		next := strings.IndexByte(s[i:], '@')
		if next < 0 {
			return found
		}
		i += next
		start, end := localStart(s, i), domainEnd(s, i+1)
		if start < i && end > 0 && !inAuthority(s, start) {
			found = append(found, Span{start, end, Email})
		}
	}
}

func isLocal(c byte) bool { return isWord(c) || strings.IndexByte(".%+-'", c) >= 0 }

func localStart(s string, i int) int {
	start := i
	for start > 0 && i-start < maxLocal && isLocal(s[start-1]) {
		start--
	}
	for start < i && strings.IndexByte(".-'", s[start]) >= 0 {
		start++
	}
	return start
}

// domainEnd returns where the domain that begins at i ends, or 0.
func domainEnd(s string, i int) int {
	end, dots, label := i, 0, 0
	best := 0
	for ; end < len(s) && end-i < maxDomain; end++ {
		c := s[end]
		if c == '.' && label > 0 {
			dots, label = dots+1, 0
			continue
		}
		if !isWord(c) && c != '-' || c == '_' {
			break
		}
		label++
		if dots > 0 && label >= 2 && letters(s[end+1-label:end+1]) {
			best = end + 1
		}
	}
	if best > 0 && best < end && isWord(at(s, best)) {
		return 0 // the last label goes on with digits: a version, not a domain
	}
	return best
}

func letters(s string) bool {
	for i := range len(s) {
		if !isAlpha(s[i]) && s[i] < 0x80 {
			return false
		}
	}
	return true
}

// inAuthority reports whether the text before start is a URL's scheme, or its
// user name and a colon.
func inAuthority(s string, start int) bool {
	for i := start; i > 0 && start-i <= maxLocal; i-- {
		switch c := s[i-1]; {
		case c == '/':
			return i >= 3 && s[i-3:i] == "://"
		case c <= ' ' || c == '<' || c == '"' || c == '\'':
			return false
		}
	}
	return false
}
