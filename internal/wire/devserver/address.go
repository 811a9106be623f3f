package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
)

// loopback is where the server's inner services listen: nobody but the server
// itself has business with them.
const loopback = "127.0.0.1"

// address is an IP address of this machine and a port on it.
type address struct {
	ip   netip.Addr
	port int
}

// addresses is where everything the embedded server starts will listen.
type addresses struct {
	frontend, ui              address
	history, matching, worker address
}

// String is the host:port to dial: an unspecified address is dialled on loopback.
func (a address) String() string {
	return net.JoinHostPort(a.dialIP(), a.portText())
}

func (a address) portText() string { return strconv.Itoa(a.port) }

func (a address) dialIP() string {
	switch {
	case !a.ip.IsUnspecified():
		return a.ip.String()
	case a.ip.Is6():
		return "::1"
	default:
		return loopback
	}
}

// addresses turns the options into ports that are free right now. They are all
// held open until the last one is found, so that none is chosen twice.
func (o Options) addresses(ctx context.Context) (addresses, error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // only ever listened, never used
		}
	}()
	var at addresses
	for _, want := range []struct {
		what, text string
		into       *address
	}{
		{"Temporal server", orDefault(o.Frontend, defaultFrontend), &at.frontend},
		{"Temporal web UI", orDefault(o.UI, defaultUI), &at.ui},
		{"Temporal history service", loopback + ":0", &at.history},
		{"Temporal matching service", loopback + ":0", &at.matching},
		{"Temporal worker service", loopback + ":0", &at.worker},
	} {
		l, err := listen(ctx, want.what, want.text)
		if err != nil {
			return addresses{}, err
		}
		held = append(held, l)
		bound := l.Addr().(*net.TCPAddr).AddrPort()
		*want.into = address{ip: bound.Addr().Unmap(), port: int(bound.Port())}
	}
	return at, nil
}

func listen(ctx context.Context, what, text string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(text); err != nil {
		return nil, fmt.Errorf("the address %q for the %s is not a host and a port, as in %s", text, what, defaultFrontend)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", text)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("the %s cannot listen on %s: the port is taken; stop what uses it or choose another port (0 finds a free one)", what, text)
	default:
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err
		}
		return nil, fmt.Errorf("the %s cannot listen on %s: %w", what, text, err)
	}
}

func orDefault(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
