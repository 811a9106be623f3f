package arch

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "liminal"

// floors is the house: a package imports only lower floors, never its own.
// To add a package, put it on the lowest floor that can hold it.
var floors = map[string]int{
	"migrations": 0, "web": 0, "deploy": 0,
	"internal/fault": 0, "internal/id": 0, "internal/filelock": 0, "internal/expr": 0, "internal/config": 0,
	"internal/words": 0, "internal/vault": 0, "internal/tool/reference": 0, "internal/cputime": 0, "internal/cache": 0, "internal/redact": 0, "internal/check": 0, "internal/poll": 0,

	"schemas": 1, "internal/cell": 1, "internal/origin": 1, "internal/remote": 1, "internal/speech": 1, "internal/graph": 1, "internal/grounding": 1, "internal/identity": 1, "internal/model": 1, "internal/embed": 1, "internal/telemetry": 1,
	"internal/tensors": 1, "internal/tokens": 1, "internal/lora/kernels": 1, "internal/view": 1, "internal/capture/recall": 1,

	"internal/run": 2, "internal/stream": 2, "internal/files": 2, "internal/quota": 2, "internal/routing": 2,
	"internal/mail": 2, "internal/sharing": 2, "internal/oauth": 2, "internal/connect": 2, "internal/data": 2, "internal/learning": 2,
	"internal/embed/static": 2, "internal/embed/bert": 2, "internal/embed/remote": 2, "internal/lora/llm": 2, "internal/safety": 2, "internal/webaccess": 2, "internal/backends": 2, "internal/model/probe": 2,
	"internal/knowledge/extract": 2, "internal/capture": 2, "internal/authserver": 2,

	"internal/chat": 3, "internal/runkey": 3, "internal/webhook": 3, "internal/tool": 3, "internal/knowledge": 3, "internal/insights": 3, "internal/learning/cluster": 3, "internal/learning/lesson": 3,
	"internal/learning/dataset": 3, "internal/learning/queue": 3, "internal/learning/gate": 3, "internal/lora/peft": 3, "internal/lora/fit": 3, "internal/capture/proxy": 3, "internal/palace": 3,

	"artifacts": 4, "internal/lora/serve": 4, "internal/lora/batches": 4, "internal/capture/launch": 4,

	"internal/rehearsal": 5, "internal/lora/train": 5,

	"internal/changes": 6,

	"internal/architect": 7, "internal/adaptation": 7, "internal/training": 7, "internal/mcp": 7,

	"activities": 8, "internal/store": 8, "internal/inproc": 8, "internal/tool/builtin": 8,
	"internal/model/extractive": 8, "internal/model/scripted": 8,
	"internal/model/observed": 8, "internal/model/textfile": 8, "internal/model/process": 8, "internal/model/local": 8, "internal/lora/remote": 8, "internal/redis": 8, "internal/model/anthropic": 8, "internal/model/openai": 8,

	"internal/store/sqlite": 9, "internal/store/postgres": 9, "workflows": 9,

	"worker": 10, "api": 10,

	"internal/wire": 11, "internal/wire/devserver": 11,

	"internal/bench": 12, "internal/eval": 12, "cmd/liminald": 13,
}

// beside is what serves tests, scripts and generation only: no floor, and no
// package of the house may import it.
var beside = []string{
	"internal/arch", "internal/capture/capturetest", "internal/leaktest", "internal/lora/kernels/asm", "internal/backends/backendstest", "internal/store/storetest", "internal/model/modeltest", "internal/speech/speechtest", "internal/data/datatest", "internal/knowledge/knowledgetest", "internal/knowledge/extract/extracttest", "activities/activitiestest", "artifacts/artifactstest",
	"internal/store/postgres/postgrestest", "internal/store/sqlite/sqlitetest",
	"workflows/internal/record", "scripts/", "web/e2e", "e2e",
}

type source struct {
	pkg  string // relative to the module: "internal/graph"
	file string
	ast  *ast.File
	test bool
}

func TestAPackageImportsOnlyLowerFloors(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.test || isBeside(s.pkg) {
			continue
		}
		floor, known := floors[s.pkg]
		if !known {
			t.Errorf("%s: package %s has no floor; give it one in internal/arch", s.file, s.pkg)
			continue
		}
		for _, imported := range s.imports() {
			inside, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			if isBeside(inside) {
				t.Errorf("%s imports %s, which serves tests only", s.file, inside)
			} else if below, ok := floors[inside]; ok && below >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", s.file, floor, inside, below)
			}
		}
	}
}

// Drivers and the engine's server are reached from one place each, so that
// nothing else knows them or pays for compiling them.
func TestDriversAreReachedFromTheirAdapterOnly(t *testing.T) {
	t.Parallel()
	only := map[string][]string{
		"go.temporal.io/server":            {"internal/wire/devserver", "scripts/temporal"},
		"github.com/temporalio/ui-":        {"internal/wire/devserver"},
		"github.com/labstack/":             {"internal/wire/devserver"},
		"modernc.org/":                     {"internal/store/sqlite", "internal/wire/devserver"},
		"database/sql":                     {"internal/store/sqlite", "internal/wire/devserver"},
		"github.com/jackc/pgx":             {"internal/store/postgres", "internal/store/postgres/postgrestest", "e2e/teststack"},
		"github.com/redis/":                {"internal/redis", "e2e/teststack"},
		"github.com/danielgtaylor":         {"api"},
		"github.com/gorilla/":              {"api"},
		"github.com/modelcontextprotocol/": {"api", "internal/mcp", "internal/capture/recall", "cmd/liminald"},
		"github.com/expr-lang/":            {"internal/expr"},
		"github.com/evanphx/":              {"artifacts"},
		"github.com/wI2L/":                 {"artifacts"},
		"github.com/coreos/go-oidc":        {"internal/oauth"},
		"github.com/pquerna/":              {"internal/identity"},
		"github.com/wneessen/":             {"internal/mail"},
		"github.com/prometheus/":           {"internal/telemetry"},
		"github.com/klippa-app/":           {"internal/knowledge/extract"},
		"github.com/xuri/":                 {"internal/knowledge/extract"},
		"github.com/anthropics/":           {"internal/model/anthropic"},
		"github.com/agnivade/":             {"internal/tool/builtin"},
		"github.com/tetratelabs/":          {"internal/knowledge/extract"},
		"go.temporal.io/sdk/client":        {"worker", "internal/wire", "internal/wire/devserver", "internal/bench", "cmd/liminald", "workflows/internal/record", "e2e/teststack"},
		"go.temporal.io/sdk/worker":        {"worker", "internal/bench", "cmd/liminald", "workflows/internal/record"},
		"go.temporal.io/sdk/workflow":      {"workflows", "worker", "internal/bench", "cmd/liminald"},
		module + "/internal/wire/devs":     {"cmd/liminald", "internal/bench", "workflows/internal/record", "scripts/temporal"},
	}
	for _, s := range tree(t) {
		for _, imported := range s.imports() {
			for prefix, where := range only {
				if strings.HasPrefix(imported, prefix) && !s.test && !slices.Contains(where, s.pkg) {
					t.Errorf("%s imports %s; only %s may", s.file, imported, strings.Join(where, ", "))
				}
			}
		}
	}
}

// The machine runs inside workflows: it must give the same effects for the
// same answers, always (PLAT-08).
func TestPurePackagesTouchNoClockAndStartNothing(t *testing.T) {
	t.Parallel()
	pure := []string{"internal/graph", "internal/expr", "internal/routing", "internal/check", "internal/view", "internal/learning/cluster", "internal/learning/lesson", "internal/learning/dataset", "internal/learning/queue", "internal/learning/gate"}
	allowed := []string{
		"cmp", "encoding/json", "errors", "fmt", "maps", "math", "reflect", "slices", "sort", "strconv", "strings",
		"time", "unicode", "unicode/utf8", "bytes", "iter", module + "/internal/expr", module + "/internal/check", module + "/internal/fault", "github.com/expr-lang/expr",
	}
	// What is learnt is computed again and again, and compared (CLUS-07).
	learnt := []string{
		"context", "crypto/sha256", "encoding/hex", "hash/fnv", "math/rand/v2", "math/bits", "regexp", module + "/internal/embed", module + "/internal/id",
		module + "/internal/learning", module + "/internal/model", module + "/internal/redact", module + "/internal/words",
	}
	for _, s := range tree(t) {
		if s.test || !slices.Contains(pure, s.pkg) {
			continue
		}
		allowed := allowed
		if strings.HasPrefix(s.pkg, "internal/learning/") {
			allowed = slices.Concat(allowed, learnt)
		}
		if s.pkg == "internal/view" { // it reads and edits bodies, and knows them by their sums
			allowed = slices.Concat(allowed, []string{"crypto/sha256", "encoding/hex", "regexp", "github.com/tidwall/gjson", "github.com/tidwall/sjson"})
		}
		for _, imported := range s.imports() {
			if !slices.ContainsFunc(allowed, func(a string) bool {
				return imported == a || a == "github.com/expr-lang/expr" && strings.HasPrefix(imported, a+"/")
			}) {
				t.Errorf("%s imports %s; pure packages may not", s.file, imported)
			}
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
				t.Errorf("%s uses goroutines or channels", s.file)
			case *ast.SelectorExpr:
				if p, ok := n.X.(*ast.Ident); ok && p.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "Tick"}, n.Sel.Name) {
					t.Errorf("%s reads the clock with time.%s", s.file, n.Sel.Name)
				}
			}
			return true
		})
	}
}

// The proxy of an agent goes on while store, engine and platform are dead or
// replaced: it knows none of them, and nothing that knows them.
func TestTheCaptureProxyKnowsNoPlatform(t *testing.T) {
	t.Parallel()
	allowed := []string{module + "/internal/capture", module + "/internal/filelock", module + "/internal/id", module + "/internal/vault", module + "/internal/view", "github.com/tidwall/gjson", "github.com/klauspost/compress/zstd", "golang.org/x/sys/unix", "golang.org/x/sys/windows"}
	const mcpSDK = "github.com/modelcontextprotocol/go-sdk/mcp" // agents ask back while the platform is dead
	looked := 0
	for _, s := range tree(t) {
		if s.test || !strings.HasPrefix(s.pkg, "internal/capture") || isBeside(s.pkg) {
			continue
		}
		looked++
		for _, imported := range s.imports() {
			if strings.Contains(imported, ".") || strings.HasPrefix(imported, module+"/") {
				if !slices.Contains(allowed, imported) && !strings.HasPrefix(imported, module+"/internal/capture/") && !(s.pkg == "internal/capture/recall" && imported == mcpSDK) {
					t.Errorf("%s imports %s; only %s may be", s.file, imported, strings.Join(allowed, ", "))
				}
			}
		}
	}
	if looked < 8 {
		t.Errorf("%d files were looked at", looked)
	}
}

// Configuration is read in one place, so that all of its mistakes can be
// told at once.
func TestOnlyConfigReadsTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.test || s.pkg == "internal/config" || isBeside(s.pkg) {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if p, ok := sel.X.(*ast.Ident); ok && p.Name == "os" && slices.Contains([]string{"Getenv", "LookupEnv", "ExpandEnv"}, sel.Sel.Name) {
				t.Errorf("%s reads the environment with os.%s; only internal/config does", s.file, sel.Sel.Name)
			}
			return true
		})
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	for _, s := range tree(t) {
		if s.test {
			continue
		}
		docs[s.pkg] += s.ast.Doc.Text()
		for _, decl := range s.ast.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function; registration is explicit here", s.file)
			}
		}
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "base", "core", "shared", "manager"}, path.Base(s.pkg)) {
			t.Errorf("package %s: a package is a noun of the field", s.pkg)
		}
	}
	for pkg, doc := range docs {
		if len(strings.Fields(doc)) < 8 {
			t.Errorf("package %s has no comment that says what it is and what it may import", pkg)
		}
	}
}

// Requirements: PLAT-01
func TestTheEightStoreysAndTheLibrariesAreThere(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	for _, dir := range []string{"workflows", "activities", "api", "artifacts", "schemas", "worker", "migrations", "deploy"} {
		if info, err := os.Stat(filepath.Join(root, dir)); err != nil || !info.IsDir() {
			t.Errorf("the storey %s/ is missing", dir)
		}
	}
	imported := map[string]bool{}
	for _, s := range tree(t) {
		for _, p := range s.imports() {
			imported[p] = !s.test || imported[p]
		}
	}
	for _, lib := range []string{
		"go.temporal.io/sdk/workflow", "github.com/jackc/pgx/v5", "github.com/redis/go-redis/v9",
		"github.com/santhosh-tekuri/jsonschema/v5", "github.com/expr-lang/expr/parser", "github.com/gorilla/websocket", "github.com/pgvector/pgvector-go",
	} {
		if !imported[lib] {
			t.Errorf("nothing uses %s", lib)
		}
	}
}

// What people work on, and what they may want done, are words of documents: no
// text of the kernel, of a tool or of a model is one of them. The skills are
// those that a document which ships with the program tells apart.
//
// Requirements: PLAT-04 (workflows and activities name no domain; tools and models name no domain)
// Requirements: PLAT-05 (no domain in workflows and activities; no enum in tools and models)
func TestTheKernelKnowsNoDomain(t *testing.T) {
	t.Parallel()
	domains := []string{
		"debugging", "creative writing", "compliance", "regulation", "linkedin", "audit_email",
		"contract", "lease", "agreement", "handbook", "licence", "statute", "vertrag", "richtlinie", "verordnung", "satzung",
	}
	skills := skillsOfDocuments(t)
	if !slices.Contains(skills, "summarize") || !slices.Contains(skills, "qa_with_docs") {
		t.Fatalf("the documents list the skills %v", skills)
	}
	words := regexp.MustCompile(`\b(?:` + strings.Join(slices.Concat(domains, skills), "|") + `)\b`)
	kernel := []string{"workflows", "activities", "internal/graph", "internal/routing", "internal/expr", "worker", "internal/tool", "internal/tool/builtin", "internal/model"}
	read := 0
	for _, s := range tree(t) {
		if s.test || isBeside(s.pkg) || !slices.Contains(kernel, s.pkg) && !strings.HasPrefix(s.pkg, "internal/model/") {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			read++
			if word := words.FindString(strings.ToLower(lit.Value)); word != "" {
				t.Errorf("%s names %q; domains and skills live in documents", s.file, word)
			}
			return true
		})
	}
	if read < 1000 {
		t.Errorf("%d texts were read", read)
	}
}

// skillsOfDocuments are the actions and intents that the schemas of artifacts
// and of built-in tools list, without "other", and without "compare", which is
// also the name of a task every model may be given.
func skillsOfDocuments(t *testing.T) []string {
	t.Helper()
	var names []string
	var find func(of any, skill bool)
	find = func(of any, skill bool) {
		switch v := of.(type) {
		case map[string]any:
			if list, ok := v["enum"].([]any); ok && skill {
				for _, name := range list {
					if name, ok := name.(string); ok && name != "other" && name != "compare" && !slices.Contains(names, name) {
						names = append(names, regexp.QuoteMeta(name))
					}
				}
			}
			for key, one := range v {
				find(one, slices.Contains([]string{"action", "actions", "intent"}, key) || skill && key == "items")
			}
		case []any:
			for _, one := range v {
				find(one, false)
			}
		}
	}
	root := moduleRoot(t)
	for _, dir := range []string{"artifacts/packs", "artifacts/defaults", "internal/tool/builtin"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".json" {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var doc any
			if err := json.Unmarshal(raw, &doc); err != nil {
				return err
			}
			find(doc, false)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// A list of values in the database is a list the program must be changed for:
// none of them is of skills or of what people work on.
//
// Requirements: PLAT-05 (no enum in the DDL)
func TestTheListsOfTheDatabaseAreOfTheProgram(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, word := range strings.Fields(`user power admin assistant system tool llm human_admin system_llm private shared global open archived active draft
		queued running waiting reading ready done succeeded failed skipped cancelled pending answered expired
		approved rejected applied invalid withdrawn superseded rolled_back checking rehearsing deciding applying watching settled retired off rule model person
		sft distil writing marked erased train held_out code refresh`) {
		known[word] = true
	}
	lists := regexp.MustCompile(`(?is)\bCHECK\s*\(\s*\w+\s+IN\s*\(([^)]*)\)|\bCREATE\s+TYPE\b[^;]*\bENUM\s*\(([^)]*)\)`)
	word := regexp.MustCompile(`'([^']*)'`)
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "migrations", "*", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, %v", len(files), err)
	}
	found := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range lists.FindAllStringSubmatch(string(raw), -1) {
			for _, w := range word.FindAllStringSubmatch(list[1]+list[2], -1) {
				found++
				if !known[w[1]] {
					t.Errorf("%s lists %q, which is no state, role or author of the program's own", file, w[1])
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("%d values of lists were found", found)
	}
}

// What tools do they do in this process, or over HTTP.
//
// Requirements: TOOL-07 (in-process code)
func TestToolsStartNoProcess(t *testing.T) {
	t.Parallel()
	looked := 0
	for _, s := range tree(t) {
		if s.test || !slices.ContainsFunc([]string{"internal/tool", "internal/webaccess", "activities", "workflows"}, func(p string) bool {
			return s.pkg == p || strings.HasPrefix(s.pkg, p+"/")
		}) {
			continue
		}
		looked++
		if at := slices.IndexFunc(s.imports(), func(p string) bool { return p == "os/exec" || p == "plugin" }); at >= 0 {
			t.Errorf("%s imports %s", s.file, s.imports()[at])
		}
	}
	if looked < 50 {
		t.Errorf("%d files were looked at", looked)
	}
}

func (s source) imports() []string {
	var out []string
	for _, i := range s.ast.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		out = append(out, p)
	}
	return out
}

func isBeside(pkg string) bool {
	return slices.ContainsFunc(beside, func(b string) bool { return pkg == b || strings.HasPrefix(pkg, strings.TrimSuffix(b, "/")+"/") })
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// tree reads every Go file of the module.
func tree(t *testing.T) []source {
	t.Helper()
	root := moduleRoot(t)
	var out []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if file != root && errors.Is(err, fs.ErrNotExist) {
			return nil // a folder that a test beside this one has made and removed
		}
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); file != root && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "testdata" || name == "bin") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(file, "go.mod")); file != root && err == nil {
				return filepath.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, file)
		out = append(out, source{
			pkg: filepath.ToSlash(filepath.Dir(rel)), file: rel, ast: parsed, test: strings.HasSuffix(rel, "_test.go"),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
