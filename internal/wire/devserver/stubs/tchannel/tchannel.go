// Package tchannel stands in for what members of a cluster of Temporal servers
// talk over. A server with static hosts, as ours is, has no such members. See
// ../README.md.
package tchannel

import (
	"context"
	"errors"
	"net"
)

// ErrLeftOut is what everything here, and in the ring above it, returns.
var ErrLeftOut = errors.New("a ring of several servers is left out of this Temporal server: run a cluster of your own for it")

type (
	Channel        struct{}
	ChannelOptions struct {
		Dialer func(ctx context.Context, network, at string) (net.Conn, error)
	}
	PeerInfo      struct{ HostPort string }
	LocalPeerInfo struct{ PeerInfo }
)

func NewChannel(string, *ChannelOptions) (*Channel, error) { return nil, ErrLeftOut }

func (*Channel) Serve(net.Listener) error    { return ErrLeftOut }
func (*Channel) ListenAndServe(string) error { return ErrLeftOut }
func (*Channel) PeerInfo() LocalPeerInfo     { return LocalPeerInfo{} }
func (*Channel) Close()                      {}
func (PeerInfo) IsEphemeralHostPort() bool   { return true }
