package webaccess

import (
	"context"
	"net"
	"net/netip"
	"syscall"

	"liminal/internal/fault"
)

// nobodys are addresses at which no server of an administrator's is: those a
// machine of a cloud asks about itself, what means no host or many of them, and
// IPv6 that stands for an address of IPv4, which is judged nowhere else.
var nobodys = prefixes(
	"0.0.0.0/8", "100.100.100.200/32", "168.63.129.16/32", "169.254.0.0/16", "192.0.0.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/128", "64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "fd00:ec2::/32", "fd20:ce::/32", "fe80::/10", "fec0::/10", "ff00::/8",
)

// DialServer is for the dialer of what an administrator names as a server, such
// as that of a model: net.Dialer's ControlContext. Unlike the web's, such a
// server may be on this machine or inside the network; what hands out the
// credentials of a machine is refused like everywhere. It is asked for every
// address after the look-up, so that a name that leads elsewhere later is judged
// then.
func DialServer(_ context.Context, _, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	a, err := netip.ParseAddr(host)
	if err != nil || !Servable(a) {
		return fault.New(fault.Forbidden, "The server's name leads to %s, which is no address a server of yours can have.", host)
	}
	return nil
}

// Servable reports whether DialServer lets an address pass.
func Servable(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsValid() && a.Zone() == "" && !within(nobodys, a) && !(a.Is6() && isISATAP(a))
}
