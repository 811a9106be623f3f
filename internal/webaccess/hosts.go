package webaccess

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"liminal/internal/fault"
)

// hosts are the lists of a client.
type hosts struct{ allow, deny []pattern }

// pattern names hosts: one, or all below it.
type pattern struct {
	host string // "" means all
	wild bool   // hosts below host, not host itself
	port string // "" means the usual ones
}

func readHosts(allow, deny []string) (h hosts, err error) {
	if h.allow, err = patterns(allow); err != nil {
		return hosts{}, err
	}
	h.deny, err = patterns(deny)
	return h, err
}

func patterns(entries []string) ([]pattern, error) {
	var out []pattern
	for _, entry := range entries {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		p, err := readPattern(entry)
		if err != nil {
			return nil, fmt.Errorf("the entry %q of a list of web hosts is none of host, *.host, *, each with :port or without", entry)
		}
		out = append(out, p)
	}
	return out, nil
}

func readPattern(entry string) (p pattern, err error) {
	host := strings.ToLower(strings.TrimSpace(entry))
	if strings.Contains(host, "]:") || strings.Count(host, ":") == 1 {
		if host, p.port, err = net.SplitHostPort(host); err != nil {
			return p, err
		}
		if n, err := strconv.ParseUint(p.port, 10, 16); err != nil || n == 0 {
			return p, strconv.ErrRange
		}
	}
	if host == "*" {
		return p, nil
	}
	host, p.wild = strings.CutPrefix(host, "*.")
	p.host, err = hostname(strings.Trim(host, "[]"))
	if err == nil && p.host == "" {
		err = strconv.ErrSyntax
	}
	return p, err
}

// hostname is a host as it is compared: ASCII, lower case, no last full stop.
func hostname(host string) (string, error) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String(), nil
	}
	if strings.ContainsAny(host, " \t\r\n/\\?#@*%") {
		return "", strconv.ErrSyntax
	}
	host, err := idna.Lookup.ToASCII(host)
	if err == nil && (slices.Contains(strings.Split(host, "."), "") || numeric(host)) {
		err = strconv.ErrSyntax
	}
	return host, err
}

// numeric: some resolvers, and proxies, take such a host for an address of
// IPv4 in one of its old forms: 127.1, 0x7f.1, 2130706433.
func numeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	return err == nil || last != "" && strings.Trim(last, "0123456789") == ""
}

func (p pattern) matches(host string) bool {
	switch {
	case p.host == "":
		return true
	case p.wild:
		return strings.HasSuffix(host, "."+p.host)
	}
	return host == p.host
}

// check refuses a URL that must not be asked for, before anything is looked
// up.
func (c *Client) check(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fault.New(fault.Invalid, "Only http and https pages can be read, not %s.", named(u.Scheme))
	case u.User != nil:
		return fault.New(fault.Invalid, "The address of the page holds a user name or password; leave them out.")
	case len(u.String()) > maxURL:
		return fault.New(fault.Invalid, "The address of the page is longer than %d characters.", maxURL)
	}
	host, err := hostname(u.Hostname())
	if err != nil || host == "" {
		return fault.New(fault.Invalid, "The address of the page has no host that can be read.")
	}
	address, err := netip.ParseAddr(host)
	literal := err == nil
	own := c.options.AllowLoopback && literal && address.IsLoopback()
	if own && c.hosts.empty() {
		return nil
	}
	if literal && !own && !public(address) {
		return refused(host)
	}
	if !c.options.AllowLoopback && (host == "localhost" || strings.HasSuffix(host, ".localhost")) {
		return refused(host) // whoever looks it up, a proxy too
	}
	return c.hosts.check(host, portOf(u))
}

// portOf is the port of a URL, also when it does not say it: a list that names
// port 443 means https.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func (h hosts) empty() bool { return len(h.allow)+len(h.deny) == 0 }

func named(scheme string) string {
	if scheme == "" {
		return "an address without a scheme"
	}
	return scheme
}

func (h hosts) check(host, port string) error {
	is := func(p pattern) bool { return p.matches(host) && (p.port == "" || p.port == port) }
	if slices.ContainsFunc(h.deny, is) {
		return fault.New(fault.Forbidden, "The page was not read: whoever runs this server has closed the host %s.", host)
	}
	usual := port == "80" || port == "443"
	if len(h.allow) == 0 && usual {
		return nil
	}
	open := slices.ContainsFunc(h.allow, func(p pattern) bool {
		return p.matches(host) && (p.port == port || p.port == "" && usual)
	})
	switch {
	case open:
		return nil
	case !usual && (len(h.allow) == 0 || slices.ContainsFunc(h.allow, func(p pattern) bool { return p.matches(host) })):
		return fault.New(fault.Forbidden, "The page was not read: port %s is not open; pages are read from ports 80 and 443.", port)
	}
	return fault.New(fault.Forbidden, "The page was not read: the host %s is not among those this server may reach.", host)
}
