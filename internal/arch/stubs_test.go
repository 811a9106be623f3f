package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stubs is where the modules are that stand in for what the embedded Temporal
// server never calls.
const stubs = "internal/wire/devserver/stubs"

// stubUsers are the packages of the engine that use a module of which we have
// a stub. Each is there for an archive, an index, a scaler or a ring that no
// configuration of ours turns on. A new one may be there for something that we
// do need: read it before it comes into this table.
var stubUsers = map[string][]string{
	"cloud.google.com/go/storage":              {"common/archiver/gcloud/connector"},
	"google.golang.org/api":                    {"common/archiver/gcloud/connector"},
	"github.com/aws/aws-sdk-go-v2":             {"common/archiver/s3store", "common/persistence/visibility/store/elasticsearch/client"},
	"github.com/aws/aws-sdk-go-v2/config":      {"common/archiver/s3store", "common/persistence/visibility/store/elasticsearch/client"},
	"github.com/aws/aws-sdk-go-v2/credentials": {"common/persistence/visibility/store/elasticsearch/client"},
	"github.com/aws/aws-sdk-go-v2/service/s3":  {"common/archiver/s3store"},
	"github.com/temporalio/ringpop-go":         {"common/membership/ringpop"},
	"github.com/temporalio/tchannel-go":        {"common/membership/ringpop"},
	"go.temporal.io/auto-scaled-workers":       {"service/worker", "service/worker/workerdeployment"},
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles, Imports      []string
	Module                *struct {
		Path    string
		Replace *struct{ Dir string }
	}
	Error *struct{ Err string }
}

// stub is the path of the module that the package stands in for, or "".
func (p listed) stub() string {
	if p.Module == nil || p.Module.Replace == nil || !strings.Contains(filepath.ToSlash(p.Module.Replace.Dir), stubs+"/") {
		return ""
	}
	return p.Module.Path
}

// An upgrade of the engine may use more of what is left out of it than our stubs
// have, or use it where it matters. This says so in a second, before a build of
// minutes fails.
func TestTheEngineUsesNoMoreOfAStubThanItHas(t *testing.T) {
	t.Parallel()
	const help = "see " + stubs + "/README.md, \"When this fails\""
	packages := programs(t)
	seen := map[string][]string{}
	for _, p := range packages {
		if p.Error != nil {
			t.Errorf("%s cannot be built: %s; if it is a stub that lacks it, %s", p.ImportPath, p.Error.Err, help)
		}
		if p.stub() != "" {
			continue
		}
		for _, i := range p.Imports {
			of := packages[i].stub()
			if of == "" {
				continue
			}
			user := strings.TrimPrefix(p.ImportPath, "go.temporal.io/server/")
			if !slices.Contains(seen[of], user) {
				seen[of] = append(seen[of], user)
			}
			if !slices.Contains(stubUsers[of], user) {
				t.Errorf("%s uses %s, of which we have only a stub, and stubUsers does not know it: %s", p.ImportPath, of, help)
			}
			var has []string
			for _, file := range parsed(t, packages[i]) {
				has = slices.AppendSeq(has, declared(file))
			}
			for _, name := range used(t, p, packages[i]) {
				if !slices.Contains(has, name) {
					t.Errorf("%s uses %s of %s, which our stub lacks: %s", p.ImportPath, name, i, help)
				}
			}
		}
	}
	for of, users := range stubUsers {
		for _, user := range users {
			if !slices.Contains(seen[of], user) {
				t.Errorf("%s no longer uses %s: take it out of stubUsers, and the stub out of go.mod if it was the last", user, of)
			}
		}
	}
}

// programs are the packages of the programs that hold the engine, by path.
func programs(t *testing.T) map[string]listed {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Imports,Module,Error", "./cmd/liminald", "./scripts/temporal")
	list.Dir = moduleRoot(t)
	var said bytes.Buffer
	list.Stderr = &said
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &said)
	}
	packages := map[string]listed{}
	for from := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := from.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

func parsed(t *testing.T, p listed) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// used are the names of a package that another one uses.
func used(t *testing.T, by, of listed) []string {
	t.Helper()
	var names []string
	for _, file := range parsed(t, by) {
		for _, i := range file.Imports {
			if path, _ := strconv.Unquote(i.Path.Value); path != of.ImportPath {
				continue
			}
			local := of.Name
			if i.Name != nil {
				local = i.Name.Name
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == local && !slices.Contains(names, s.Sel.Name) {
						names = append(names, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	return names
}
