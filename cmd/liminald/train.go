package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"liminal/internal/fault"
	"liminal/internal/lora/train"
)

// trainersCommand is the subcommand of the processes in which the program trains
// adapters, with bounds of memory and time. It starts them itself and speaks
// with them over a pipe, so help does not list it.
const trainersCommand = "train-in-cell"

func trainCommand() command {
	return command{
		name:    "train",
		takes:   "DIR",
		summary: "train an adapter from a job's folder",
		about: `
Trains the LoRA adapter that DIR/job.json describes, on the processor, with the
batches in DIR/batches, and leaves in DIR/out a folder as PEFT writes it, with
a manifest. The base model is read and never written. Each step is a line of
DIR/metrics.jsonl; every 20 steps, or 30 seconds, all that is needed to go on
is kept in DIR/checkpoint.safetensors.

Stopped or killed, and started again, it goes on from its checkpoint with the
same losses, bit for bit, on any number of processors. Done again, it does
nothing. A job.json that is written anew with a higher "fence" stops it: the
job was given to somebody else.

The platform starts the same in a process with bounds of memory and time,
without the network; a trainer of another maker may be started instead, and
reads and leaves the same files. docs/training.md has their fields.`,
		examples: []string{
			"liminald train data/users/ann/adapters/manner/train_jobs/j1",
			"liminald train --json job | tail -1",
		},
		flags: func(fs *flag.FlagSet) any {
			return fs.Bool("json", false, "print each step, and the manifest at the end, as a line of JSON")
		},
		run: runTrain,
	}
}

func runTrain(ctx context.Context, in *invocation) error {
	asJSON := *in.own.(*bool)
	if len(in.args) != 1 {
		return usageError{errors.New("name one folder with a job.json: liminald train DIR")}
	}
	dir, err := filepath.Abs(in.args[0])
	if err != nil {
		return err
	}
	last := train.Metric{}
	m, err := train.Run(ctx, dir, train.Options{
		Notice: func(text string) { fmt.Fprintln(in.err, text) },
		Report: func(m train.Metric) {
			last = m
			if asJSON {
				printLine(in, m)
				return
			}
			held := ""
			if m.HeldOut != nil {
				held = fmt.Sprintf(", held out %.4f", *m.HeldOut)
			}
			fmt.Fprintf(in.out, "step %d of %d: loss %.4f%s, %.0f tokens a second, %s left\n",
				m.Step, m.Of, m.Loss, held, m.Speed, (time.Duration(m.ETA * float64(time.Second))).Round(time.Second))
		},
	})
	switch e, told := errors.AsType[*fault.Error](err); {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("stopped in step %d; started again, it goes on from there", last.Step)
	case told && (e.Code == fault.Invalid || e.Code == fault.NotFound):
		return usageError{errors.New(e.Message)}
	case told:
		return errors.New(e.Message)
	case err != nil:
		return err
	}
	if asJSON {
		printLine(in, m)
		return nil
	}
	early := ""
	if m.Stopped {
		early = ", stopped early as losses rose"
	}
	_, err = fmt.Fprintf(in.out, "%d of %d steps%s. Held out: %s. The adapter is in %s\n", m.Steps, m.Of, early, between(m.HeldOut), filepath.Join(in.args[0], train.ResultDir))
	return err
}

func printLine(in *invocation, v any) {
	raw, _ := json.Marshal(v) // numbers and texts can be written
	fmt.Fprintf(in.out, "%s\n", raw)
}

// between is a figure before and after.
func between(s train.Span) string {
	if s.Before == nil || s.After == nil {
		return "nothing"
	}
	return fmt.Sprintf("%.4f before, %.4f after", *s.Before, *s.After)
}

// trainInCell is what the program does as a process of train.Cell.
func trainInCell(t terminal) int {
	if err := train.Serve(os.Stdin, t.out); err != nil {
		fmt.Fprintln(t.err, err)
		return exitFailed
	}
	return exitOK
}
