// Package web is the client: the built files of dist, embedded, and the
// handler that serves them under a strict policy.
//
// dist is committed, so that building the program needs Go only; a test
// refuses a dist that was not built from these sources (run `make web`). The
// package imports the standard library only.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Without all: files whose names begin with _ would be missing.
//
//go:embed all:dist
var dist embed.FS

// policy allows what the client is made of and nothing else: no inline code,
// no foreign hosts, and no HTML made of strings. connect-src 'self' admits
// WebSockets to the same origin.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " +
	"font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

const (
	immutable = "public, max-age=31536000, immutable" // names in assets/ carry a hash of the content
	validate  = "no-cache"                            // kept, but asked about every time
	forbidden = "no-store"
)

// types are fixed here, because a machine's own table may say otherwise.
var types = map[string]string{
	".css":   "text/css; charset=utf-8",
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".json":  "application/json",
	".png":   "image/png",
	".svg":   "image/svg+xml",
	".woff2": "font/woff2",
}

// file is one embedded file, ready to be sent.
type file struct {
	content []byte
	packed  func() []byte // gzip, made when first wanted; nil where it does not help
	mime    string
	etag    string
	cache   string
}

// Handler serves the client: its files, and for every other page address the
// shell, which finds its way by itself. Addresses under /v1/ are not pages and
// are never answered with one. Whoever is not in is sent from every page but the
// open ones to /login, with the way back (API-20); nil: everybody may be in.
func Handler(in func(*http.Request) bool) http.Handler {
	files, err := read(dist, "dist")
	if err != nil {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "The web client inside this program cannot be read; build it again.", http.StatusInternalServerError)
		})
	}
	return door{site(files), in}
}

// open are the pages that ask nobody who they are, or ask by themselves: the
// first one, the door, the reference of the API, and those that mails lead to.
var open = []string{"/", "/index.html", "/login", "/docs", "/reset", "/verify"}

// door is the site, with its pages for those who are in.
type door struct {
	site
	in func(*http.Request) bool
}

// ServeHTTP sends strangers from a page to /login. They come back to where they
// were going: behind ?next= stands its address.
func (d door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.in == nil || !d.page(r) || d.in(r) {
		d.site.ServeHTTP(w, r)
		return
	}
	guard(w.Header())
	asked := r.URL.Query()
	to := url.Values{"next": {r.URL.RequestURI()}}
	if tenant := asked.Get("tenant"); tenant != "" { // a company's own link
		to.Set("tenant", tenant)
	}
	w.Header().Set("Cache-Control", forbidden)
	w.Header().Set("Vary", "Accept, Cookie")
	http.Redirect(w, r, "/login?"+to.Encode(), http.StatusFound)
}

// page reports whether a request is for a page that is not open to everybody.
func (d door) page(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || slices.Contains(open, r.URL.Path) || under(r.URL.Path, "/docs") {
		return false
	}
	return d.find(r) == d.site["/index.html"] && d.site["/index.html"] != nil
}

func read(tree fs.FS, root string) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(tree, root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		mime, served := types[path.Ext(name)]
		if !served { // the stamp, and whatever else is not for browsers
			return nil
		}
		content, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		address := strings.TrimPrefix(name, root)
		files[address] = newFile(address, mime, content)
		return nil
	})
	return files, err
}

func newFile(address, mime string, content []byte) *file {
	sum := sha256.Sum256(content)
	f := &file{content: content, mime: mime, etag: `"` + hex.EncodeToString(sum[:12]) + `"`, cache: validate}
	if strings.HasPrefix(address, "/assets/") {
		f.cache = immutable
	}
	if !strings.HasPrefix(mime, "font/") && mime != "image/png" {
		f.packed = sync.OnceValue(func() []byte { return pack(content) })
	}
	return f
}

func pack(content []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(content); err != nil {
		return nil
	}
	if err := w.Close(); err != nil {
		return nil
	}
	return out.Bytes()
}

// site is the files by their address.
type site map[string]*file

// ServeHTTP implements the serving rules of the package.
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "Only GET and HEAD are answered here.")
		return
	}
	f := s.find(r)
	if f == nil {
		refuse(w, http.StatusNotFound, "There is nothing at this address.")
		return
	}
	f.serve(w, r)
}

// find returns the file at an address, or the shell for a page. A name with a
// dot may still be a page: artifacts have such names. What decides is whether
// the browser asks for a page.
func (s site) find(r *http.Request) *file {
	if f, ok := s[r.URL.Path]; ok {
		return f
	}
	if r.URL.Path == "/" { // whoever asks, such as a person with curl who looks whether something is there
		return s["/index.html"]
	}
	if under(r.URL.Path, "/assets") || under(r.URL.Path, "/v1") || !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return nil
	}
	return s["/index.html"]
}

func under(address, folder string) bool {
	return address == folder || strings.HasPrefix(address, folder+"/")
}

func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

func refuse(w http.ResponseWriter, status int, sentence string) {
	w.Header().Set("Cache-Control", forbidden)
	http.Error(w, sentence, status)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Cache-Control", f.cache)
	h.Set("ETag", f.etag)
	h.Set("Vary", "Accept, Accept-Encoding")
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.content
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		if packed := f.packed(); packed != nil {
			h.Set("Content-Encoding", "gzip")
			body = packed
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	// The only error is a reader that has gone, which is no error here.
	_, _ = w.Write(body)
}
