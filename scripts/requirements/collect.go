package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// proof is a test that would fail if a requirement were not met.
type proof struct{ name, file string }

var (
	comment = regexp.MustCompile(`^\s*//\s*Requirements?:\s*(.+)$`)
	goTest  = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	tsTest  = regexp.MustCompile("^\\s*(?:test|it|describe|test\\.describe)\\(\\s*(['\"`])(.*)$")
	tsTable = regexp.MustCompile("^.*[\\])]\\)?\\(\\s*(['\"`])(.*)$") // the name after a table of cases
	tsEach  = regexp.MustCompile(`^\s*(?:test|it|describe)\.each\(`)
	idList  = regexp.MustCompile(`^[A-Z]+-\d+$`)
)

// collect reads every test file of the repository.
func collect(repo fs.FS) (map[string][]proof, error) {
	proofs := map[string][]proof{}
	var faults []error
	err := fs.WalkDir(repo, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if skipped(file, d.Name()) {
				return fs.SkipDir
			}
			return nil
		case !isTest(d.Name()):
			return nil
		}
		text, err := fs.ReadFile(repo, file)
		if err != nil {
			return err
		}
		if err := read(file, text, proofs); err != nil {
			faults = append(faults, err)
		}
		return nil
	})
	return proofs, errors.Join(append(faults, err)...)
}

func skipped(dir, name string) bool {
	return dir != "." && strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"node_modules", "testdata", "dist", "bin"}, name)
}

func isTest(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return true
	}
	stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".js", ".mjs"}, ext) &&
		(strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec"))
}

// read finds the comments of one file and the test that follows each.
func read(file string, text []byte, proofs map[string][]proof) error {
	var (
		pending []string
		inTable bool // of a test whose name follows its cases
		faults  []error
		line    int
	)
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line++
		row := s.Text()
		if m := comment.FindStringSubmatch(row); m != nil {
			ids, err := parse(m[1])
			if err != nil {
				faults = append(faults, fmt.Errorf("%s:%d: %w", file, line, err))
			}
			pending = append(pending, ids...)
			continue
		}
		trimmed := strings.TrimSpace(row)
		if len(pending) == 0 || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "*") {
			continue // the rest of the comment
		}
		inTable = inTable || tsEach.MatchString(row)
		name, ok := testName(row, inTable)
		if !ok && inTable {
			continue
		}
		if !ok {
			faults = append(faults, fmt.Errorf("%s:%d: the requirements above belong to no test", file, line))
		}
		for _, id := range pending {
			proofs[id] = append(proofs[id], proof{name, file})
		}
		pending, inTable = nil, false
	}
	return errors.Join(faults...)
}

func parse(list string) (ids []string, err error) {
	for id := range strings.SplitSeq(list, ",") {
		id = strings.TrimSuffix(strings.TrimSpace(id), ".")
		if !idList.MatchString(id) {
			return ids, fmt.Errorf("%q is no list of ids, as in GRAPH-07, GRAPH-16", list)
		}
		if err := known(id); err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func testName(row string, inTable bool) (string, bool) {
	if m := goTest.FindStringSubmatch(row); m != nil {
		return m[1], true
	}
	if m := tsTest.FindStringSubmatch(row); m != nil {
		name, _, _ := strings.Cut(m[2], m[1])
		return name, true
	}
	if m := tsTable.FindStringSubmatch(row); m != nil && inTable {
		name, _, _ := strings.Cut(m[2], m[1])
		return name, true
	}
	return "", false
}
