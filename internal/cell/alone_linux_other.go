//go:build linux && !amd64 && !arm64

package cell

func alone() error { return nil }

// filtersCalls says that alone has a filter of system calls to set.
const filtersCalls = false
