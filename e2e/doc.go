// Package e2e drives the real program from outside, as its users do: a built
// liminald in a folder of its own, HTTP, event streams, and kill -9.
//
// It imports the standard library only: what it knows of Liminal is its API.
package e2e
