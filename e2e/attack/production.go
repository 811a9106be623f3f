package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func productionAttacks() []attack {
	production := []string{onProduction}
	return []attack{
		{name: "rows", about: "PostgreSQL as the role of the program, which has said for nobody", deployments: production, run: rows},
		{name: "tenants", about: "one address in two tenants: what Redis and PostgreSQL keep apart", run: tenants},
		{name: "behind-proxy", about: "passwords guessed behind a proxy, with addresses made up", deployments: production, run: behindProxy},
	}
}

// sql runs a statement as the role the program runs as.
func (h *house) sql(t *trial, statement string) (string, error) {
	psql := filepath.Join(os.Getenv("LANE_BIN"), "psql")
	cmd := exec.CommandContext(t.ctx, psql, "-qtAc", statement, h.stack.App) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+os.Getenv("LANE_LIB"))
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// rows reads every table as the program's role without saying for whom.
func rows(t *trial) {
	ada := t.signUp("ada")
	theirs := ada.belongings()
	out, err := t.house.sql(t, `SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name IN ('user_id', 'owner_id') GROUP BY 1 ORDER BY 1`)
	t.must(err)
	seen := 0
	for table := range strings.Lines(out) {
		table = strings.TrimSpace(table)
		for who, set := range map[string]string{
			"nobody": "", "an id of nobody": "SET app.user_id = '" + uuid() + "'; SET liminal.user_id = '" + uuid() + "'; ", "an empty id": "SET app.user_id = ''; SET liminal.user_id = ''; ",
		} {
			got, err := t.house.sql(t, set+"SELECT count(*) FROM "+table+" WHERE "+table+"::text LIKE '%"+theirs.ids["user"]+"%'")
			if err == nil && got != "0" {
				t.hole("%s reads %s rows of another in %s", who, got, table)
			}
		}
		if got, err := t.house.sql(t, "ALTER TABLE "+table+" DISABLE ROW LEVEL SECURITY"); err == nil {
			t.hole("the program's role may take the walls of %s down: %s", table, got)
		}
		seen++
	}
	for _, statement := range []string{"SET row_security = off; SELECT count(*) FROM message", "SET ROLE postgres", "SET ROLE e2e_owner", "CREATE TABLE mine (x int)", "COPY (SELECT 1) TO PROGRAM 'true'", "SELECT pg_read_file('/etc/passwd')", "DROP TABLE message"} {
		if got, err := t.house.sql(t, statement); err == nil && got != "0" {
			t.hole("the program's role may %s: %s", statement, got)
		}
	}
	t.figure("%d tables", seen)
}

// tenants has one address in two tenants and lets each act in the other's name.
func tenants(t *trial) {
	ada := t.signUp("ada")
	twin := t.nobody()
	twin.name, twin.email = "twin", ada.email
	made := twin.do("POST", "/v1/auth/signup", object{"email": ada.email, "password": "another horse battery", "tenant_id": "acme"})
	t.figure("the same address in another tenant: %d", made.status)
	theirs := ada.belongings()
	if made.ok() {
		twin.keep(made)
		if twin.id == ada.id {
			t.hole("one address in two tenants is one account")
		}
		if a := t.nobody().do("POST", "/v1/auth/login", object{"email": ada.email, "password": "another horse battery"}); a.ok() {
			t.hole("the password of one tenant opens the other: %s", a)
		}
		for _, path := range []string{"/v1/conversations/" + theirs.ids["conversation"], "/v1/runs/" + theirs.ids["run"], "/v1/documents/" + theirs.ids["document"]} {
			if a := twin.do("GET", path, nil, "X-Tenant-ID", "default"); a.status != http.StatusNotFound {
				t.hole("the twin reads %s: %s", path, a)
			}
		}
	}
	n := t.nobody()
	for range 14 {
		n.do("POST", "/v1/auth/login", object{"email": ada.email, "password": "wrong horse battery"}, "X-Tenant-ID", "acme")
	}
	if a := t.nobody().do("POST", "/v1/auth/login", object{"email": ada.email, "password": password}); !a.ok() {
		t.hole("guesses in one tenant lock the other out: %s", a)
	}
	// An administrator is one of their own tenant.
	if made.ok() {
		list := t.house.admin.do("GET", "/v1/users?tenant_id=acme&limit=100", nil)
		t.figure("the administrator of the first tenant lists the second: %d", list.status)
		for _, tenant := range []string{"nowhere", "../default", "default\x00", ""} {
			a := t.nobody().do("POST", "/v1/auth/signup", object{"email": uuid() + "@example.org", "password": password, "tenant_id": tenant})
			if a.status >= 500 || a.ok() && tenant != "" {
				t.hole("the tenant %q: %s", tenant, a)
			}
		}
	}
}

// behindProxy starts a server that people reach through a proxy, and guesses as
// somebody behind it does: what they say of their address comes first, what the
// proxy says of it last.
func behindProxy(t *trial) {
	h := t.house
	was := h.env
	h.env = append(h.env, "LIMINAL_PUBLIC_URL=https://chat.example.test")
	err := h.start(t.ctx, "proxied", "server", "--listen", "127.0.0.1:0", "--no-worker")
	h.env = was
	t.must(err)
	at := h.processes[len(h.processes)-1].ready.HTTP
	victim := t.signUp("victim")
	try := func(i int, forwarded string) int {
		return t.nobody().send(requestLimit, "POST", at+"/v1/auth/login", fmt.Appendf(nil, `{"email":%q,"password":"wrong horse %d"}`, victim.email, i),
			"Content-Type", "application/json", "X-Forwarded-For", forwarded, "Host", "chat.example.test").status
	}
	last := 0
	for i := range 14 {
		last = try(i, fmt.Sprintf("203.0.113.%d, 198.51.100.7", i))
	}
	if last != http.StatusTooManyRequests {
		t.hole("behind a proxy the fourteenth guess answers %d", last)
	}
	if got := try(99, "198.51.100.8"); got != http.StatusUnauthorized && got != http.StatusTooManyRequests {
		t.hole("another address answers %d", got)
	}
	many := choose(t, 4, 30)
	for i := range many {
		last = try(i, fmt.Sprintf("198.51.100.%d", 20+i))
	}
	t.figure("%d addresses, one guess each: the last answers %d", many, last)
	for _, forwarded := range []string{"198.51.100.7", "127.0.0.1", "127.0.0.1, 198.51.100.7", ""} {
		a := t.nobody().send(requestLimit, "GET", at+"/metrics", nil, "X-Forwarded-For", forwarded, "Host", "chat.example.test")
		if strings.Contains(string(a.raw), "go_goroutines") {
			t.hole("behind a proxy /metrics is served to whoever asks, forwarded for %q", forwarded)
		}
	}
}
