package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
)

// printed is the API document as it is served. It is made when it is first asked
// for, once every route is in it.
type printed struct {
	plain, packed []byte // packed: gzip
	etag          string // weak: it is of what both say
}

func (s *server) openAPIRoutes() {
	op := public(route("GET /v1/openapi.json", "openapi", "This API as an OpenAPI 3.1 document; to be read at /docs"))
	op.Tags = []string{"config"}
	made := sync.OnceValues(s.print)
	s.handleHTTP(op, func(w http.ResponseWriter, r *http.Request) {
		doc, err := made()
		if err != nil {
			s.refuse(w, r, fault.From(err))
			return
		}
		doc.serve(w, r)
	})
	s.answers(op, http.StatusOK, "application/json", "The document itself, without an envelope; it has an ETag",
		&huma.Schema{Type: huma.TypeObject, AdditionalProperties: true})
}

func (s *server) print() (*printed, error) {
	plain, err := s.huma.OpenAPI().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	sum := sha256.Sum256(plain)
	return &printed{plain: plain, packed: packed.Bytes(), etag: `W/"` + hex.EncodeToString(sum[:12]) + `"`}, err
}

func (p *printed) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "public, no-cache") // kept, but asked about every time
	h.Set("ETag", p.etag)
	h.Set("Vary", "Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), p.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := p.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = p.packed
	}
	_, _ = w.Write(body) // the reader may have gone
}
