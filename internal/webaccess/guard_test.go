package webaccess

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"liminal/internal/fault"
)

// Requirements: TOOL-06
func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "2a00:1450:4001:80b::200e": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "100.100.100.200": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.8.8.8": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.0.0.192": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.51.100.7": false,
		"203.0.113.9": false, "224.0.0.1": false, "239.255.255.250": false, "240.0.0.1": false, "255.255.255.255": false,
		"168.63.129.16": false, "172.32.0.1": true, "100.128.0.1": true, "11.0.0.1": true,
		"::": false, "::1": false, "::7f00:1": false, "::ffff:8.8.8.8": false, "::ffff:127.0.0.1": false, "64:ff9b::8.8.8.8": false,
		"64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:0:4136:e378::1": false, "2001:db8::1": false,
		"3fff::1": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1": false, "fec0::1": false, "ff02::1": false,
		"100::1": false, "5f00::1": false, "2606:4700::5efe:10.0.0.1": false, "2606:4700::200:5efe:a00:1": false, "2606:4700::1%eth0": false,
	} {
		if got := public(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func checked(t *testing.T, o Options, address string) error {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return c.check(u)
}

// Requirements: SAFE-05
func TestListsSayWhichHostsMayBeReached(t *testing.T) {
	t.Parallel()
	lists := Options{
		Allow: []string{"example.org", "*.wiki.org", "Bücher.de", "tools.org:8443", "*.ports.org:9000", "[2606:4700::1111]", " "},
		Deny:  []string{"bad.wiki.org", "*.worse.wiki.org"},
	}
	for address, want := range map[string]bool{
		"https://example.org/x": true, "https://EXAMPLE.org./": true, "https://www.example.org": false, "https://example.org.evil.com": false,
		"https://notexample.org": false, "https://de.wiki.org": true, "https://a.b.wiki.org": true, "https://wiki.org": false, "https://evilwiki.org": false,
		"https://bad.wiki.org": false, "https://x.bad.wiki.org": true, "https://x.worse.wiki.org": false, "https://worse.wiki.org": true,
		"https://xn--bcher-kva.de": true, "https://bücher.de": true, "https://tools.org:8443": true, "https://tools.org": false,
		"https://tools.org:8080": false, "https://a.ports.org:9000/": true, "https://a.ports.org/": false, "https://example.org:8443": false,
		"http://example.org:80": true, "http://example.org:443": true, "https://[2606:4700::1111]/": true, "https://[2606:4700::1001]/": false,
		"https://8.8.8.8/": false, "https://example.org:443": true,
	} {
		if err := checked(t, lists, address); (err == nil) != want || err != nil && fault.CodeOf(err) != fault.Forbidden {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"https://anything.org", "http://8.8.8.8:80/"} {
		if err := checked(t, Options{}, address); err != nil {
			t.Errorf("without lists, %s: %v", address, err)
		}
		if err := checked(t, Options{Allow: []string{"*"}, Deny: []string{"evil.org"}}, address); err != nil {
			t.Errorf("with all allowed, %s: %v", address, err)
		}
	}
	ports := Options{Allow: []string{"a.org:443", "b.org"}, Deny: []string{"b.org:80"}}
	for address, want := range map[string]bool{
		"https://a.org/": true, "https://a.org:443/": true, "http://a.org/": false, "https://b.org/": true, "http://b.org/": false, "http://b.org:80/": false,
	} {
		if err := checked(t, ports, address); (err == nil) != want {
			t.Errorf("with usual ports in the lists, %s: %v", address, err)
		}
	}
	if checked(t, Options{Deny: []string{"*"}}, "https://anything.org") == nil {
		t.Error("all hosts are denied, and one is not")
	}
}

// Requirements: TOOL-06, TOOL-07 (no address but HTTP)
func TestAddressesThatAreNoPagesAreRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"file:///etc/passwd", "ftp://example.org/", "gopher://example.org:70/_x", "data:text/html,x", "javascript:alert(1)", "//example.org/x", "example.org",
		"https://ann:secret@example.org/", "https://ann@example.org/", "https://", "http:///x", "http://example.org:22/", "http://example.org:6379/",
		"http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data", "http://[::ffff:169.254.169.254]/", "http://[64:ff9b::a9fe:a9fe]/",
		"http://[fe80::1%25eth0]/", "https://a b.org/", "http://127.1/", "http://0x7f.1/", "http://2130706433/", "http://0177.0.0.1/", "http://0/", "http://0x7F000001/",
		"http://１２７.０.０.１/", "http://127。0。0。1/", "http://localhost/", "http://LOCALHOST./", "http://x.localhost/", "http://example.org../", "http://.example.org/", "http://a..example.org/", "http://example.org:080/", "https://example.org/" + strings.Repeat("x", maxURL),
	} {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		c, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.check(u) == nil {
			t.Errorf("%.60s is accepted", address)
		}
	}
}

func TestAListThatCannotBeReadIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{"https://example.org", "example.org/path", "exa mple.org", "*.", "example.org:http", "example.org:0", "ex*mple.org", "a:99999", "user@host"} {
		if _, err := New(Options{Allow: []string{entry}}); err == nil {
			t.Errorf("%q is accepted", entry)
		}
	}
	if _, err := New(Options{Proxy: "nowhere"}); err == nil {
		t.Error("a proxy that is no URL is accepted")
	}
}
