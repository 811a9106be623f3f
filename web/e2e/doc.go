// Package e2e tests the whole program in a browser: TestBrowser starts
// liminald as people start it and plays the *.spec.ts files beside it in
// Chromium. It imports the standard library only.
package e2e
