// Package v4 stands in for the signer of AWS requests. See ../../../../README.md.
package v4

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

type (
	Signer        struct{}
	SignerOptions struct{}
)

func NewSigner(...func(*SignerOptions)) *Signer { return &Signer{} }

func (*Signer) SignHTTP(context.Context, aws.Credentials, *http.Request, string, string, string, time.Time, ...func(*SignerOptions)) error {
	return aws.ErrLeftOut
}
