// Package e2e tests the whole program in a browser: it starts liminald as people
// start it, on the embedded default and on a production deployment, and plays
// the *.spec.ts files beside it in Chromium. Of the house it imports only what
// makes and finds the test stack.
package e2e
