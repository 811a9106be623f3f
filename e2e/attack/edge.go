package main

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
)

func edgeAttacks() []attack {
	return []attack{
		{name: "content-type", row: "#7", about: "JSON without its Content-Type, as a page of another origin sends it", once: true, run: contentType},
		{name: "same-key", row: "#8", about: "one idempotency key at two endpoints", run: sameKey},
		{name: "multipart", row: "#9", about: "uploads whose multipart is malformed", once: true, run: malformed},
		{name: "signed-link", row: "#9", about: "a signed link after its person has left", run: signedLink},
		{name: "look-alike", row: "#9", about: "addresses that look like another's", once: true, run: lookAlike},
		{name: "jwt-last", row: "–", about: "the spare bits of a token's last character", once: true, run: lastCharacter},
	}
}

func contentType(t *trial) {
	n := 0
	try := func(what string, p *person, path, body string, headers ...string) {
		n++
		headers = append(headers, "Origin", "http://"+evil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors")
		if a := p.send(requestLimit, "POST", t.house.ready.HTTP+path, []byte(body), headers...); !a.refused() {
			t.hole("%s at %s: %s", what, path, a)
		}
	}
	mallory := t.signUp("mallory")
	for i, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain;charset=application/json", "application/octet-stream"} {
		email := fmt.Sprintf("cross-site-%d-%s@example.org", i, t.house.deployment)
		try("Content-Type "+kind, t.nobody(), "/v1/auth/signup", fmt.Sprintf(`{"email":%q,"password":%q}`, email, password), "Content-Type", kind)
		try("Content-Type "+kind, t.nobody(), "/v1/auth/login", fmt.Sprintf(`{"email":%q,"password":%q}`, mallory.email, password), "Content-Type", kind)
		try("Content-Type "+kind, mallory, "/v1/chat", `{"message":"hello","stream":false}`, "Content-Type", kind)
		try("Content-Type "+kind, mallory, "/v1/tools/run", `{"tool_id":"files.list_v1","input":{}}`, "Content-Type", kind)
	}
	for _, kind := range []string{"", "text/plain"} { // and where nobody says which page it comes from
		n++
		a := t.nobody().send(requestLimit, "POST", t.house.ready.HTTP+"/v1/auth/signup", fmt.Appendf(nil, `{"email":"%s@example.org","password":%q}`, uuid(), password), "Content-Type", kind)
		if !a.refused() {
			t.hole("Content-Type %q without an Origin: %s", kind, a)
		}
	}
	for _, hole := range t.house.first {
		t.hole("%s", hole)
	}
	for _, headers := range [][]string{
		{"Host", evil, "Origin", "http://" + evil, "Sec-Fetch-Site", "same-origin"}, {"Host", evil + ":8080", "Origin", "http://" + evil + ":8080"}, // a name bound to loopback
	} {
		n++
		if a := t.nobody().do("POST", "/v1/auth/signup", object{"email": uuid() + "@example.org", "password": password}, headers...); !a.refused() {
			t.hole("JSON with %v: %s", headers, a)
		}
	}
	t.figure("%d requests", n)
}

// firstAccount tries to be the first on a fresh server, who administers it, from
// a page of another origin.
func firstAccount(t *trial) (*person, []string) {
	for i, headers := range [][]string{
		{"Content-Type", ""}, {"Content-Type", "text/plain"}, {"Content-Type", "application/json", "Host", evil},
	} {
		headers = append(headers, "Origin", "http://"+evil, "Sec-Fetch-Site", "cross-site")
		p := t.nobody()
		a := p.send(requestLimit, "POST", t.house.ready.HTTP+"/v1/auth/signup", fmt.Appendf(nil, `{"email":"first-%d@example.org","password":%q}`, i, password), headers...)
		if user, _ := a.data["user"].(object); a.ok() && user != nil {
			p.keep(a)
			return p, []string{fmt.Sprintf("the first account is made from another origin with %v, as %v", headers[:2], user["role"])}
		}
	}
	return nil, nil
}

func sameKey(t *trial) {
	mallory := t.signUp("mallory")
	key := uuid()
	turn := mallory.need("POST", "/v1/chat", object{"message": "hello", "stream": false}, "Idempotency-Key", key)
	tool := mallory.do("POST", "/v1/tools/run", object{"tool_id": "files.write_v1", "input": object{"path": "files/kept.md", "text": "kept"}}, "Idempotency-Key", key)
	written := strings.Contains(string(mallory.do("GET", "/v1/files", nil).raw), "kept.md")
	t.figure("the second: %d, written: %v", tool.status, written)
	if tool.err != nil || tool.status >= 500 || tool.ok() && (tool.text("run_id") == turn.text("run_id") || !written) {
		t.hole("the tool answers with the turn's result: %s", tool)
	}
	flow := mallory.do("POST", "/v1/workflows/run", object{"workflow_id": "default", "input": object{"message": "hello"}}, "Idempotency-Key", key)
	if flow.err != nil || flow.status >= 500 || flow.ok() && flow.text("run_id") == turn.text("run_id") {
		t.hole("the workflow answers with the turn's run: %s", flow)
	}
	made := mallory.do("POST", "/v1/conversations", object{"title": "x"}, "Idempotency-Key", key)
	if made.err != nil || made.status >= 500 {
		t.hole("a conversation under the same key: %s", made)
	}
	other := mallory.do("POST", "/v1/chat", object{"message": "something else", "stream": false}, "Idempotency-Key", key)
	if other.ok() {
		t.hole("another message under the same key: %s", other)
	}
}

func malformed(t *trial) {
	mallory := t.signUp("mallory")
	part := func(headers string) string { return "--x\r\n" + headers + "\r\n\r\nhello\r\n--x--\r\n" }
	named := func(name string) string {
		return part(`Content-Disposition: form-data; name="file"; filename="` + name + `"`)
	}
	n := 0
	for what, body := range map[string]string{
		"no colon":         part("Content-Disposition form-data"),
		"NUL in a header":  part("Content-Disposition: form-data; name=\"file\"; filename=\"a.md\"\x00: x"),
		"no end":           "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\nhello",
		"no blank line":    "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n--x--\r\n",
		"empty":            "",
		"only a boundary":  "--x--\r\n",
		"bare text":        "hello",
		"long header":      part("X-Long: " + strings.Repeat("x", 1<<16) + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\""),
		"many headers":     part(strings.Repeat("X-A: b\r\n", 20_000) + "Content-Disposition: form-data; name=\"file\"; filename=\"a.md\""),
		"NUL in the name":  named("a\x00b.md"),
		"quoted NUL":       named(`a\` + "\x00" + `b.md`),
		"name of NUL":      named("\x00"),
		"percent NUL":      named("a%00b.md"),
		"extended NUL":     part(`Content-Disposition: form-data; name="file"; filename*=UTF-8''a%00b.md`),
		"broken UTF-8":     named("a\xff\xfe.md"),
		"no name":          part(`Content-Disposition: form-data`),
		"two names":        part(`Content-Disposition: form-data; name="file"; name="context_id"; filename="a.md"`),
		"bad encoding":     part("Content-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\nContent-Transfer-Encoding: quoted-printable") + "=ZZ",
		"a line feed":      named("a\nb.md"),
		"folded":           part("Content-Disposition: form-data;\r\n name=\"file\"; filename=\"a.md\""),
		"context of NUL":   "--x\r\nContent-Disposition: form-data; name=\"context_id\"\r\n\r\n\x00\r\n" + named("a.md"),
		"chunk size of it": "--x\r\nContent-Disposition: form-data; name=\"chunk_size\"\r\n\r\n1e99\r\n" + named("a.md"),
	} {
		for _, kind := range []string{"multipart/form-data; boundary=x", `multipart/form-data; boundary="x"; charset=` + "bad"} {
			n++
			a := mallory.send(requestLimit, "POST", t.house.ready.HTTP+"/v1/files/upload", []byte(body), "Content-Type", kind)
			if a.err != nil || a.status >= 500 {
				t.hole("%s: %s", what, a)
			}
		}
	}
	for _, kind := range []string{"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=" + strings.Repeat("x", 100), "multipart/mixed; boundary=x", ";", "multipart/form-data; boundary=\"\x01\""} {
		n++
		if a := mallory.send(requestLimit, "POST", t.house.ready.HTTP+"/v1/files/upload", []byte(named("a.md")), "Content-Type", kind); a.err == nil && a.status >= 500 {
			t.hole("Content-Type %q: %s", kind, a)
		}
	}
	t.figure("%d uploads", n)
}

func signedLink(t *trial) {
	ada := t.signUp("ada")
	t.need(ada.upload("", "sesame.md", []byte("# sesame")))
	made := ada.need("POST", "/v1/files/link", object{"path": "files/sesame.md"})
	link := made.text("url")
	if u, err := url.Parse(link); err == nil {
		link = t.house.ready.HTTP + u.RequestURI()
	}
	n := t.nobody()
	if a := n.send(requestLimit, "GET", link, nil); !strings.Contains(string(a.raw), "sesame") {
		t.must(fmt.Errorf("the link does not work before: %s", a))
	}
	ada.need("POST", "/v1/auth/logout", object{"refresh_token": ada.again})
	if a := n.send(requestLimit, "GET", link, nil); !a.refused() {
		t.hole("after the logout the link answers %d", a.status)
	}
	if a := ada.do("GET", "/v1/auth/me", nil); a.status != 401 {
		t.hole("after the logout the token answers %d", a.status)
	}
}

func lookAlike(t *trial) {
	ada := t.signUp("ada")
	name, host, _ := strings.Cut(ada.email, "@")
	n := 0
	for _, email := range []string{
		ada.email + "\u200b", "\u200b" + ada.email, name + "\u200b@" + host, name + "@exam\u200bple.org", "\ufeff" + ada.email, name + "\u202e@" + host,
		strings.Replace(ada.email, "i", "ı", 1), "adaı@example.org", "аda@example.org", "ada\u00ad@example.org", "ada@exаmple.org", "ada\x00@example.org",
		"ada@example.org.", "ada@exam\nple.org", "ａｄａ@example.org", "ada@ｅxample.org", "ada\u2060@example.org", "ada@example\u3002org",
	} {
		n++
		if a := t.nobody().do("POST", "/v1/auth/signup", object{"email": email, "password": password}); !a.refused() {
			t.hole("%+q: %s", email, a)
		}
	}
	upper := t.nobody().do("POST", "/v1/auth/signup", object{"email": strings.ToUpper(ada.email), "password": password})
	if upper.ok() && upper.text("access_token") != "" {
		t.hole("the address in capitals is another account: %s", upper)
	}
	t.figure("%d addresses", n)
}

// lastCharacter changes what no byte of the signature comes from.
func lastCharacter(t *trial) {
	ada := t.signUp("ada")
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := ada.token[len(ada.token)-1]
	at := strings.IndexByte(alphabet, last)
	token := ada.token
	_, err := base64.RawURLEncoding.DecodeString(token[strings.LastIndexByte(token, '.')+1:])
	t.must(err)
	for i := range 4 {
		c := alphabet[at&^3|i]
		if c == last {
			continue
		}
		ada.token = token[:len(token)-1] + string(c)
		if a := ada.do("GET", "/v1/auth/me", nil); a.status != 401 {
			t.hole("%c for %c: %d", c, last, a.status)
		}
	}
	for _, more := range []string{"=", "A", ".", " ", "\u200b", "%"} {
		ada.token = token + more
		if a := ada.do("GET", "/v1/auth/me", nil); a.err == nil && a.status != 401 && more != " " {
			t.hole("with %q behind it: %d", more, a.status)
		}
	}
}
