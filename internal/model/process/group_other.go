//go:build !unix

package process

import "os/exec"

// apart leaves a program as it is: there are no groups of processes here, and what
// it starts ends by itself.
func apart(*exec.Cmd) {}
