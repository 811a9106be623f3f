package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listenHTTP takes the port of the API or says why it cannot be had.
func listenHTTP(ctx context.Context, address string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %s is taken; stop what uses it or choose another with --listen (port 0 finds a free one)", address)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, fmt.Errorf("the API cannot listen on %s: %w", address, err)
}
