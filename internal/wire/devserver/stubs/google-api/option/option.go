// Package option stands in for the options of Google's clients. See
// ../../README.md.
package option

import "golang.org/x/oauth2"

type ClientOption struct{}

func WithTokenSource(oauth2.TokenSource) ClientOption { return ClientOption{} }
