//go:build !amd64

package kernels

// best is the best level of this machine: assembly is written for amd64 only.
func best() Level { return Plain }

func tilesOf(Level) *tiles { return nil }
