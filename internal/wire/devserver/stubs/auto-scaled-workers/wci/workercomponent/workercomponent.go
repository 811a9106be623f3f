// Package workercomponent stands in for the workflows that scale workers: there
// are none. See ../../../README.md.
package workercomponent

import "go.uber.org/fx"

// Module adds nothing to the engine.
var Module = fx.Options()
