// Package e2e drives the real program from outside, as its users do: a built
// liminald in a folder of its own, HTTP, event streams, and kill -9.
//
// What it knows of Liminal is its API, and where a program finds its servers.
package e2e
