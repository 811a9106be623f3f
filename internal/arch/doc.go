// Package arch holds the house rules as tests: which package may import which
// (the floors of the design), what pure packages must not touch, and where
// drivers, the environment and the Temporal server may be reached. It has no
// code of its own and imports the standard library only.
package arch
