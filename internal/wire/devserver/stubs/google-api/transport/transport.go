// Package transport is empty: only `go mod tidy` looks for it, because tests of
// Anthropic's SDK, which nobody runs here, import it. See ../../README.md.
package transport
