package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// Proxy is a load balancer of connections: each goes to the next server that
// takes it, bytes pass as they come, and when a server dies its clients'
// connections end with it.
type Proxy struct {
	listener net.Listener
	backends []string

	mu   sync.Mutex
	next int
}

func newProxy(ctx context.Context, backends ...string) (*Proxy, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, backends: backends}
	go p.serve(ctx)
	return p, nil
}

func (p *Proxy) url() string { return "http://" + p.listener.Addr().String() }

func (p *Proxy) serve(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.pass(ctx, client)
	}
}

// pass connects a client to the first living server, beginning with the next.
func (p *Proxy) pass(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	server, err := p.dial(ctx)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	done := make(chan struct{}, 2)
	relay := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // either side may go at any time
		done <- struct{}{}
	}
	go relay(server, client)
	go relay(client, server)
	<-done
}

func (p *Proxy) dial(ctx context.Context) (net.Conn, error) {
	p.mu.Lock()
	p.next++
	first := p.next
	p.mu.Unlock()
	dialer := net.Dialer{Timeout: time.Second}
	errs := make([]error, 0, len(p.backends))
	for i := range p.backends {
		server, err := dialer.DialContext(ctx, "tcp", p.backends[(first+i)%len(p.backends)])
		if err == nil {
			return server, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (p *Proxy) close() error { return p.listener.Close() }

// freePort is a port nobody listens on.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
