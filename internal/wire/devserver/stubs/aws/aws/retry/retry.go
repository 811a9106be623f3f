// Package retry stands in for the retries of the AWS SDK. See ../../../README.md.
package retry

type Standard struct{}

func NewStandard(...func(*Standard)) *Standard { return &Standard{} }

// IsErrorRetryable is never true: what is left out stays away.
func (*Standard) IsErrorRetryable(error) bool { return false }
