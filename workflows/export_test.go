package workflows

// Failure is an activity's error as the machine takes it, for the tests.
var Failure = failure
