package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// claim says that a test holds a requirement, or some clauses of it.
type claim struct {
	id      string
	clauses []string // none: the requirement as it is written
}

// parse reads what stands behind "Requirements:": ids, each with the clauses
// it is about in parentheses, and folders or files of testdata, as path.Match
// has them, whose files say themselves what they hold.
//
//	GRAPH-07, CHAT-07 (attachment; code), testdata/run
func parse(list string) (claims []claim, files []string, err error) {
	for rest := strings.TrimSuffix(strings.TrimSpace(list), "."); ; {
		head, tail, more := cut(rest)
		switch m := claimed.FindStringSubmatch(head); {
		case strings.HasPrefix(head, "testdata"):
			if _, err := path.Match(head, ""); err != nil || head != path.Clean(head) {
				return claims, files, fmt.Errorf("%q is no folder of testdata", head)
			}
			files = append(files, head)
		case m == nil:
			return claims, files, fmt.Errorf("%q is no list of ids, as in GRAPH-07, CHAT-07 (code; citation)", list)
		default:
			if err := known(m[1]); err != nil {
				return claims, files, err
			}
			c := claim{id: m[1]}
			if m[2] != "" {
				if c.clauses, err = clausesOf(m[2][1 : len(m[2])-1]); err != nil {
					return claims, files, fmt.Errorf("%s: %w", m[1], err)
				}
			}
			claims = append(claims, c)
		}
		if !more {
			return claims, files, nil
		}
		rest = tail
	}
}

var claimed = regexp.MustCompile(`^([A-Z]+-\d+)(?:\s*(\([^()]*\)))?$`)

// cut gives what stands before the first comma outside parentheses, and what
// stands behind it.
func cut(list string) (head, tail string, more bool) {
	depth := 0
	for i, r := range list {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			return strings.TrimSpace(list[:i]), list[i+1:], true
		}
	}
	return strings.TrimSpace(list), "", false
}

func clausesOf(list string) (clauses []string, err error) {
	for c := range strings.SplitSeq(list, ";") {
		c = strings.TrimSpace(c)
		if c == "" || slices.Contains(clauses, c) {
			return nil, fmt.Errorf("%q is no list of clauses, as in: code; citation", list)
		}
		clauses = append(clauses, c)
	}
	return clauses, nil
}

// register is the clauses of each requirement that is held clause by clause.
type register map[string][]string

const clausesFile = "scripts/requirements/clauses.txt"

// readRegister reads lines as
//
//	CHAT-07: text; code; citation
//
// Empty lines and those that begin with # mean nothing.
func readRegister(text string) (register, error) {
	clauses := register{}
	line := 0
	for row := range strings.Lines(text) {
		line++
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' {
			continue
		}
		id, list, _ := strings.Cut(row, ":")
		err := known(id)
		if err == nil && clauses[id] != nil {
			err = fmt.Errorf("%s stands here twice", id)
		}
		if err == nil {
			clauses[id], err = clausesOf(list)
		}
		if err == nil && strings.ContainsAny(list, "()") {
			err = fmt.Errorf("%s: a clause has no parentheses", id)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", clausesFile, line, err)
		}
	}
	return clauses, nil
}

// check refuses a claim that does not fit the register.
func (r register) check(c claim) error {
	have := r[c.id]
	switch {
	case have == nil && c.clauses == nil:
		return nil
	case have == nil:
		return fmt.Errorf("%s has no clauses in %s", c.id, clausesFile)
	case c.clauses == nil:
		return fmt.Errorf("%s is held clause by clause: say which in parentheses (%s)", c.id, strings.Join(have, "; "))
	}
	for _, clause := range c.clauses {
		if !slices.Contains(have, clause) {
			return fmt.Errorf("%s has no clause %q, but: %s", c.id, clause, strings.Join(have, "; "))
		}
	}
	return nil
}

// missing are the clauses of a requirement that none of these proofs holds.
func (r register) missing(id string, proofs []proof) (clauses []string) {
	for _, clause := range r[id] {
		if !slices.ContainsFunc(proofs, func(p proof) bool { return slices.Contains(p.clauses, clause) }) {
			clauses = append(clauses, clause)
		}
	}
	return clauses
}
