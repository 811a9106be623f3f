package api

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// What the web client asks for, anybody else may ask for: each address in its
// sources is an operation of the document, and each of these takes a bearer
// token and nothing that only a browser has.
//
// Requirements: PLAT-09
func TestTheWebClientAsksForNothingThatOthersCannot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	paths := map[string]*huma.PathItem{} // without the names of parameters
	for address, item := range w.server.huma.OpenAPI().Paths {
		paths[parameter.ReplaceAllString(address, "{}")] = item
	}
	asked := addresses(t)
	if len(asked) < 100 {
		t.Fatalf("only %d addresses were found in the client", len(asked))
	}
	client := &http.Client{Transport: &http.Transport{}} // without cookies
	t.Cleanup(client.CloseIdleConnections)
	for address, file := range asked {
		item := paths[address]
		if item == nil {
			t.Errorf("%s asks for %s, which is not in openapi.json", file, address)
			continue
		}
		for method, op := range operationsOf(item) {
			if op.Security != nil && len(op.Security) == 0 || strings.HasPrefix(address, "/v1/auth/") { // open to all, or about signing in itself
				continue
			}
			if strings.HasSuffix(address, "/stream") || strings.HasSuffix(address, "/events") {
				continue // stays open; the tests of streams have only a bearer, too
			}
			with := func(token string) int {
				r, err := http.NewRequestWithContext(t.Context(), method, w.url+parameter.ReplaceAllString(address, "0"), strings.NewReader("{}"))
				w.must(err)
				r.Header.Set("Content-Type", "application/json")
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				got, err := client.Do(r)
				w.must(err)
				w.must(got.Body.Close())
				return got.StatusCode
			}
			if status := with(ada.token); status == http.StatusUnauthorized || status == http.StatusForbidden && !staff(address) {
				t.Errorf("%s %s with a bearer alone: %d", method, address, status)
			}
			if status := with(""); status != http.StatusUnauthorized {
				t.Errorf("%s %s without one: %d", method, address, status)
			}
		}
	}
}

var parameter = regexp.MustCompile(`\{[^}]*\}`)

// staff reports whether an address is for administrators.
func staff(address string) bool {
	for _, part := range []string{"/v1/users", "/v1/plans", "/v1/backends", "/v1/config/", "/v1/audit", "/v1/insights"} {
		if strings.HasPrefix(address, part) {
			return true
		}
	}
	return false
}

// operationsOf are the operations of a path, by their methods.
func operationsOf(item *huma.PathItem) map[string]*huma.Operation {
	all := map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PATCH": item.Patch, "PUT": item.Put, "DELETE": item.Delete}
	for method, op := range all {
		if op == nil {
			delete(all, method)
		}
	}
	return all
}

// addresses are those that the client's sources name, each with the file: the
// table that is made of the document, and what is written by hand.
func addresses(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	literal := regexp.MustCompile("['\"`](/(?:v1|api)/[^'\"`?\\s]+)['\"`?]")
	err := filepath.WalkDir("../web/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") || strings.Contains(path, ".test.") || strings.Contains(path, "ixture") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range literal.FindAllSubmatch(raw, -1) {
			out[parameter.ReplaceAllString(strings.ReplaceAll(string(m[1]), "${", "{"), "{}")] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
