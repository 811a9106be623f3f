package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/worker"

	"liminal/worker"
	"liminal/workflows"
)

func replayCommand() command {
	return command{
		name:    "replay",
		takes:   "FILE…",
		summary: "check that this program understands recorded runs",
		about: `
Replays the histories of runs against the workflows of this program. A run
that is under way goes on after an upgrade only if its history replays; so
download the histories of yours (in the Temporal UI, or with
"temporal workflow show --output json"), and replay them with the new program
before you start it. Histories that were encrypted need the same
LIMINAL_PAYLOAD_KEYS.

Nothing is executed and no server is needed.`,
		examples: []string{
			"liminald replay history.json",
			"liminald replay workflows/testdata/histories/*.json",
		},
		flags: jsonFlag,
		run:   runReplay,
	}
}

// replayed is what became of one history.
type replayed struct {
	File  string `json:"file"`
	OK    bool   `json:"ok"`
	Fault string `json:"fault,omitempty"`
}

func runReplay(_ context.Context, in *invocation) error {
	if len(in.args) == 0 {
		return usageError{fmt.Errorf("name at least one FILE to replay")}
	}
	conf, err := in.config()
	if err != nil {
		return err
	}
	codec, err := worker.NewCodec(conf.Temporal.PayloadKeys, nil)
	if err != nil {
		return usageError{fmt.Errorf("LIMINAL_PAYLOAD_KEYS: %w", err)}
	}
	found := make([]replayed, len(in.args))
	failed := false
	for i, file := range in.args {
		found[i] = replayed{File: file, OK: true}
		if err := replayFile(file, codec); err != nil {
			failed = true
			found[i] = replayed{File: file, Fault: sentence(err)}
		}
	}
	err = writeReplayed(in.out, *in.own.(*bool), found)
	if err == nil && failed {
		err = toldError{exitFailed}
	}
	return err
}

func replayFile(file string, codec converter.PayloadCodec) error {
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("the file cannot be read: %w", plain(err))
	}
	r, err := sdk.NewWorkflowReplayerWithOptions(sdk.WorkflowReplayerOptions{
		DisableDeadlockDetection: true,
		DataConverter:            converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec),
	})
	if err != nil {
		return err
	}
	workflows.New(workflows.Options{}).Register(r)
	return r.ReplayWorkflowHistoryFromJSONFile(silent{}, file)
}

func writeReplayed(w io.Writer, asJSON bool, found []replayed) error {
	if asJSON {
		return writeJSON(w, found)
	}
	var b strings.Builder
	for _, r := range found {
		if r.OK {
			fmt.Fprintf(&b, "%s: ok\n", r.File)
		} else {
			fmt.Fprintf(&b, "%s: does not replay\n  %s\n", r.File, strings.ReplaceAll(r.Fault, "\n", "\n  "))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// silent is a Temporal logger that says nothing: our sentence does.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
