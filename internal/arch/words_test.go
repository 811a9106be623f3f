package arch

import (
	"encoding/json"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// givenUp are metaphors that newcomers had to learn, each with what to say
// instead. docs/words.md has those that stay.
var givenUp = map[string]string{
	"Hub": "inproc.Memory", "Outside": "webaccess",
	"Purse": "ModelBudget", "Books": "UsageStore", "Till": "usageMeter",
	"Flood": "wslimits",
	"Move":  "Transition", "MovePatch": "TransitionPatch",
	"Stock": "SweepStore", "Parcel": "VectorBatch", "Shelve": "IndexBatch", "Shelf": "a store in memory, or ArtifactStore",
	"Ground": "backends, or teststack", "Eyes": "observability", "Furnish": "buildServices",
	"Nowhere": "noCache",
	"Trial":   "RolloutPlan", "Trials": "VersionResolver", "Taken": "ResolveVersion",
	"Pane": "MessagePage", "Fuses": "LocalBreakers", "Knock": "SignInByAddress",
	"Tame": "bound", "Lay": "flatten",
	"Lane":   "teststack, or Deployment",
	"Teller": "assistEncoder", "Told": "Assist…, or what was said to whom", "ToldResponse": "AssistResponse",
	"Departure": "what it is", "TwoF": "TwoOf", "Leave": "Permission", "OneOfSeveral": "what it is",
	"Happened": "RunOutcomes", "Came": "Outcome",
}

// saysNothing are names of functions that dozens shared: what one does was to be
// read from its body.
var saysNothing = map[string]string{
	"told":  "what is said of what, as in firstFault or withProblems",
	"plain": "what is taken out or written, as in escapeMarkdown or withoutPath",
}

// givenUpPlaces are packages and files of the same words.
var givenUpPlaces = []string{
	"hub", "outside", "ground", "eyes", "furnish", "mirror", "nowhere", "moves", "stock", "parcel", "shelf",
	"trip", "flood", "tame", "lane", "taken", "trial", "told", "teller", "voice",
}

// Words that were given up come back by habit. Fields are not looked at: many
// are named as they are stored.
func TestWordsThatWereGivenUpDoNotComeBack(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.test || isBeside(s.pkg) && !strings.HasPrefix(s.pkg, "e2e") {
			continue
		}
		for _, place := range []string{path.Base(s.pkg), strings.TrimSuffix(path.Base(s.file), ".go")} {
			if slices.Contains(givenUpPlaces, place) {
				t.Errorf("%s: %q was given up as a name of packages and files; see docs/words.md", s.file, place)
			}
		}
		for name := range declared(s.ast) {
			if instead, found := givenUp[name]; found && !isBeside(s.pkg) {
				t.Errorf("%s: the name %s was given up; say %s (docs/words.md)", s.file, name, instead)
			}
		}
	}
}

func TestFunctionsAreNamedForWhatTheyDo(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.test || isBeside(s.pkg) {
			continue
		}
		for _, decl := range s.ast.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if instead, found := saysNothing[f.Name.Name]; found {
				t.Errorf("%s: a function called %s says nothing; say %s", s.file, f.Name.Name, instead)
			}
		}
	}
}

// Clients are written against the schemas of the API's document.
func TestSchemasHaveNoNameThatWasGivenUp(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(moduleRoot(t), "docs", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &document); err != nil || len(document.Components.Schemas) < 50 {
		t.Fatalf("the document has %d schemas, %v", len(document.Components.Schemas), err)
	}
	for name := range document.Components.Schemas {
		if instead, found := givenUp[name]; found {
			t.Errorf("the schema %s has a name that was given up; say %s (docs/words.md)", name, instead)
		}
	}
}

func TestTheListOfGivenUpWordsIsRead(t *testing.T) {
	t.Parallel()
	for _, s := range tree(t) {
		if s.pkg == "internal/changes" && !s.test && slices.Contains(slices.Collect(declared(s.ast)), "Transition") {
			return
		}
	}
	t.Error("changes.Transition was not found: declarations are not read any more")
}

// declared are the exported types, functions, methods, constants and variables
// of a file.
func declared(f *ast.File) func(yield func(string) bool) {
	names := map[string]bool{}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			names[decl.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
					methods(spec, names)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						names[n.Name] = true
					}
				}
			}
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return !token.IsExported(name) })
	return maps.Keys(names)
}

// methods adds those that an interface names.
func methods(spec *ast.TypeSpec, names map[string]bool) {
	i, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range i.Methods.List {
		for _, n := range m.Names {
			names[n.Name] = true
		}
	}
}
