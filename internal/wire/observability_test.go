package wire

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFiguresAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		remote, host, header string
		want                 bool
	}{
		{"127.0.0.1:9", "127.0.0.1:8080", "", true},
		{"[::1]:9", "[::1]:8080", "", true},
		{"127.0.0.1:9", "localhost", "", true},
		{"192.0.2.7:9", "127.0.0.1:8080", "", false},
		{"127.0.0.1:9", "evil.example:8080", "", false}, // a name that was made to lead here
		{"127.0.0.1:9", "127.0.0.1:8080", "X-Forwarded-For", false},
		{"127.0.0.1:9", "127.0.0.1:8080", "X-Real-IP", false},
		{"127.0.0.1:9", "127.0.0.1:8080", "Via", false},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.RemoteAddr, r.Host = c.remote, c.host
		if c.header != "" {
			r.Header.Set(c.header, "192.0.2.7")
		}
		if got := near(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
