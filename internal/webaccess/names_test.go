package webaccess_test

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// names is a DNS server of its own: each look-up of a name takes the next of
// its answers, and the last one over and over.
type names struct {
	mu      sync.Mutex
	answers map[string][]string // by name; each a list of addresses, divided by spaces
	asked   map[string]int
}

// resolver starts the server and gives what asks it.
func resolver(t *testing.T, answers map[string][]string) (*net.Resolver, *names) {
	t.Helper()
	n := &names{answers: answers, asked: map[string]int{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); n.serve(conn) }()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	at := conn.LocalAddr().String()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", at)
	}}, n
}

func (n *names) serve(conn net.PacketConn) {
	room := make([]byte, 1500)
	for {
		size, from, err := conn.ReadFrom(room)
		if err != nil {
			return
		}
		if reply, ok := n.reply(room[:size]); ok {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (n *names) reply(raw []byte) ([]byte, bool) {
	var m dnsmessage.Message
	if m.Unpack(raw) != nil || len(m.Questions) != 1 {
		return nil, false
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	addresses, known := n.next(strings.TrimSuffix(q.Name.String(), "."), q.Type)
	if !known {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		h := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 0}
		switch {
		case a.Is4() && q.Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && q.Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	out, err := m.Pack()
	return out, err == nil
}

// next is the answer to a look-up. A and AAAA are one look-up: A counts.
func (n *names) next(name string, kind dnsmessage.Type) (out []netip.Addr, known bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, known := n.answers[name]
	if !known {
		return nil, false
	}
	at := min(n.asked[name], len(all)-1)
	if kind == dnsmessage.TypeA {
		n.asked[name]++
	}
	for a := range strings.FieldsSeq(all[at]) {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, true
}
