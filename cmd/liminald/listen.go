package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listenHTTP takes a port or says why it cannot be had, and which setting
// names another.
func listenHTTP(ctx context.Context, address, setting string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err == nil {
		return l, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %s is taken; stop what uses it or choose another with %s (port 0 finds a free one)", address, setting)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return nil, fmt.Errorf("%s cannot be listened on: %w", address, err)
}
