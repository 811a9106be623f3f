package api

import (
	"net/http"
	"testing"
)

// The mark by which pages tell who may be in comes and goes with the session, and
// opens nothing.
//
// Requirements: API-20 (401 for the API)
func TestASignInLeavesAMarkForPagesThatOpensNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mark := func(r *response) *http.Cookie {
		t.Helper()
		for _, c := range (&http.Response{Header: r.header}).Cookies() {
			if c.Name == pageCookie {
				return c
			}
		}
		t.Fatalf("%s leaves no mark", r.what)
		return nil
	}
	signed := (&person{world: w}).post("/v1/auth/signup", map[string]any{"email": "ada@example.org", "password": "correct horse"})
	c := mark(signed)
	if c.Path != "/" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 || c.Value != "1" {
		t.Errorf("the mark is %v", c)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/paliadin", nil)
	w.must(err)
	if Arrives(r) {
		t.Error("a stranger arrives")
	}
	r.AddCookie(c)
	if !Arrives(r) {
		t.Error("who is signed in does not arrive")
	}
	for _, method := range []string{"POST", "GET"} {
		path := map[string]string{"POST": "/v1/chat", "GET": "/v1/conversations"}[method]
		(&person{world: w}).do(method, path, map[string]any{"message": "x"}, "Cookie", c.String()).fails(401, "unauthorized")
	}
	ada := w.personOf(signed.ok())
	if c := mark(ada.post("/v1/auth/logout", map[string]any{"refresh_token": ada.refresh})); c.MaxAge >= 0 {
		t.Errorf("signed out, and the mark is %v", c)
	}
}
