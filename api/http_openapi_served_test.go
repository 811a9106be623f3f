package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"testing"
)

// Requirements: API-10
func TestTheDocumentIsServedToAnybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := &person{world: w}
	const address = "/v1/openapi.json"
	got := nobody.get(address, "Accept-Encoding", "identity")
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal(got.body, &doc); err != nil || got.status != http.StatusOK || doc.OpenAPI != "3.1.0" {
		t.Fatalf("%d %s %v", got.status, doc.OpenAPI, err)
	}
	w.routes("{id}", func(operation, _, _ string) {
		if method, path, _ := bytes.Cut([]byte(operation), []byte(" ")); doc.Paths[string(path)][string(bytes.ToLower(method))] == nil {
			t.Errorf("%s is not in it", operation)
		}
	})
	if doc.Paths[address] == nil {
		t.Error("it does not say where it is")
	}
	etag := got.header.Get("ETag")
	if again := nobody.get(address, "If-None-Match", etag); again.status != http.StatusNotModified || len(again.body) > 0 || etag == "" {
		t.Errorf("again: %d, %d bytes, %q", again.status, len(again.body), etag)
	}
	packed := nobody.get(address, "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(bytes.NewReader(packed.body))
	w.must(err)
	whole, err := io.ReadAll(r)
	if w.must(err); !bytes.Equal(whole, got.body) {
		t.Error("packed it is another")
	}
}
