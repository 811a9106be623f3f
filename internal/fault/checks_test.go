package fault_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"liminal/internal/fault"
)

// checked are the packages that say what is wrong with a document: an artifact
// that somebody writes, or what a patch makes of one.
var checked = []string{
	"schemas", "artifacts", "internal/changes", "internal/graph", "internal/expr", "internal/routing", "internal/tool",
	"internal/data/source.go", "internal/connect/spec.go", "internal/view/policy.go", "internal/rehearsal/verdict.go",
}

// finds are the functions these packages note what they found with: what is
// wrong, and what to write instead.
var finds = []string{"fault", "faultOf", "warn", "add", "bad", "fail", "limited"}

// Whoever adds something that can be wrong with a document says it in German.
//
// Requirements: GRND-37 (errors)
func TestWhatIsWrongWithADocumentIsSaidInGerman(t *testing.T) {
	t.Parallel()
	german, found := told(t), 0
	for _, dir := range checked {
		each(t, dir, func(files *token.FileSet, n ast.Node) {
			for _, e := range finding(n) {
				format, ok := written(e)
				if !ok || !strings.Contains(format, " ") { // a place, or a word of a document
					continue
				}
				s := fault.Say(format)
				if s == nil {
					continue
				}
				if found++; german[s.Text] == "" {
					t.Errorf("web/src/i18n/sentences.de.json does not say %q (%s)", s.Text, files.Position(e.Pos()))
				}
			}
		})
	}
	if found < 250 {
		t.Errorf("found are only %d sentences", found)
	}
}

// What the checks say in the tests of artifacts is known to the page by its form,
// also what they have from a library or put together.
//
// Requirements: GRND-37 (errors)
func TestWhatTheChecksSaidIsSaidInGerman(t *testing.T) {
	t.Parallel()
	var forms []string
	for english := range told(t) {
		parts := place.Split(english, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		if len(strings.Join(parts, "")) >= 7 { // as the page has it, which takes the others for values
			forms = append(forms, strings.Join(parts, ".*"))
		}
	}
	known := regexp.MustCompile("^(?s:" + strings.Join(forms, "|") + ")$")
	files, err := filepath.Glob("../../artifacts/testdata/*/bad/*.faults")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if _, said, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
				for one := range strings.SplitSeq(said, " | ") {
					if !known.MatchString(one) {
						t.Errorf("web/src/i18n/sentences.de.json does not say %q (%s)", one, filepath.Base(file))
					}
				}
			}
		}
	}
}

// place is where a sentence has a value.
var place = regexp.MustCompile(`\{\d+\}`)

// finding are the expressions that a node says what it found with.
func finding(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.CallExpr:
		name := called(n.Fun)
		if slices.Contains(finds, name[strings.LastIndexByte(name, '.')+1:]) {
			return n.Args
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Message", "Hint", "Say"}, key.Name) {
			return []ast.Expr{n.Value}
		}
	}
	return nil
}

// written is the format of a text that is written out, also in parts: what
// stands between them is a value.
func written(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := written(e.X)
		right, also := written(e.Y)
		if !ok {
			left = "%s"
		}
		if !also {
			right = "%s"
		}
		return left + right, ok || also
	case *ast.CallExpr:
		if called(e.Fun) == "fmt.Sprintf" {
			return written(e.Args[0])
		}
	}
	return "", false
}

// each shows every node of the packages below a folder, or of a file.
func each(t *testing.T, dir string, show func(*token.FileSet, ast.Node)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || slices.ContainsFunc(untold, func(of string) bool { return strings.HasPrefix(name, of) }) {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil {
				show(files, n)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
