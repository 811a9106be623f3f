// Package iterator stands in for what Google's clients list with. See
// ../../README.md.
package iterator

import "errors"

// Done says that a list has ended.
var Done = errors.New("no more items in iterator")
