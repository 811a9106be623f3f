package main

import (
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func heldAttacks() []attack {
	return []attack{
		{name: "walls", about: "every operation as another person, as another tenant's and as nobody", run: walls},
		{name: "tokens", about: "forged, altered and used tokens", run: tokens},
		{name: "uploads", about: "hostile documents and names", once: true, run: hostileUploads},
		{name: "payloads", about: "script in everything that is stored and given back", once: true, run: payloads},
		{name: "fetch", about: "addresses of the inside for the tool that reads pages", once: true, run: fetches},
		{name: "fetch-live", about: "the same by live redirects and names that change, in a network of its own", once: true, deployments: []string{onEmbedded}, run: fetchLive},
		{name: "races", about: "double answers, posts and sign-ups: one of them wins", run: races},
		{name: "guesses", about: "passwords guessed behind changing addresses of a header", run: guesses},
		{name: "browser", about: "what a page of another origin may do, and what is served to whoever asks", once: true, run: browser},
		{name: "fuzz", about: "requests of all operations, altered at random", once: true, run: fuzz},
		{name: "sockets", about: "half headers, slow bodies and idle connections", once: true, run: sockets},
	}
}

// uuid is an id of nothing.
func uuid() string {
	var b [16]byte
	_, _ = crand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// forge is a token of header and claims, signed with a key.
func forge(header, claims object, key []byte) string {
	part := func(v object) string {
		raw, _ := json.Marshal(v) // ours
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(header) + "." + part(claims)
	if key == nil {
		return text + "."
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func claimsOf(t *trial, token string) object {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.must(fmt.Errorf("the access token has %d parts", len(parts)))
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	t.must(err)
	var claims object
	t.must(json.Unmarshal(raw, &claims))
	return claims
}

func tokens(t *trial) {
	ada, bob := t.signUp("ada"), t.signUp("bob")
	own, theirs := claimsOf(t, ada.token), claimsOf(t, bob.token)
	parts := strings.Split(ada.token, ".")
	with := func(changes object) object {
		c := object{}
		for k, v := range own {
			c[k] = v
		}
		for k, v := range changes {
			c[k] = v
		}
		return c
	}
	now := float64(time.Now().Unix())
	hs := object{"alg": "HS256", "typ": "JWT"}
	forged := map[string]string{"empty parts": "..", "only dots": "....", "no signature": parts[0] + "." + parts[1] + ".", "two parts": parts[0] + "." + parts[1]}
	for _, alg := range []string{"none", "None", "NONE", "nOnE", ""} {
		forged["alg "+alg] = forge(object{"alg": alg, "typ": "JWT"}, own, nil)
		forged["alg "+alg+" with the signature"] = forge(object{"alg": alg, "typ": "JWT"}, own, nil) + parts[2]
	}
	for _, key := range []string{"", "secret", "liminal", "changeme", "\x00", strings.Repeat("\x00", 32)} {
		forged[fmt.Sprintf("key %q", key)] = forge(hs, own, []byte(key))
		forged[fmt.Sprintf("key %q as administrator", key)] = forge(hs, with(object{"role": "admin", "sub": t.house.admin.id}), []byte(key))
	}
	for _, kid := range []string{"../../../../dev/null", "/dev/null", "' UNION SELECT ''--", "0", "http://" + evil + "/jwks.json"} {
		forged["kid "+kid] = forge(object{"alg": "HS256", "typ": "JWT", "kid": kid}, own, []byte(""))
		forged["jku "+kid] = forge(object{"alg": "RS256", "jku": kid, "x5u": kid, "kid": kid}, own, []byte("x"))
	}
	for what, claims := range map[string]object{
		"another's sub": with(object{"sub": bob.id}), "another's sid": with(object{"sid": theirs["sid"]}), "later": with(object{"exp": now + 1e6}),
		"no exp": with(object{"exp": nil}), "admin": with(object{"role": "admin"}), "past": with(object{"exp": now - 10}), "list sub": with(object{"sub": []any{bob.id}}),
	} {
		raw, _ := json.Marshal(claims) // ours
		forged[what] = parts[0] + "." + base64.RawURLEncoding.EncodeToString(raw) + "." + parts[2]
	}
	for _, alg := range []string{"HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA"} {
		raw, _ := json.Marshal(object{"alg": alg, "typ": "JWT"}) // ours
		forged[alg] = base64.RawURLEncoding.EncodeToString(raw) + "." + parts[1] + "." + parts[2]
	}
	forged["the refresh token"], forged["the session"] = ada.again, ada.session
	n := t.nobody()
	for what, token := range forged {
		n.token = token
		if a := n.do("GET", "/v1/auth/me", nil); a.status != http.StatusUnauthorized {
			t.hole("%s: %s", what, a)
		}
	}
	n.token = ""
	for _, headers := range [][]string{
		{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(ada.email+":"+password))}, {"Authorization", ada.token}, {"X-Access-Token", ada.token},
		{"Cookie", "access_token=" + ada.token}, {"X-User-ID", ada.id}, {"X-Forwarded-User", ada.email}, {"X-Remote-User", ada.email}, {"session_id", ada.session},
	} {
		if a := n.do("GET", "/v1/auth/me", nil, headers...); a.status != http.StatusUnauthorized {
			t.hole("%s: %s", headers[0], a)
		}
	}
	if a := n.do("GET", "/v1/auth/me?access_token="+ada.token, nil); a.status != http.StatusUnauthorized {
		t.hole("a token in the address: %s", a)
	}
	reuse(t)
	t.figure("%d tokens", len(forged))
}

// reuse uses a refresh token twice, at once and with what is made up.
func reuse(t *trial) {
	ada := t.signUp("reuse")
	next := ada.need("POST", "/v1/auth/refresh", object{"refresh_token": ada.again})
	for range 3 {
		if a := ada.do("POST", "/v1/auth/refresh", object{"refresh_token": ada.again}); a.ok() {
			t.hole("a refresh token was taken twice")
		}
	}
	ada.again = next.text("refresh_token")
	var won atomic.Int32
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if ada.do("POST", "/v1/auth/refresh", object{"refresh_token": ada.again}).ok() {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() > 1 {
		t.hole("a refresh token was taken %d times at once", won.Load())
	}
	for _, token := range []string{ada.session + ".x", ada.session, "", ".", ada.again + "A", strings.ToLower(ada.again), ada.id + "." + strings.Repeat("A", 84)} {
		if a := t.nobody().do("POST", "/v1/auth/refresh", object{"refresh_token": token}); a.ok() || a.status >= 500 {
			t.hole("the refresh token %.20q: %s", token, a)
		}
	}
}

// payloads stores script wherever text is stored, and looks at how it comes
// back: as data, that no browser takes for a page.
func payloads(t *trial) {
	ada := t.signUp("ada")
	scripts := []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `javascript:alert(1)`, `<svg onload=alert(1)>`, `{{constructor.constructor('alert(1)')()}}`}
	paths := []string{"/v1/conversations", "/v1/contexts", "/v1/artifacts", "/v1/document-sets", "/v1/files", "/v1/documents", "/v1/auth/me", "/v1/auth/sessions", "/v1/settings", "/v1/runs"}
	for i, script := range scripts[:choose(t, 3, len(scripts))] {
		turn := ada.need("POST", "/v1/chat", object{"message": script, "stream": false})
		paths = append(paths, "/v1/conversations/"+turn.text("conversation_id")+"/messages", "/v1/runs/"+turn.text("run_id")+"/events", "/v1/runs/"+turn.text("run_id"))
		ada.do("POST", "/v1/contexts", object{"name": script, "description": script})
		ada.do("PATCH", "/v1/settings", object{"locale": script})
		ada.do("POST", "/v1/document-sets", object{"title": script, "document_ids": []string{}})
		ada.do("GET", "/v1/auth/me", nil, "User-Agent", script)
		up := ada.upload("", fmt.Sprintf("x%d %s.html", i, strings.NewReplacer("/", "", "\"", "").Replace(script)), []byte("<html><body>"+script))
		if up.err != nil || up.status >= 500 {
			t.hole("the upload of %s: %s", script, up)
		}
	}
	for _, name := range []string{"page.html", "picture.svg", "text.xhtml", "data.xml"} {
		if a := ada.upload("", name, []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`)); a.ok() {
			if file, _ := a.data["file"].(object); file != nil {
				path, _ := file["path"].(string)
				ada.download(t, path)
			}
		}
	}
	n := t.nobody()
	odd := url.PathEscape(scripts[0])
	for _, path := range append(paths, "/v1/"+odd, "/v1/conversations/"+odd, "/v1/auth/oauth/"+odd+"/callback?state="+odd+"&error="+odd, "/v1/auth/oauth/google/callback?error="+odd+"&state=x", "/v1/files/download?path="+odd, "/"+odd, "/assets/"+odd) {
		for _, who := range []*person{ada, n} {
			a := who.send(5*time.Second, "GET", t.house.ready.HTTP+path, nil, "Accept", "text/html,*/*")
			kind := a.header.Get("Content-Type")
			if a.err != nil { // a stream of a run goes on
				continue
			}
			if a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.hole("%s: a browser may guess its type", path)
			}
			if strings.HasPrefix(kind, "text/html") && (strings.Contains(string(a.raw), scripts[0]) || !strings.Contains(a.header.Get("Content-Security-Policy"), "script-src")) &&
				!strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.hole("%s is a page without a policy, or says our script", path)
			}
		}
	}
	t.figure("%d addresses", len(paths)+7)
}

// download looks at how a file of one's own comes back.
func (p *person) download(t *trial, path string) {
	made := p.do("POST", "/v1/files/link", object{"path": path})
	u, err := url.Parse(made.text("url"))
	if !made.ok() || err != nil {
		return
	}
	a := t.nobody().send(requestLimit, "GET", t.house.ready.HTTP+u.RequestURI(), nil)
	if !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") || a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.hole("%s is not downloaded but shown: %v", path, a.header)
	}
}

// fetches sends the tool that reads pages to the inside.
func fetches(t *trial) {
	mallory := t.signUp("mallory")
	var hits atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { hits.Add(1); w.WriteHeader(http.StatusOK) }))
	defer site.Close()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(site.URL, "http://"))
	hosts := []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "127.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0177.0.0.1", "017700000001", "0x7f.0.0.1", "127.0.0.1.",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1%25lo]", "169.254.169.254", "[fd00:ec2::254]",
		"１２７.０.０.１", "127。0。0。1", "x.localhost", "localhost.localdomain", "ip6-localhost", "127.0.0.1%00.example.org", "example.org@127.0.0.1", "127.0.0.1#@example.org", "localtest.me", "127.0.0.1.nip.io",
	}
	n := 0
	for _, host := range hosts[:choose(t, len(hosts), len(hosts))] {
		for _, address := range []string{"http://" + host + ":" + port + "/", "http://" + host + "/latest/meta-data"} {
			n++
			a := mallory.within(20*time.Second, "POST", "/v1/tools/run", object{"tool_id": "web.fetch_v1", "input": object{"url": address}})
			if a.ok() {
				t.hole("%s: %s", address, a)
			}
		}
	}
	for _, address := range []string{"file:///etc/passwd", "gopher://127.0.0.1:" + port + "/_x", "ftp://127.0.0.1/", "http:127.0.0.1:" + port, "http:///" + "127.0.0.1:" + port, "//127.0.0.1:" + port, "jar:" + site.URL + "!/", "view-source:" + site.URL, "unix:///var/run/docker.sock"} {
		n++
		if a := mallory.within(20*time.Second, "POST", "/v1/tools/run", object{"tool_id": "web.fetch_v1", "input": object{"url": address}}); a.ok() {
			t.hole("%s: %s", address, a)
		}
	}
	if hits.Load() > 0 {
		t.hole("a server of the inside was asked %d times", hits.Load())
	}
	t.figure("%d addresses", n)
}

func races(t *trial) {
	ada := t.signUp("ada")
	const many = 16
	count := func(do func(i int) answer) (good, bad int, seen map[string]bool) {
		answers := make([]answer, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() { answers[i] = do(i) })
		}
		all.Wait()
		seen = map[string]bool{}
		for _, a := range answers {
			if a.ok() {
				good++
				seen[a.text("run_id")] = true
			}
			if a.err != nil || a.status >= 500 {
				bad++
			}
		}
		return good, bad, seen
	}
	for round := range choose(t, 1, 4) {
		question, a := ask(ada, fmt.Sprintf("race%d", round), nil)
		if question == "" {
			t.must(fmt.Errorf("no question was asked: %s", a))
		}
		good, bad, _ := count(func(i int) answer {
			return ada.do("POST", "/v1/chat/resume", object{"interrupt_id": question, "resume_value": object{"type": "text_input", "value": fmt.Sprint(i)}})
		})
		if good != 1 || bad > 0 {
			t.hole("of %d answers at once %d were taken, %d without a clear answer", many, good, bad)
		}
		key := uuid()
		good, bad, runs := count(func(int) answer {
			return ada.do("POST", "/v1/chat", object{"message": "hello", "stream": false}, "Idempotency-Key", key)
		})
		if len(runs) > 1 || bad > 0 || good == 0 {
			t.hole("of %d equal posts came %d runs, %d without a clear answer", many, len(runs), bad)
		}
		email := fmt.Sprintf("race-%d-%s@example.org", round, uuid())
		nobodies := make([]*person, many)
		for i := range nobodies {
			nobodies[i] = t.nobody()
		}
		users := sync.Map{}
		_, bad, _ = count(func(i int) answer {
			a := nobodies[i].do("POST", "/v1/auth/signup", object{"email": email, "password": password})
			if user, _ := a.data["user"].(object); user != nil {
				users.Store(user["id"], true)
			}
			return a
		})
		accounts := 0
		users.Range(func(any, any) bool { accounts++; return true })
		if accounts > 1 || bad > 0 {
			t.hole("of %d sign-ups of one address came %d accounts, %d without a clear answer", many, accounts, bad)
		}
	}
}

// guesses tries passwords and says of every try that it comes from elsewhere.
func guesses(t *trial) {
	ada := t.signUp("ada")
	ways := map[string]func(i int) []string{
		"X-Forwarded-For": func(i int) []string { return []string{"X-Forwarded-For", fmt.Sprintf("203.0.113.%d", i)} },
		"X-Real-Ip":       func(i int) []string { return []string{"X-Real-Ip", fmt.Sprintf("203.0.113.%d", i)} },
		"Forwarded": func(i int) []string {
			return []string{"Forwarded", fmt.Sprintf("for=203.0.113.%d", i), "CF-Connecting-IP", fmt.Sprintf("203.0.113.%d", i), "True-Client-IP", fmt.Sprintf("203.0.113.%d", i)}
		},
		"letters": func(i int) []string { return []string{"X-Forwarded-For", fmt.Sprintf("2001:db8::%x", i)} },
	}
	if t.short {
		delete(ways, "X-Real-Ip")
		delete(ways, "Forwarded")
	}
	for what, headers := range ways {
		n, last := t.nobody(), 0
		victim := t.signUp("victim")
		for i := range 14 {
			email := victim.email
			if what == "letters" && i%2 == 0 {
				email = strings.ToUpper(email)
			}
			last = n.do("POST", "/v1/auth/login", object{"email": email, "password": fmt.Sprintf("wrong horse %d", i)}, headers(i+1)...).status
		}
		if last != http.StatusTooManyRequests {
			t.hole("%s: the fourteenth guess answers %d", what, last)
		}
	}
	if a := ada.do("GET", "/v1/auth/me", nil); !a.ok() {
		t.hole("somebody else is locked out: %s", a)
	}
}

// browser is what a page of another origin tries, and who asks for what is not theirs to see.
func browser(t *trial) {
	ada, n := t.signUp("ada"), t.nobody()
	from := []string{"Origin", "http://" + evil}
	for _, path := range []string{"/v1/auth/me", "/v1/chat", "/v1/auth/login", "/v1/config/ui", "/healthz", "/v1/openapi.json"} {
		for _, a := range []answer{
			ada.do("GET", path, nil, from...),
			n.do("OPTIONS", path, nil, append(from, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type")...),
			ada.do("GET", path, nil, "Origin", "null"),
		} {
			if allowed := a.header.Get("Access-Control-Allow-Origin"); allowed != "" {
				t.hole("%s lets %q read it", path, allowed)
			}
		}
	}
	login := n.do("POST", "/v1/auth/login", object{"email": ada.email, "password": password, "client": "web"})
	var cookies []string
	for _, c := range (&http.Response{Header: login.header}).Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
		if strings.Contains(c.Name, "refresh") && (!c.HttpOnly || c.SameSite < http.SameSiteLaxMode) {
			t.hole("the cookie %s is not for us alone: %v", c.Name, c)
		}
	}
	for _, headers := range [][]string{{"Origin", "http://" + evil}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "http://" + evil, "Sec-Fetch-Site", "cross-site"}} {
		headers = append(headers, "Cookie", strings.Join(cookies, "; "))
		if a := n.do("POST", "/v1/auth/refresh", object{}, headers...); a.ok() {
			t.hole("another origin refreshes by cookie with %v", headers[:2])
		}
		if a := n.do("GET", "/v1/auth/me", nil, headers...); a.ok() {
			t.hole("a cookie alone signs in with %v", headers[:2])
		}
	}
	socket := n.send(5*time.Second, "GET", t.house.ready.HTTP+"/v1/chat/stream", nil, "Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==", "Origin", "http://"+evil)
	if socket.err != nil || socket.status == http.StatusSwitchingProtocols {
		t.hole("a page of another origin opens a socket: %s", socket)
	}
	for _, path := range []string{
		"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/v1/debug", "/readyz", "/.env", "/.git/config", "/v1/../metrics", "//metrics", "/%2e%2e/metrics",
		"/assets/../../../etc/passwd", "/assets/..%2f..%2f..%2fetc/passwd", "/swagger", "/docs", "/v1/files/download/../../../etc/passwd",
	} {
		a := n.do("GET", path, nil)
		if body := string(a.raw); strings.Contains(body, "go_goroutines") || strings.Contains(body, "liminal_") || strings.Contains(body, "profile") && a.ok() || strings.Contains(body, "root:") {
			t.hole("%s is served to whoever asks: %s", path, a)
		}
	}
	if a := n.do("GET", "/metrics", nil, "Host", evil); strings.Contains(string(a.raw), "go_goroutines") { // a name bound to loopback
		t.hole("/metrics is served under another name: %s", a)
	}
	for _, p := range t.house.processes {
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/vars", "/v1/auth/me"} {
			if at := p.ready.Ops; at != "" {
				if !strings.HasPrefix(at, "http") {
					at = "http://" + at
				}
				if a := n.send(5*time.Second, "GET", at+path, nil); a.ok() {
					t.hole("the inside port of the %s serves %s", p.name, path)
				}
			}
		}
	}
	if a := n.do("GET", "/v1/auth/me", nil, "X-HTTP-Method-Override", "DELETE", "X-Original-URL", "/v1/users", "X-Rewrite-URL", "/v1/users"); a.status != http.StatusUnauthorized {
		t.hole("headers change what is asked for: %s", a)
	}
}

// sockets opens what takes a place and gives nothing, and asks beside it.
func sockets(t *trial) {
	ada := t.signUp("ada")
	at := strings.TrimPrefix(t.house.ready.HTTP, "http://")
	var conns []net.Conn
	defer func() {
		for _, c := range conns {
			_ = c.Close() // the test is over
		}
	}()
	begin := func(n int, say string) {
		for range n {
			c, err := net.DialTimeout("tcp", at, 2*time.Second)
			if err != nil {
				t.figure("no more than %d connections", len(conns))
				return
			}
			conns = append(conns, c)
			_, _ = c.Write([]byte(say)) // refused: as well
		}
	}
	scale := choose(t, 1, 5)
	begin(200*scale, "GET /v1/auth/me HTTP/1.1\r\nHost: x\r\nX-Slow")
	begin(60*scale, "POST /v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{\"email\":\"")
	begin(60*scale, "POST /v1/files/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+ada.token+"\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n--x\r\n")
	begin(100*scale, "GET /v1/chat/stream HTTP/1.1\r\nHost: "+at+"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
	var times []time.Duration
	for count := choose(t, 20, 100); len(times) < count; {
		began := time.Now()
		a := ada.do("GET", "/v1/auth/me", nil)
		if !a.ok() {
			t.hole("a request beside %d connections: %s", len(conns), a)
			return
		}
		if a.took > probeTime && t.measureAgain("a request", began) {
			continue
		}
		times = append(times, a.took)
	}
	slices.Sort(times)
	t.figure("%d connections; a request beside them takes %.1f ms, the slowest %.1f ms", len(conns), ms(times[len(times)/2]), ms(times[len(times)-1]))
	if times[len(times)/2] > 100*time.Millisecond || times[len(times)-1] > probeTime {
		t.hole("requests beside %d connections are slow", len(conns))
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
