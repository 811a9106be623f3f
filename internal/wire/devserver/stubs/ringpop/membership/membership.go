// Package membership stands in for the members of a ring. See ../../README.md.
package membership

type (
	Member interface {
		GetAddress() string
		Label(key string) (value string, has bool)
		Identity() string
	}

	ChangeEvent struct{}
)
