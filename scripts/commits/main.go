// Command commits looks at the subjects of a change's commits: at most 72
// characters, imperative, as in `graph: bound visits per node`.
//
// The change is what is on this branch and not on origin/main; without a
// remote, not on main; on main itself, what came after the last tag. Commits
// that are older than this rule are let be, and so are merges. A copy without
// git's history has nothing to look at.
//
// It imports the standard library only and nothing imports it.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters a subject may have.
const longest = 72

func main() {
	commits, err := change()
	if err != nil {
		fmt.Fprintln(os.Stderr, "commits: nothing was looked at:", err)
		return
	}
	bad := 0
	for _, c := range commits {
		hash, subject, _ := strings.Cut(c, " ")
		for _, what := range wrong(subject) {
			fmt.Fprintf(os.Stderr, "commits: %s %q: %s\n", hash, subject, what)
			bad++
		}
	}
	if bad > 0 {
		os.Exit(1)
	}
}

// change are the commits to look at, each as its hash and its subject.
func change() ([]string, error) {
	rule, err := git("log", "--reverse", "--diff-filter=A", "--format=%H", "--", "scripts/commits/main.go")
	if err != nil {
		return nil, err
	}
	if len(rule) == 0 {
		return nil, errors.New("this rule is not committed yet")
	}
	without := []string{"^" + rule[0]}
	if base := base(); base != "" {
		without = append(without, "^"+base)
	}
	return git(slices.Concat([]string{"log", "--no-merges", "--format=%h %s", "HEAD"}, without)...)
}

// base is where the change begins; empty: with the rule.
func base() string {
	head, _ := git("rev-parse", "HEAD")
	for _, of := range []string{"origin/main", "main"} {
		if at, err := git("merge-base", "HEAD", of); err == nil && len(at) == 1 && !slices.Equal(at, head) {
			return at[0]
		}
	}
	if tag, err := git("describe", "--tags", "--abbrev=0"); err == nil && len(tag) == 1 {
		return tag[0]
	}
	return ""
}

// git is the lines that a command of git prints.
func git(args ...string) ([]string, error) {
	out, err := exec.Command("git", args...).Output() //nolint:gosec,noctx // ours
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}

// area is what a subject may begin with: the packages it is about.
var area = regexp.MustCompile(`^[\w./*, -]+: `)

// wrong says what is wrong with a subject.
func wrong(subject string) (what []string) {
	if n := utf8.RuneCountInString(subject); n > longest {
		what = append(what, fmt.Sprintf("%d characters; at most %d", n, longest))
	}
	text := area.ReplaceAllString(subject, "")
	first, _, _ := strings.Cut(text, " ")
	if first = strings.TrimFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }); first == "" {
		return append(what, "it says nothing")
	}
	if !imperative(first) {
		what = append(what, fmt.Sprintf("%q is no imperative: say what the commit is to do, as in %q", first, "bound visits per node"))
	}
	return what
}

// endings are those of words that tell instead of asking: bounded, bounding,
// bounds.
var endings = []string{"ed", "ing", "s"}

// imperative reports whether a word may be one, as far as its ending shows it.
func imperative(word string) bool {
	word = strings.ToLower(word)
	if strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "eed") || slices.Contains(verbs, word) {
		return true
	}
	return !slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}

// verbs end as others do that are not imperative.
var verbs = []string{"embed", "shed", "shred", "bring", "ping", "ring", "string", "swing", "focus"}
