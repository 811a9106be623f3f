package webaccess

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"liminal/internal/fault"
)

func TestServersOfAdministratorsAreAnywhereButAtMetadata(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "127.0.0.1": true, "10.1.2.3": true, "192.168.1.1": true, "172.16.0.1": true, "100.64.0.1": true, "::1": true, "fd12:3456::1": true,
		"2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "::ffff:10.0.0.1": true,
		"169.254.169.254": false, "169.254.170.2": false, "::ffff:169.254.169.254": false, "64:ff9b::a9fe:a9fe": false, "2002:a9fe:a9fe::": false,
		"fd00:ec2::254": false, "fd20:ce::254": false, "100.100.100.200": false, "168.63.129.16": false, "192.0.0.192": false,
		"0.0.0.0": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "224.0.0.1": false, "ff02::1": false, "255.255.255.255": false,
		"2606:4700::5efe:a9fe:a9fe": false,
	} {
		if got := Servable(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	dialer := net.Dialer{ControlContext: DialServer}
	_, err := dialer.DialContext(t.Context(), "tcp", "169.254.169.254:80")
	if err == nil || !strings.Contains(err.Error(), "169.254.169.254") || fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("dialled metadata: %v", err)
	}
}
