package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"liminal/internal/config"
)

// health is what one check found.
type health string

const (
	well    health = "ok"
	off     health = "off"     // not configured, and fine without
	warning health = "warning" // works, but look at it
	ill     health = "failed"
)

// finding is the outcome of one check.
type finding struct {
	Check  string `json:"check"`
	Health health `json:"health"`
	Says   string `json:"says"`
	Hint   string `json:"hint,omitempty"` // what to do about it
	// unreachable marks something configured that did not answer.
	unreachable bool
}

func doctorCommand() command {
	return command{
		name:    "doctor",
		summary: "say what is configured, what answers, and what is missing",
		about: `
Checks, and changes nothing: the settings, the data folder and its free space,
the ports, the model (its server is asked what it has; without one, whether an
Ollama is there that could be one, and whether adapters reach it), who trains
them, what makes vectors, what of the web tools
may reach, and what answers of what is configured: Temporal (the cluster of
TEMPORAL_ADDRESS, and the one that dev has at --temporal), PostgreSQL (with the
version of pgvector and a vector sent there and back) and Redis. What is
missing is named with the way to get it.`,
		examples: []string{"liminald doctor", "liminald doctor --temporal 127.0.0.1:7333", "DATABASE_URL=postgres://… liminald doctor --json"},
		settings: []string{"data", "listen", "temporal", "temporal-ui"},
		flags:    jsonFlag,
		run:      runDoctor,
	}
}

func runDoctor(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	found := examine(ctx, conf, in.temporals())
	if *in.own.(*bool) {
		err = writeJSON(in.out, map[string]any{"version": buildVersion(), "checks": found})
	} else {
		err = printFindings(in.out, found)
	}
	if err != nil {
		return err
	}
	return verdict(found)
}

// examine runs every check, whatever the ones before it found.
func examine(ctx context.Context, conf config.Config, t temporals) []finding {
	return append([]finding{
		checkData(conf.Data),
		checkSpace(conf.Data),
		checkPort(ctx, "port of the API", conf.Listen, "--listen"),
		checkPort(ctx, "port of the embedded Temporal", conf.Temporal.Listen, "--temporal"),
		checkPort(ctx, "port of the Temporal UI", conf.Temporal.UI, "--temporal-ui"),
		checkAnswers(ctx, conf),
		checkAdapters(ctx, conf),
		checkTrainer(conf),
		checkEncoder(conf),
		checkReranker(conf),
		checkWeb(conf.Web),
		checkSpeech(conf.Speech),
		checkPalace(ctx, conf),
	}, checkServices(ctx, conf, t)...)
}

func printFindings(w io.Writer, found []finding) error {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%-8s %s: %s\n", f.Health, f.Check, f.Says)
		if f.Hint != "" {
			fmt.Fprintf(&b, "         → %s\n", f.Hint)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict is the exit code the findings add up to.
func verdict(found []finding) error {
	code := exitOK
	for _, f := range found {
		switch {
		case f.Health != ill:
		case f.unreachable:
			code = exitUnreachable
		case code == exitOK:
			code = exitFailed
		}
	}
	if code == exitOK {
		return nil
	}
	return shownError{code}
}
