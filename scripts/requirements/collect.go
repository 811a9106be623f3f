package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// proof is a test, or a golden file a test reads, that would fail if a
// requirement, or the clauses of it that are named, were not met.
type proof struct {
	name, file string
	clauses    []string
}

// found is what a repository says.
type found struct {
	proofs   map[string][]proof
	register register
}

var (
	comment = regexp.MustCompile(`^\s*//\s*Requirements?:\s*(.+)$`)
	goTest  = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)
	tsTest  = regexp.MustCompile("^\\s*(?:test|it|describe|test\\.describe)\\(\\s*(['\"`])(.*)$")
	tsTable = regexp.MustCompile("^.*[\\])]\\)?\\(\\s*(['\"`])(.*)$") // the name after a table of cases
	tsEach  = regexp.MustCompile(`^\s*(?:test|it|describe)\.each\(`)

	goldenField  = regexp.MustCompile(`^\s*"requirements":\s*"([^"]*)"`)
	goldenHeader = regexp.MustCompile(`^# Requirements?:\s*(.+)$`)
)

// reader is a test that reads golden files which say what they hold.
type reader struct {
	proof
	line    int
	pattern string // of files or their folder, from the repository's root
}

// golden is a file of testdata that says what it holds.
type golden struct {
	file   string
	line   int
	claims []claim
}

type collector struct {
	found
	readers []reader
	goldens []golden
	faults  []error
}

// collect reads every test file of the repository and every golden one.
func collect(repo fs.FS) (found, error) {
	c := collector{found: found{proofs: map[string][]proof{}}}
	if text, err := fs.ReadFile(repo, clausesFile); err == nil {
		if c.register, err = readRegister(string(text)); err != nil {
			return found{}, err
		}
	}
	err := fs.WalkDir(repo, ".", func(file string, d fs.DirEntry, err error) error {
		inTestdata := slices.Contains(strings.Split(path.Dir(file), "/"), "testdata")
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if skipped(file, d.Name()) {
				return fs.SkipDir
			}
			return nil
		case !inTestdata && !isTest(d.Name()):
			return nil
		}
		text, err := fs.ReadFile(repo, file)
		if err != nil {
			return err
		}
		if inTestdata {
			c.readGolden(file, string(text))
		} else {
			c.read(file, string(text))
		}
		return nil
	})
	c.join()
	return c.found, errors.Join(append(c.faults, err)...)
}

func skipped(dir, name string) bool {
	return dir != "." && strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"node_modules", "dist", "bin"}, name)
}

func isTest(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return true
	}
	stem, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	return slices.Contains([]string{".ts", ".tsx", ".mts", ".js", ".mjs"}, ext) &&
		(strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec"))
}

func (c *collector) fault(file string, line int, err error) {
	c.faults = append(c.faults, fmt.Errorf("%s:%d: %w", file, line, err))
}

// read finds the comments of one file and the test that follows each.
func (c *collector) read(file, text string) {
	var (
		pending []claim
		readers []reader
		inTable bool // of a test whose name follows its cases
		line    int
	)
	for row := range strings.Lines(text) {
		line++
		row = strings.TrimRight(row, "\r\n")
		if m := comment.FindStringSubmatch(row); m != nil {
			claims, files, err := parse(m[1])
			for _, said := range claims {
				err = errors.Join(err, c.register.check(said))
			}
			if err != nil {
				c.fault(file, line, err)
			}
			pending = append(pending, claims...)
			for _, f := range files {
				readers = append(readers, reader{line: line, pattern: path.Join(path.Dir(file), f)})
			}
			continue
		}
		trimmed := strings.TrimSpace(row)
		if len(pending)+len(readers) == 0 || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "*") {
			continue // the rest of the comment
		}
		inTable = inTable || tsEach.MatchString(row)
		name, ok := testName(row, inTable)
		if !ok && inTable {
			continue
		}
		if !ok {
			c.fault(file, line, errors.New("the requirements above belong to no test"))
		}
		for _, said := range pending {
			c.proofs[said.id] = append(c.proofs[said.id], proof{name, file, said.clauses})
		}
		for _, r := range readers {
			r.name, r.file = name, file
			c.readers = append(c.readers, r)
		}
		pending, readers, inTable = nil, nil, false
	}
}

// readGolden finds what a file of testdata says it holds: in a field of a
// document in JSON, or in a line that begins with #.
func (c *collector) readGolden(file, text string) {
	line := 0
	for row := range strings.Lines(text) {
		line++
		m := goldenField.FindStringSubmatch(row)
		if m == nil {
			m = goldenHeader.FindStringSubmatch(strings.TrimRight(row, "\r\n"))
		}
		if m == nil {
			continue
		}
		claims, files, err := parse(m[1])
		for _, said := range claims {
			err = errors.Join(err, c.register.check(said))
		}
		if len(files) > 0 {
			err = errors.Join(err, errors.New("a golden file says what it holds, and names no other"))
		}
		if err != nil {
			c.fault(file, line, err)
		}
		c.goldens = append(c.goldens, golden{file, line, claims})
	}
}

// join gives each golden file to the tests that read it. One that no test says
// it reads proves nothing.
func (c *collector) join() {
	used := map[int]bool{}
	for _, g := range c.goldens {
		read := false
		for i, r := range c.readers {
			if !matches(r.pattern, g.file) {
				continue
			}
			used[i], read = true, true
			_, below, _ := strings.Cut(g.file, "testdata/")
			name := r.name + ": " + strings.TrimSuffix(below, path.Ext(below))
			for _, said := range g.claims {
				c.proofs[said.id] = append(c.proofs[said.id], proof{name, g.file, said.clauses})
			}
		}
		if !read {
			c.fault(g.file, g.line, errors.New("no test says that it reads this file, as in // Requirements: testdata/run"))
		}
	}
	for i, r := range c.readers {
		if !used[i] {
			c.fault(r.file, r.line, fmt.Errorf("no file of %s says what it holds", r.pattern))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.register)) {
		if len(c.proofs[id]) == 0 {
			c.faults = append(c.faults, fmt.Errorf("%s: no test names %s", clausesFile, id))
		}
	}
}

func matches(pattern, file string) bool {
	one, _ := path.Match(pattern, file)
	all, _ := path.Match(pattern, path.Dir(file))
	return one || all
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
