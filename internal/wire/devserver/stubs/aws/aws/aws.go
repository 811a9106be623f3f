// Package aws stands in for the core of the AWS SDK, which the embedded Temporal
// server would use to archive to S3 and to sign requests to an Elasticsearch of
// AWS. See ../../README.md.
package aws

import (
	"context"
	"errors"
)

// ErrLeftOut is what everything here, and in the packages above, returns.
var ErrLeftOut = errors.New("AWS is left out of this Temporal server: run one of your own for S3 archives or an Elasticsearch of AWS")

type (
	Config struct {
		Region      string
		Credentials CredentialsProvider
	}

	Credentials struct{ AccessKeyID, SecretAccessKey, SessionToken string }

	CredentialsProvider interface {
		Retrieve(context.Context) (Credentials, error)
	}

	ClientLogMode uint64

	Retryer interface{ IsErrorRetryable(error) bool }
)

func String(v string) *string { return &v }
func Int32(v int32) *int32    { return &v }
