package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestKeysAreMadeSeenAndEndedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	asked := []string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		const key = `{"id":"k1","name":"nightly\u001b[31m","scopes":["chat","tools:files.*"],"assistants":["default"],"created_at":"2026-05-04T12:00:00Z","expires_at":"2026-06-04T12:00:00Z","used_at":null,"revoked_at":null,"ended":false`
		switch {
		case r.Method == "POST" && strings.Contains(string(body), "guarded"):
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"validation_error","message":"This account has a second factor: an access key needs a code of the authenticator.","details":{"field":"code"}}}`)
		case r.Method == "POST":
			_, _ = io.WriteString(w, `{"data":`+key+`,"key":"lim_text"}}`)
		case r.Method == "GET":
			_, _ = io.WriteString(w, `{"data":{"data":[`+key+`}],"next_cursor":null}}`)
		default:
			_, _ = io.WriteString(w, `{"data":{}}`)
		}
	}))
	t.Cleanup(s.Close)
	environment := []string{"LIMINAL_URL=" + s.URL, "LIMINAL_TOKEN=x"}

	code, out, said := finish(t, environment, "key", "create", "nightly", "--scopes", "chat, tools:files.*", "--assistants", "default", "--days", "30")
	if code != exitOK || out != "lim_text\n" {
		t.Errorf("create ended with %d: %q %s", code, out, said)
	}
	has(t, said, "nightly[31m opens chat, tools:files.* until 2026-06-04; it is not shown again", "liminald key revoke k1")
	has(t, asked[0], `POST /v1/keys`, `"scopes":["chat","tools:files.*"]`, `"assistants":["default"]`, `"expires_in_days":30`)
	if _, out, _ := finish(t, environment, "key", "list"); !strings.Contains(out, "k1  nightly[31m: chat, tools:files.*; until 2026-06-04, never used\n    only for default\n") {
		t.Errorf("listed: %s", out)
	}
	if code, out, _ := finish(t, environment, "key", "revoke", "k1"); code != exitOK || !strings.HasPrefix(out, "ended") || !strings.HasPrefix(asked[len(asked)-1], "DELETE /v1/keys/k1") {
		t.Errorf("revoke ended with %d: %s", code, out)
	}
	if code, _, said := finish(t, environment, "key", "create", "guarded", "--scopes", "chat"); code != exitFailed || !strings.Contains(said, "code of the authenticator") {
		t.Errorf("without its code: %d %s", code, said)
	}
	for _, wrong := range [][]string{{}, {"sing"}, {"create"}, {"create", "x"}, {"list", "x"}, {"revoke"}} {
		if code, _, said := finish(t, environment, append([]string{"key"}, wrong...)...); code != exitUsage || said == "" {
			t.Errorf("%v: %d %s", wrong, code, said)
		}
	}
}
