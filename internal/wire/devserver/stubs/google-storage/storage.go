// Package storage stands in for the client of Google Cloud Storage, which the
// embedded Temporal server would use only to archive. See ../README.md.
package storage

import (
	"context"
	"errors"

	"google.golang.org/api/iterator"
	"google.golang.org/api/option"
)

// ScopeFullControl is the scope of the credentials that an archive needs.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

// ErrLeftOut is what everything here returns.
var ErrLeftOut = errors.New("archiving to Google Cloud Storage is left out of this Temporal server: run one of your own for it")

type (
	Client         struct{}
	BucketHandle   struct{}
	ObjectHandle   struct{}
	ObjectIterator struct{}
	Writer         struct{}
	Reader         struct{}
	Query          struct{ Prefix string }
	BucketAttrs    struct{}
	ObjectAttrs    struct{ Name string }
)

func NewClient(context.Context, ...option.ClientOption) (*Client, error) { return nil, ErrLeftOut }

func (*Client) Bucket(string) *BucketHandle { return &BucketHandle{} }

func (*BucketHandle) Object(string) *ObjectHandle                     { return &ObjectHandle{} }
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return &ObjectIterator{} }
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error)     { return nil, ErrLeftOut }

func (*ObjectHandle) NewWriter(context.Context) *Writer           { return &Writer{} }
func (*ObjectHandle) NewReader(context.Context) (*Reader, error)  { return nil, ErrLeftOut }
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error) { return nil, ErrLeftOut }

// Next ends at once: the server asks on after any other error, without end.
func (*ObjectIterator) Next() (*ObjectAttrs, error) { return nil, iterator.Done }

func (*Writer) Write([]byte) (int, error)  { return 0, ErrLeftOut }
func (*Writer) Close() error               { return ErrLeftOut }
func (*Writer) CloseWithError(error) error { return ErrLeftOut }

func (*Reader) Read([]byte) (int, error) { return 0, ErrLeftOut }
func (*Reader) Close() error             { return nil }
