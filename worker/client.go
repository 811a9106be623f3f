package worker

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

// Dial connects to a Temporal frontend with ClientOptions.
func Dial(ctx context.Context, address, namespace string, log *slog.Logger) (client.Client, error) {
	c, err := client.DialContext(ctx, ClientOptions(address, namespace, log))
	if err != nil {
		return nil, fmt.Errorf("the Temporal server at %s does not answer; check TEMPORAL_ADDRESS: %w", address, err)
	}
	return c, nil
}

// ClientOptions are how a platform connects to a Temporal frontend. On this
// machine messages are not compressed: it costs more than it saves.
func ClientOptions(address, namespace string, log *slog.Logger) client.Options {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	o := client.Options{HostPort: address, Namespace: namespace, Logger: sdklog.NewStructuredLogger(log)}
	if onThisMachine(address) {
		o.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	return o
}

func onThisMachine(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
