package wire_test

import (
	"net/url"
	"testing"
)

// asReader is a server's address for another role.
func asReader(t *testing.T, server, role string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	return u.String()
}
