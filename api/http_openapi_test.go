package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

var update = flag.Bool("update", false, "write docs/openapi.json")

const documentPath = "../docs/openapi.json"

func document(t *testing.T, s *server) []byte {
	t.Helper()
	raw, err := s.huma.OpenAPI().MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(out.Bytes(), '\n')
}

// Requirements: API-10
func TestTheDocumentIsWhatTheServerServes(t *testing.T) {
	t.Parallel()
	got := document(t, newServer(Options{SiteOptions: SiteOptions{Version: "1"}}))
	if *update {
		if err := os.WriteFile(documentPath, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(documentPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/openapi.json is not what the routes say. Run: go test ./api -run Document -update")
	}
	for path := range newServer(Options{}).huma.OpenAPI().Paths {
		if !ours(path) {
			t.Errorf("%s has no version", path)
		}
	}
}

// contract is the document as independent libraries understand it.
type contract struct {
	router  routers.Router
	schemas *jsonschema.Compiler
	mu      sync.Mutex // the compiler's
}

const contractURL = "https://liminal.invalid/openapi.json"

var loaded = sync.OnceValues(func() (*contract, error) {
	raw, err := newServer(Options{SiteOptions: SiteOptions{Version: "1"}}).huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	c := &contract{schemas: jsonschema.NewCompiler()}
	c.schemas.Draft = jsonschema.Draft2020
	if err := c.schemas.AddResource(contractURL, bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	c.router, err = legacy.NewRouter(doc) // validates the document
	return c, err
})

// check reports how an answer differs from what the document says of an
// operation.
func (c *contract) check(method, path string, status int, body []byte) error {
	escaped := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path)
	c.mu.Lock()
	defer c.mu.Unlock()
	schema, err := c.schemas.Compile(contractURL + "#/paths/" + escaped + "/" + strings.ToLower(method) +
		"/responses/" + strconv.Itoa(status) + "/content/application~1json/schema")
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return schema.Validate(value)
}

// conforms fails the test when a JSON answer is not what the document says.
func (w *world) conforms(r *http.Request, got *response) {
	w.Helper()
	c, err := loaded()
	w.must(err)
	plain := r.Clone(r.Context())
	plain.URL.Host, plain.URL.Scheme, plain.Host = "", "", ""
	found, _, err := c.router.FindRoute(plain)
	if err != nil || !strings.HasPrefix(got.header.Get("Content-Type"), "application/json") || got.header.Get("Content-Encoding") != "" {
		return // an unknown path, a stream, or packed
	}
	if err := c.check(found.Method, found.Path, got.status, got.body); err != nil {
		w.Errorf("%s: the answer is not what the document says: %#v\n%s", got.what, err, got.body)
	}
}
