package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"liminal/internal/stream"
)

// reader is a person who uses the API: files come in by it and no other way.
type reader struct {
	house   *house
	address string // they come from
	token   string
	id      string
}

// signUp makes the account documents are uploaded with.
func (h *house) signUp(ctx context.Context) (*reader, error) {
	r := &reader{house: h, address: "127.0.0.1:1"}
	return r, r.signUp(ctx, "reader")
}

// signUp makes the reader an account.
func (r *reader) signUp(ctx context.Context, name string) error {
	var out struct {
		User        struct{ ID string } `json:"user"`
		AccessToken string              `json:"access_token"`
	}
	body := `{"email":"` + name + `@liminal.invalid","password":"a long benchmark passphrase"}`
	err := r.call(ctx, http.MethodPost, "/v1/auth/signup", "application/json", strings.NewReader(body), &out)
	r.token, r.id = out.AccessToken, out.User.ID
	return err
}

// call asks the API in process and decodes the data of its envelope.
func (r *reader) call(ctx context.Context, method, path, contentType string, body io.Reader, data any) error {
	said, err := r.ask(ctx, method, path, contentType, body)
	if err != nil {
		return err
	}
	envelope := struct{ Data any }{data}
	return json.Unmarshal(said, &envelope)
}

// ask asks the API in process.
func (r *reader) ask(ctx context.Context, method, path, contentType string, body io.Reader) ([]byte, error) {
	req, err := r.request(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	return r.answered(req)
}

// request is one of the reader's.
func (r *reader) request(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	req.RemoteAddr = r.address
	req.Header.Set("Content-Type", contentType)
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	return req, nil
}

// answered is what comes of a request.
func (r *reader) answered(req *http.Request) ([]byte, error) {
	a := &answer{code: http.StatusOK, header: http.Header{}}
	r.house.handler.ServeHTTP(a, req)
	if a.code >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %d %s", req.Method, req.URL.Path, a.code, &a.body)
	}
	return a.body.Bytes(), nil
}

// answer keeps what a handler writes.
type answer struct {
	code   int
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(code int) { a.code = code }

// Flush implements http.Flusher.
func (a *answer) Flush() {}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// ingest uploads a Markdown document of so many bytes and returns how many MB
// of it were read, cut, embedded and indexed per second.
func (r *reader) ingest(ctx context.Context, size int) (float64, error) {
	var made struct{ ID string }
	err := r.call(ctx, http.MethodPost, "/v1/contexts", "application/json", strings.NewReader(`{"name":"bench"}`), &made)
	if err != nil {
		return 0, err
	}
	body, contentType, err := form(made.ID, "book.md", book(size))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	var up struct {
		RunID string `json:"run_id"`
	}
	if err := r.call(ctx, http.MethodPost, "/v1/files/upload", contentType, body, &up); err != nil {
		return 0, err
	}
	t := &turn{house: r.house, run: up.RunID}
	if _, err := t.until(ctx, stream.MessageDone, ignore); err != nil {
		return 0, err
	}
	return float64(size) / 1e6 / time.Since(began).Seconds(), nil
}

func form(contextID, name, text string) (*bytes.Buffer, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("context_id", contextID); err != nil {
		return nil, "", err
	}
	part, err := w.CreateFormFile("file", name)
	if err != nil {
		return nil, "", err
	}
	if _, err := part.Write([]byte(text)); err != nil {
		return nil, "", err
	}
	return &b, w.FormDataContentType(), w.Close()
}
