// Package types stands in for what S3 answers with. See ../../README.md.
package types

type (
	CommonPrefix struct{ Prefix *string }
	Object       struct{ Key *string }

	NoSuchBucket struct{}
	NoSuchKey    struct{}
)

func (*NoSuchBucket) Error() string { return "NoSuchBucket" }
func (*NoSuchKey) Error() string    { return "NoSuchKey" }
