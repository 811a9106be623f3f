package webaccess

import (
	"context"
	"net"
	"net/netip"
	"syscall"

	"liminal/internal/fault"
)

// closed are the networks of IPv4 that are not the public internet, and
// Azure's address of a machine's own host, which lies in a public one.
var closed = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
)

// global is where IPv6 hands out public addresses. Everything else is refused
// by that alone: loopback, mapped and NAT64 addresses, unique local and site
// local ones, link-local ones and multicast.
var global = netip.MustParsePrefix("2000::/3")

// hollow are the parts of global that stand for something else: Teredo and
// other protocols, documentation, 6to4.
var hollow = prefixes("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// public reports whether an address is one anybody on the internet could
// reach. An address that wraps one of IPv4 is not, whatever it wraps.
func public(a netip.Addr) bool {
	switch {
	case !a.IsValid() || a.Zone() != "":
		return false
	case a.Is4():
		return !within(closed, a)
	}
	return global.Contains(a) && !within(hollow, a) && !isISATAP(a)
}

func within(all []netip.Prefix, a netip.Addr) bool {
	for _, p := range all {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// isISATAP: the last half of such an address is an IPv4 address behind 5efe.
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return (b[8] == 0 || b[8] == 2) && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// control is asked by the dialer for every address it is about to connect to,
// after the look-up: what a name means at that moment is what is judged.
func (c *Client) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return refused(address)
	}
	a := target.Addr()
	if public(a) || c.options.AllowLoopback && a.Unmap().IsLoopback() {
		return nil
	}
	host, _, _ := net.SplitHostPort(address)
	return refused(host)
}

func refused(address string) error {
	return fault.New(fault.Forbidden, "The page was not read: its host leads to %s, which is not an address of the public internet.", address)
}
