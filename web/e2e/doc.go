// Package e2e tests the whole program in a browser: it starts liminald as people
// start it, on the embedded default and on the production lane, and plays the
// *.spec.ts files beside it in Chromium. Of the house it imports only what
// makes and finds the lane.
package e2e
