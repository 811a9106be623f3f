// Package swim stands in for how the members of a ring keep in touch. See
// ../../README.md.
package swim

import (
	"time"

	"github.com/temporalio/tchannel-go"
)

type (
	BootstrapOptions struct {
		ParallelismFactor, JoinSize int
		MaxJoinDuration             time.Duration
		DiscoverProvider            any
	}

	Member struct {
		Address string
		Labels  map[string]string
	}

	MemberPredicate func(Member) bool

	NodeLabels struct{}
)

func MemberWithLabelAndValue(key, value string) MemberPredicate {
	return func(m Member) bool { return m.Labels[key] == value }
}

func (m Member) Label(key string) (value string, has bool) {
	value, has = m.Labels[key]
	return value, has
}

func (*NodeLabels) Set(string, string) error    { return tchannel.ErrLeftOut }
func (*NodeLabels) Remove(string) (bool, error) { return false, tchannel.ErrLeftOut }
