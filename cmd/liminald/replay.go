package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/worker"

	"liminal/internal/config"
	"liminal/worker"
	"liminal/workflows"
)

func replayCommand() command {
	return command{
		name:    "replay",
		takes:   "[FILE…]",
		summary: "check that this program understands recorded runs",
		about: `
Replays the histories of runs against the workflows of this program. A run
that is under way goes on after an upgrade only if its history replays; so do
this with the new program before it takes the place of the old one.

With --since the histories come from the installation itself, while the old
program runs it: those of every run that is under way, and of those that began
within the time. TEMPORAL_ADDRESS, DATABASE_URL or --data, and
LIMINAL_PAYLOAD_KEYS are those of the installation. It only reads.

Runs of which nothing is kept are skipped.

A FILE is a history that was downloaded (in the Temporal UI, or with
"temporal workflow show --output json"); then no server is needed.`,
		examples: []string{
			"./liminald-new replay --since 7d",
			"liminald replay history.json",
			"liminald replay workflows/testdata/histories/*.json",
		},
		settings: []string{"data"},
		flags:    replayFlags,
		run:      runReplay,
	}
}

type replayOptions struct {
	since string
	most  int
	json  bool
}

func replayFlags(fs *flag.FlagSet) any {
	o := &replayOptions{}
	fs.StringVar(&o.since, "since", "", "replay the installation's runs of this time, as 7d or 12h, and all that are under way")
	fs.IntVar(&o.most, "most", 10_000, "replay at most so many runs, the newest first")
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	return o
}

// replayed is what became of one history.
type replayed struct {
	File string `json:"file,omitempty"`
	Run  string `json:"run,omitempty"` // workflow id
	Type string `json:"type,omitempty"`
	OK   bool   `json:"ok"`
	// Skipped says why it was not replayed, which is no fault of it.
	Skipped string `json:"skipped,omitempty"`
	Fault   string `json:"fault,omitempty"`
}

// nothingKept is why the histories of some runs are not replayed.
const nothingKept = "nothing is kept of this run, so its history cannot be read; while it is under way only the program that runs it has its key"

func (r replayed) name() string {
	if r.File != "" {
		return r.File
	}
	return r.Type + " " + r.Run
}

func runReplay(ctx context.Context, in *invocation) error {
	o := in.own.(*replayOptions)
	if (len(in.args) == 0) == (o.since == "") {
		return usageError{errors.New("name at least one FILE to replay, or a time with --since")}
	}
	conf, err := in.config()
	if err != nil {
		return err
	}
	var found []replayed
	if o.since != "" {
		found, err = o.installation(ctx, in, conf)
	} else {
		found, err = replayFiles(in.args, conf)
	}
	if err != nil {
		return err
	}
	if o.json {
		err = writeJSON(in.out, found)
	} else {
		err = writeReplayed(in.out, found, o.since == "")
	}
	if err == nil && slices.ContainsFunc(found, func(r replayed) bool { return !r.OK }) {
		err = shownError{exitFailed}
	}
	return err
}

func replayFiles(files []string, conf config.Config) ([]replayed, error) {
	codec, err := worker.NewCodec(conf.Temporal.PayloadKeys, nil)
	if err != nil {
		return nil, usageError{fmt.Errorf("LIMINAL_PAYLOAD_KEYS: %w", err)}
	}
	found := make([]replayed, len(files))
	for i, file := range files {
		found[i] = replayed{File: file, OK: true}
		if unkeptFile(file) {
			found[i].Skipped = nothingKept
			continue
		}
		if err := replayFile(file, codec); err != nil {
			found[i] = replayed{File: file, Fault: sentence(err)}
		}
	}
	return found, nil
}

// unkeptFile reports whether a file is the history of a run of which nothing is
// kept. What is wrong with a file, its replay says.
func unkeptFile(file string) bool {
	f, err := os.Open(file) //nolint:gosec // the file that was named
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	h, err := client.HistoryFromJSON(f, client.HistoryJSONOptions{})
	return err == nil && worker.KeepsNothing(h)
}

func replayFile(file string, codec converter.PayloadCodec) error {
	if _, err := os.Stat(file); err != nil {
		return fmt.Errorf("the file cannot be read: %w", withoutPath(err))
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

// writeReplayed tells of every history, or, of an installation's many, of those
// that do not replay and how many do.
func writeReplayed(w io.Writer, found []replayed, each bool) error {
	var b strings.Builder
	fine, skipped := 0, 0
	for _, r := range found {
		switch {
		case !r.OK:
			fmt.Fprintf(&b, "%s: does not replay\n  %s\n", r.name(), strings.ReplaceAll(r.Fault, "\n", "\n  "))
		case each && r.Skipped != "":
			fmt.Fprintf(&b, "%s: skipped\n  %s\n", r.name(), r.Skipped)
		case r.Skipped != "":
			skipped++
		case each:
			fmt.Fprintf(&b, "%s: ok\n", r.name())
		default:
			fine++
		}
	}
	if !each {
		fmt.Fprintf(&b, "%d of %s replay\n", fine, count(len(found)-skipped, "run"))
		if skipped > 0 {
			fmt.Fprintf(&b, "%s skipped: %s\n", count(skipped, "run"), nothingKept)
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
