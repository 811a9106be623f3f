package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDistIsBuiltFromTheseSources recomputes the stamp that stamp.mjs wrote
// into dist, so a client that was changed and not rebuilt is noticed without
// Node.
func TestDistIsBuiltFromTheseSources(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("dist/sources.sha256")
	if err != nil {
		t.Fatalf("dist has no stamp; run: make web (%v)", err)
	}
	if got := stamp(t); got != strings.TrimSpace(string(want)) {
		t.Fatalf("web/dist was not built from these sources; run: make web")
	}
}

func stamp(t *testing.T) string {
	t.Helper()
	names := []string{"index.html", "package.json", "package-lock.json", "stamp.mjs", "tsconfig.json", "vite.config.ts"}
	for _, root := range []string{"src", "public"} {
		err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
			test := strings.HasSuffix(name, ".test.ts") || strings.HasSuffix(name, ".test.tsx") // not part of the build
			if err == nil && !entry.IsDir() && !test {
				names = append(names, filepath.ToSlash(name))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	all := sha256.New()
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		one := sha256.Sum256(content)
		fmt.Fprintf(all, "%x  %s\n", one, name)
	}
	return hex.EncodeToString(all.Sum(nil))
}

func get(t *testing.T, method, address string, headers map[string]string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(method, address, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	Handler(nil).ServeHTTP(recorder, request)
	return recorder.Result()
}

var page = map[string]string{"Accept": "text/html,application/xhtml+xml"}

// asset returns the address of an embedded file with this ending.
func asset(t *testing.T, ending string) string {
	t.Helper()
	names, err := fs.Glob(dist, "dist/assets/*"+ending)
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s in dist/assets (%v)", ending, err)
	}
	return strings.TrimPrefix(names[0], "dist")
}

// budget is how much script the page may load before it can be written in, in
// bytes as they travel (gzip at its best). What comes later is loaded when it
// is asked for.
const budget = 260 << 10

func TestTheFirstPageStaysSmall(t *testing.T) {
	t.Parallel()
	shell, err := fs.ReadFile(dist, "dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, found := range regexp.MustCompile(`(?:src|href)="(/assets/[^"]+\.js)"`).FindAllSubmatch(shell, -1) {
		script, err := fs.ReadFile(dist, "dist"+string(found[1]))
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a level there is
		if _, err := w.Write(script); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %.1f KiB", found[1], float64(packed.Len())/1024)
		total += packed.Len()
	}
	if t.Logf("together %.1f KiB", float64(total)/1024); total == 0 || total > budget {
		t.Errorf("the first page loads %d bytes of script, and may load %d", total, budget)
	}
}

func TestServesTheClientByItsRules(t *testing.T) {
	t.Parallel()
	script := asset(t, ".js")
	tests := map[string]struct {
		method, address string
		headers         map[string]string
		status          int
		cache, mime     string
	}{
		"the shell is asked about every time":        {"GET", "/", page, 200, validate, "text/html; charset=utf-8"},
		"the shell is there for whoever asks":        {"GET", "/", map[string]string{"Accept": "*/*"}, 200, validate, "text/html; charset=utf-8"},
		"a page address is answered with the shell":  {"GET", "/c/0193", page, 200, validate, "text/html; charset=utf-8"},
		"a page address may contain a dot":           {"GET", "/artifacts/llm.chat_v1", page, 200, validate, "text/html; charset=utf-8"},
		"an asset is kept for good":                  {"GET", script, nil, 200, immutable, "text/javascript; charset=utf-8"},
		"a font keeps its type on every machine":     {"GET", asset(t, ".woff2"), nil, 200, immutable, "font/woff2"},
		"a missing asset is never a page":            {"GET", "/assets/gone.js", page, 404, forbidden, "text/plain; charset=utf-8"},
		"an unknown api address is never a page":     {"GET", "/v1/gone", page, 404, forbidden, "text/plain; charset=utf-8"},
		"what is not asked for as a page is missing": {"GET", "/gone", map[string]string{"Accept": "*/*"}, 404, forbidden, "text/plain; charset=utf-8"},
		"the stamp is not for browsers":              {"GET", "/sources.sha256", nil, 404, forbidden, "text/plain; charset=utf-8"},
		"only reading is possible":                   {"POST", "/", page, 405, forbidden, "text/plain; charset=utf-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := get(t, test.method, test.address, test.headers)
			if response.StatusCode != test.status {
				t.Errorf("status %d, want %d", response.StatusCode, test.status)
			}
			if got := response.Header.Get("Cache-Control"); got != test.cache {
				t.Errorf("Cache-Control %q, want %q", got, test.cache)
			}
			if got := response.Header.Get("Content-Type"); got != test.mime {
				t.Errorf("Content-Type %q, want %q", got, test.mime)
			}
			if got := response.Header.Get("Content-Security-Policy"); got != policy {
				t.Errorf("Content-Security-Policy %q", got)
			}
		})
	}
}

// Requirements: API-20 (302 to /login for pages)
func TestAStrangerIsSentFromAPageToTheDoorAndBack(t *testing.T) {
	t.Parallel()
	ask := func(in bool, method, address string, headers map[string]string) *http.Response {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, address, nil)
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		Handler(func(*http.Request) bool { return in }).ServeHTTP(w, r)
		return w.Result()
	}
	for address, back := range map[string]string{
		"/paliadin": "/login?next=%2Fpaliadin", "/c/0193?a=b&c=d": "/login?next=%2Fc%2F0193%3Fa%3Db%26c%3Dd", "/artifacts/llm.chat_v1": "/login?next=%2Fartifacts%2Fllm.chat_v1",
		"/contexts?tenant=acme": "/login?next=%2Fcontexts%3Ftenant%3Dacme&tenant=acme", "//evil.example/x": "/login?next=%2F%2Fevil.example%2Fx",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			got := ask(false, method, address, page)
			if got.StatusCode != http.StatusFound || got.Header.Get("Location") != back || got.Header.Get("Cache-Control") != forbidden || got.Header.Get("Content-Security-Policy") != policy {
				t.Errorf("%s %s: %d to %q, %v", method, address, got.StatusCode, got.Header.Get("Location"), got.Header)
			}
		}
		if got := ask(true, "GET", address, page); got.StatusCode != http.StatusOK {
			t.Errorf("%s of somebody who is in: %d", address, got.StatusCode)
		}
	}
	for _, address := range []string{"/", "/login", "/login?next=%2Fx", "/docs", "/docs/chat", "/reset", "/verify", asset(t, ".js")} {
		if got := ask(false, "GET", address, page); got.StatusCode != http.StatusOK {
			t.Errorf("%s: %d", address, got.StatusCode)
		}
	}
	for _, address := range []string{"/assets/gone.js", "/v1/gone"} {
		if got := ask(false, "GET", address, page); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", address, got.StatusCode)
		}
	}
	if got := ask(false, "GET", "/gone", map[string]string{"Accept": "*/*"}); got.StatusCode != http.StatusNotFound {
		t.Errorf("what is no page: %d", got.StatusCode)
	}
	if got := ask(false, "POST", "/paliadin", page); got.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("a POST: %d", got.StatusCode)
	}
}

func TestAnUnchangedShellIsNotSentAgain(t *testing.T) {
	t.Parallel()
	first := get(t, "GET", "/", page)
	again := get(t, "GET", "/", map[string]string{"Accept": "text/html", "If-None-Match": first.Header.Get("ETag")})
	if again.StatusCode != http.StatusNotModified {
		t.Fatalf("status %d, want 304", again.StatusCode)
	}
}

func TestTextIsPackedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	packed := get(t, "GET", asset(t, ".js"), map[string]string{"Accept-Encoding": "gzip, br"})
	if got := packed.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q, want gzip", got)
	}
	plain := get(t, "GET", asset(t, ".js"), nil)
	if got := plain.Header.Get("Content-Encoding"); got != "" {
		t.Fatalf("Content-Encoding %q for a reader that takes none", got)
	}
	if packed.ContentLength >= plain.ContentLength {
		t.Fatalf("packed is %d bytes, plain is %d", packed.ContentLength, plain.ContentLength)
	}
}

// TestTheShellNeedsNothingInline holds the build to the policy: one inline
// script would be a blank page.
func TestTheShellNeedsNothingInline(t *testing.T) {
	t.Parallel()
	shell, err := dist.ReadFile("dist/index.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>", "<style", "onload=", "http://", "https://", "data:"} {
		if strings.Contains(string(shell), bad) {
			t.Errorf("index.html contains %q", bad)
		}
	}
}
