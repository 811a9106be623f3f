// Package schemas is the JSON Schemas (draft-07) of every artifact kind, and
// the checking of documents against them with sentences a person understands.
//
// One kind is one file, <kind>.json. A Registry holds the kinds that ship
// with the program and those registered later (ART-12).
//
// Compile is the one way to a schema that a person wrote, wherever it stands:
// in a tool.spec, in a question, in what a model is asked for. It knows that
// schema and nothing else, nothing is ever loaded, and it refuses a schema that
// is too large before anything is compiled. Check tells beforehand what a check
// would cost, and refuses one that is too dear. The package imports the
// standard library, the JSON Schema library and internal/check only.
package schemas

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"liminal/internal/check"
)

//go:embed *.json
var files embed.FS

// base is the address schemas are compiled under; nothing is fetched from it.
const base = "https://liminal.invalid/schemas/"

// Fault is one thing wrong with a document.
type Fault = check.Fault

// Faults is everything wrong with a document, ordered by path.
type Faults = check.Faults

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	source   any // the schema itself, decoded: its descriptions become hints
	plan     *plan
}

// Compile reads a draft-07 schema that a person may have written. References
// may only point into the schema itself: a document must not make the program
// read files or the network. What is too large, or leads elsewhere, is refused
// with Faults before it is compiled.
func Compile(doc []byte) (*Schema, error) {
	if len(doc) > MaxSchema {
		return nil, limited(fmt.Sprintf("the schema has %d bytes, the limit is %d", len(doc), MaxSchema))
	}
	return compile("inline.json", doc, false)
}

// compile reads a schema; one of ours is trusted to be no larger than it must.
func compile(name string, doc []byte, ours bool) (schema *Schema, err error) {
	defer func() {
		if p := recover(); p != nil { // the library relies on what a schema's own schema does not say
			schema, err = nil, fmt.Errorf("the schema cannot be read: %s", cut(fmt.Sprint(p), maxShown))
		}
	}()
	source, err := decode(doc)
	if err != nil {
		return nil, err
	}
	var m measured
	if m.walk(source, 0, 0); m.fault != "" {
		return nil, limited(m.fault)
	}
	plan, faults := planned(source, ours)
	if len(faults) > 0 {
		return nil, faults
	}
	if doc, err = json.Marshal(source); err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.Formats["regex"] = isPattern
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("the reference to %s leads outside the schema", url)
	}
	if err := c.AddResource(base+name, bytes.NewReader(doc)); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(base + name)
	if err != nil {
		return nil, compileError(err)
	}
	return &Schema{compiled: compiled, source: source, plan: plan}, nil
}

// compileError puts a broken schema's own faults first, without our address.
func compileError(err error) error {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return sentences(invalid, nil)
	}
	var broken *jsonschema.SchemaError
	if errors.As(err, &broken) && broken.Err != nil {
		err = broken.Err
	}
	return errors.New(strings.TrimPrefix(strings.ReplaceAll(err.Error(), base, ""), "jsonschema: "))
}

// Check gives the faults of a decoded JSON value; nil when there is none. A
// value whose check would be too much work has one fault, of check.Limits, and
// is not looked at further. The error is ctx's.
func (s *Schema) Check(ctx context.Context, v any) (Faults, error) {
	invalid, faults, err := s.validate(ctx, v)
	if err != nil || invalid == nil {
		return faults, err
	}
	return sentences(invalid, s.source), nil
}

// First gives the first thing wrong with a value as the library says it, for a
// person who sees one value and no document; empty when there is nothing. What
// cannot be checked is Faults; any other error is ctx's.
func (s *Schema) First(ctx context.Context, v any) (string, error) {
	first, _, err := s.Fields(ctx, v)
	return first, err
}

// Fields is First, and beside it everything that is wrong, for a person who
// filled in a form: a member that is missing is told at its own place, which is
// its field's.
func (s *Schema) Fields(ctx context.Context, v any) (first string, wrong Faults, err error) {
	invalid, faults, err := s.validate(ctx, v)
	switch {
	case err != nil:
		return "", nil, err
	case len(faults) > 0:
		return "", nil, faults
	case invalid == nil:
		return "", nil, nil
	}
	wrong = fieldSentences(invalid, s.source)
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	return cut(invalid.Message, maxMessage), wrong, nil
}

// Reason is why Compile or Check refused, as part of a sentence: the first
// fault, with its place unless that is plain.
func Reason(err error) string {
	faults, ok := errors.AsType[Faults](err)
	switch {
	case !ok || len(faults) == 0:
		return cut(err.Error(), maxMessage)
	case faults[0].Path == "" || faults[0].Kind == check.References: // a reference is its own place
		return faults[0].Message
	}
	return faults[0].Path + ": " + faults[0].Message
}

// Refused reports whether Compile refused a schema for its bounds or for what
// it refers to, and not for its form.
func Refused(err error) bool {
	faults, _ := errors.AsType[Faults](err)
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.Kind == check.Limits || f.Kind == check.References })
}

// validate asks the library, once it is known what that costs. Heavy checks
// wait for each other.
func (s *Schema) validate(ctx context.Context, v any) (invalid *jsonschema.ValidationError, faults Faults, err error) {
	work, refused, err := s.plan.afford(ctx, v)
	switch {
	case err != nil:
		return nil, nil, err
	case refused != "":
		return nil, limited(refused), nil
	case work > heavy:
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	defer func() {
		if p := recover(); p != nil {
			invalid, faults, err = nil, Faults{{Message: "the value cannot be checked: " + cut(fmt.Sprint(p), maxShown)}}, nil
		}
	}()
	if failed := s.compiled.Validate(v); failed != nil && !errors.As(failed, &invalid) {
		return nil, Faults{{Message: "the value is not plain JSON: " + failed.Error()}}, nil
	}
	return invalid, nil, nil
}

// Registry is the kinds that are known. It is safe for concurrent use; each
// schema is compiled when it is first needed.
type Registry struct {
	mu    sync.Mutex
	kinds map[string]*entry
}

type entry struct {
	source  []byte
	compile func() (*Schema, error)
}

// NewRegistry knows the kinds that ship with the program.
func NewRegistry() *Registry {
	r := &Registry{kinds: map[string]*entry{}}
	names, _ := fs.Glob(files, "*.json") // fails for a malformed pattern only
	for _, name := range names {
		doc, _ := files.ReadFile(name) // embedded: it is there
		r.kinds[strings.TrimSuffix(name, ".json")] = newEntry(name, doc)
	}
	return r
}

func newEntry(name string, doc []byte) *entry {
	return &entry{source: doc, compile: sync.OnceValues(func() (*Schema, error) { return compile(name, doc, true) })}
}

// Register adds a kind (ART-12). A kind that is there already is refused: the
// documents written under it must stay valid.
func (r *Registry) Register(kind string, schema []byte) error {
	if kind == "" || strings.ContainsAny(kind, "/#? ") {
		return fmt.Errorf("%q cannot name a kind: use words joined by dots, such as memory.note", kind)
	}
	e := newEntry(kind+".json", bytes.Clone(schema))
	if _, err := e.compile(); err != nil {
		return fmt.Errorf("the schema of %s: %w", kind, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, taken := r.kinds[kind]; taken {
		return fmt.Errorf("the kind %s has a schema already", kind)
	}
	r.kinds[kind] = e
	return nil
}

// Kinds lists the known kinds in order.
func (r *Registry) Kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	kinds := make([]string, 0, len(r.kinds))
	for kind := range r.kinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Source gives the schema of a kind as it was written, for clients and models
// that write documents.
func (r *Registry) Source(kind string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.kinds[kind]
	if !ok {
		return nil, false
	}
	return bytes.Clone(e.source), true
}

// Validate checks doc against the schema of its kind. The error is Faults
// whenever the document is at fault; else it is ctx's or the program's.
func (r *Registry) Validate(ctx context.Context, kind string, doc []byte) error {
	r.mu.Lock()
	e, ok := r.kinds[kind]
	r.mu.Unlock()
	if !ok {
		return Faults{{
			Path:    "/kind",
			Message: fmt.Sprintf("%q is not a kind of artifact", kind),
			Hint:    "known kinds: " + strings.Join(r.Kinds(), ", "),
		}}
	}
	schema, err := e.compile()
	if err != nil {
		return fmt.Errorf("the schema of %s: %w", kind, err)
	}
	value, err := decode(doc)
	if err != nil {
		return Faults{{Message: err.Error()}}
	}
	faults, err := schema.Check(ctx, value)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// decode reads one JSON value; numbers keep their digits.
func decode(doc []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, syntaxError(doc, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the document goes on after its end: exactly one JSON value is expected")
	}
	return v, nil
}

func syntaxError(doc []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) || syntax.Offset > int64(len(doc)) {
		return fmt.Errorf("the document is not JSON: %w", err)
	}
	read := doc[:syntax.Offset]
	line := bytes.Count(read, []byte("\n")) + 1
	column := len(read) - bytes.LastIndexByte(read, '\n') - 1
	return fmt.Errorf("the document is not JSON at line %d, column %d: %w", line, column, err)
}
