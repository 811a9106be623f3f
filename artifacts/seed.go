package artifacts

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"liminal/internal/check"
	"liminal/internal/identity"
)

// What ships with the program: the defaults, and packs, each a folder of
// documents that belong together, with a README that says what it is.
//
//go:embed defaults packs
var files embed.FS

// The names of the defaults other code relies on.
const (
	DefaultWorkflow   = "default"   // a turn without contexts (GRAPH-21)
	DocumentsWorkflow = "documents" // a turn with contexts (GRAPH-22)
	IngestWorkflow    = "ingest"    // reading a document in (GRAPH-24)
	CodeWorkflow      = "agent.code"
	AssistantWorkflow = "assistant" // of the pack documents (LG-01)
	DefaultPolicy     = "default"
)

// defaults are the documents under defaults/<kind>/<name>.json and
// packs/<pack>/<kind>/<name>.json. They are in the program, and read once: each of
// them is checked against them. Nobody writes to what it gives.
var defaults = sync.OnceValues(func() ([]Seed, error) {
	var seeds []Seed
	for _, pattern := range []string{"defaults/*/*.json", "packs/*/*/*.json"} {
		some, err := seedsIn(pattern)
		if err != nil {
			return nil, err
		}
		seeds = append(seeds, some...)
	}
	return seeds, nil
})

func seedsIn(pattern string) ([]Seed, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	var seeds []Seed
	for _, name := range names {
		doc, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		seed := Seed{Type: path.Base(path.Dir(name)), Name: strings.TrimSuffix(path.Base(name), ".json"), Schema: doc}
		seed.Description = about(seed)
		seeds = append(seeds, seed)
	}
	return seeds, nil
}

// about is the description a document gives of itself. The specification's
// own example is kept to the letter and has none.
func about(s Seed) string {
	if s.Name == "classify_and_route" {
		return "The example of the specification: names what a message wants and takes one of three ways."
	}
	var d struct {
		Description string `json:"description"`
	}
	if json.Unmarshal(s.Schema, &d) != nil {
		return ""
	}
	return d.Description
}

// Seeds are the tool.specs of the program's tools and the documents that ship
// with it, tools first.
func (l *Library) Seeds() ([]Seed, error) {
	seeds := make([]Seed, 0, len(l.shipped)+8)
	for _, spec := range l.shipped {
		doc, err := json.MarshalIndent(spec, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("the spec of %s: %w", spec.Name, err)
		}
		seeds = append(seeds, Seed{Type: KindTool, Name: spec.Name, Description: spec.Description, Schema: doc})
	}
	seeds = append(seeds, l.operations...)
	documents, err := defaults()
	return append(seeds, documents...), err
}

// Seed stores what is missing of the defaults and brings those up to date
// that nobody has edited. It may run at every start and in several processes
// at once (ART-10). A default that is at fault is an error: it ships with the
// program.
func (l *Library) Seed(ctx context.Context) error {
	seeds, err := l.Seeds()
	if err != nil {
		return err
	}
	system := identity.System()
	step := func(kind string) int { // tools are checked against the stored sources, graphs against the stored tools
		switch kind {
		case KindSource, KindConnection, KindMCPServer:
			return 0
		case KindTool:
			return 1
		}
		return 2
	}
	for at := range 3 {
		var some []Seed
		for _, s := range seeds {
			if step(s.Type) == at {
				some = append(some, s)
			}
		}
		if err := l.checkSeeds(ctx, some); err != nil {
			return err
		}
		if err := l.store.Seed(ctx, system, some); err != nil {
			return fmt.Errorf("seed the default artifacts: %w", err)
		}
	}
	return nil
}

func (l *Library) checkSeeds(ctx context.Context, seeds []Seed) error {
	// Nothing is stored meanwhile, so the tools are listed once: a list for each
	// graph was a seventh of what a start takes.
	specs := sync.OnceValues(func() ([]Bound, error) { return l.Specs(ctx, identity.System()) })
	var faults []error
	for _, s := range seeds {
		if err := l.checkAmong(ctx, identity.System(), s.Type, s.Name, s.Schema, specs); err != nil {
			faults = append(faults, fmt.Errorf("the default %s %s: %w", s.Type, s.Name, explained(err)))
		}
	}
	return errors.Join(faults...)
}

// explained is err with every problem told, for logs and tests.
func explained(err error) error {
	if problems := Problems(err); len(problems) > 0 {
		return check.Faults(problems)
	}
	return err
}
