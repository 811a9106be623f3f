// Package ringpop stands in for the ring by which the members of a cluster of
// Temporal servers find each other. A server with static hosts, as ours is, has
// no ring. See ../README.md.
package ringpop

import (
	"errors"

	"github.com/temporalio/ringpop-go/events"
	"github.com/temporalio/ringpop-go/swim"
	"github.com/temporalio/tchannel-go"
)

// ErrEphemeralAddress says that nothing listens yet.
var ErrEphemeralAddress = errors.New("unable to resolve this node's address from channel that is not yet listening")

type (
	Ringpop         struct{}
	Option          func(*Ringpop) error
	AddressResolver func() (string, error)
)

func New(string, ...Option) (*Ringpop, error) { return nil, tchannel.ErrLeftOut }

func Channel(*tchannel.Channel) Option           { return nothing }
func AddressResolverFunc(AddressResolver) Option { return nothing }

func nothing(*Ringpop) error { return nil }

func (*Ringpop) Bootstrap(*swim.BootstrapOptions) ([]string, error) {
	return nil, tchannel.ErrLeftOut
}

func (*Ringpop) Destroy()                                 {}
func (*Ringpop) SelfEvict() error                         { return tchannel.ErrLeftOut }
func (*Ringpop) Labels() (*swim.NodeLabels, error)        { return nil, tchannel.ErrLeftOut }
func (*Ringpop) AddListener(events.EventListener) bool    { return false }
func (*Ringpop) RemoveListener(events.EventListener) bool { return false }

func (*Ringpop) GetReachableMembers(...swim.MemberPredicate) ([]string, error) {
	return nil, tchannel.ErrLeftOut
}

func (*Ringpop) GetReachableMemberObjects(...swim.MemberPredicate) ([]swim.Member, error) {
	return nil, tchannel.ErrLeftOut
}
