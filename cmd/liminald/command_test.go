package main

import (
	"encoding/json"
	"net"
	"strings"
	"testing"
)

func TestEverySubcommandExplainsItself(t *testing.T) {
	t.Parallel()
	_, all, _ := finish(t, nil, "help")
	for _, c := range commands() {
		has(t, all, "  "+c.name+" ", c.summary)
		for _, args := range [][]string{{c.name, "--help"}, {"help", c.name}} {
			code, text, said := finish(t, nil, args...)
			if code != exitOK || said != "" {
				t.Errorf("%v ended with %d: %s", args, code, said)
			}
			has(t, text, "Usage: liminald "+c.name, "Examples:\n  ", "Exit codes:\n  0  ", c.summary)
		}
	}
}

func TestTheEnvironmentIsListedWithItsDefaults(t *testing.T) {
	t.Parallel()
	_, text, _ := finish(t, nil, "help", "environment")
	has(t, text, "SHARED_FS_ROOT, --data", "./.liminal", "DATABASE_URL", "(unset)")
}

func TestMistakesOnTheCommandLineAreExitCode2(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env, args []string
		says      []string
	}{
		"nothing":         {nil, nil, []string{"Usage: liminald SUBCOMMAND"}},
		"unknown":         {nil, []string{"devv"}, []string{`no subcommand "devv"`, "liminald help"}},
		"unknown help":    {nil, []string{"help", "devv"}, []string{`no help on "devv"`}},
		"unknown flag":    {nil, []string{"dev", "--lissten", "x"}, []string{"-lissten", "liminald dev --help"}},
		"argument":        {nil, []string{"dev", "now"}, []string{`unexpected argument "now"`}},
		"settings":        {[]string{"RAG_TOP_K=0", "LIMINAL_LISTN=x"}, []string{"dev", "--listen", "x"}, []string{"3 settings are wrong", "RAG_TOP_K=0", "did you mean LIMINAL_LISTEN", "--listen=x"}},
		"a kind of calls": {nil, []string{"worker", "--only", "tolls"}, []string{"--only tolls", "models, tools, ingest and training"}},
		"another kind":    {nil, []string{"worker", "--except", "tolls"}, []string{"--except tolls", "models, tools, ingest and training"}},
		"both":            {nil, []string{"worker", "--only", "tools", "--except", "tools"}, []string{"exclude each other"}},
		"no file":         {nil, []string{"validate"}, []string{"FILE"}},
		"no history":      {nil, []string{"replay"}, []string{"FILE"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, said := finish(t, c.env, c.args...)
			if code != exitUsage {
				t.Errorf("it ended with %d", code)
			}
			has(t, said, c.says...)
		})
	}
}

func TestTheHelpOfAWorkerNamesTheKindsOfCalls(t *testing.T) {
	t.Parallel()
	_, text, _ := finish(t, nil, "worker", "--help")
	has(t, text, "--only  ", "--except  ", "nothing else: models, tools, ingest or training", "other workers: models, tools, ingest or training", "liminald worker --only training")
}

func TestVersionIsReadableByMachines(t *testing.T) {
	t.Parallel()
	code, text, _ := finish(t, nil, "version", "--json")
	var v map[string]string
	if err := json.Unmarshal([]byte(text), &v); err != nil || code != exitOK || v["version"] == "" || !strings.HasPrefix(v["go"], "go1.") {
		t.Errorf("code %d, %v: %s", code, err, text)
	}
}

func TestServerSaysWhenTemporalDoesNotAnswer(t *testing.T) {
	t.Parallel()
	nobody := unused(t)
	code, _, said := finish(t, []string{"TEMPORAL_ADDRESS=" + nobody}, "server", "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	if code != exitUnreachable {
		t.Errorf("it ended with %d", code)
	}
	oneSentence(t, said)
	has(t, said, "Temporal server at "+nobody+" cannot be reached", "TEMPORAL_ADDRESS")
}

func TestDoctorTellsWhatAnswersAndWhatDoesNot(t *testing.T) {
	t.Parallel()
	code, text, _ := finish(t, nil, "doctor", "--data", t.TempDir(), "--json")
	var report struct{ Checks []finding }
	if err := json.Unmarshal([]byte(text), &report); err != nil || code != exitOK {
		t.Fatalf("code %d, %v: %s", code, err, text)
	}
	got := map[string]health{}
	for _, f := range report.Checks {
		got[f.Check] = f.Health
	}
	for check, want := range map[string]health{"data folder": well, "language model": well, "PostgreSQL": off, "Redis": off} {
		if got[check] != want {
			t.Errorf("%s: %q, want %q", check, got[check], want)
		}
	}

	code, text, _ = finish(t, []string{
		"REDIS_URL=redis://:hunter2@" + unused(t), "DATABASE_URL=postgres://u:hunter2@" + unused(t) + "/d",
	}, "doctor", "--data", t.TempDir())
	if code != exitUnreachable || strings.Contains(text, "hunter2") {
		t.Errorf("code %d:\n%s", code, text)
	}
	has(t, text, "failed   PostgreSQL", "failed   Redis", "REDIS_URL", "DATABASE_URL")
}

// Temporal is asked where it was said to be, by whichever name.
func TestDoctorAsksTheTemporalItWasToldOf(t *testing.T) {
	t.Parallel()
	cluster, own := unused(t), unused(t)
	code, text, _ := finish(t, nil, "doctor", "--data", t.TempDir(), "--temporal", own)
	if code != exitOK {
		t.Errorf("code %d:\n%s", code, text)
	}
	has(t, text, "off      embedded Temporal: nothing answers at "+own)

	code, text, _ = finish(t, []string{"TEMPORAL_ADDRESS=" + cluster}, "doctor", "--data", t.TempDir())
	if code != exitUnreachable || strings.Contains(text, "  embedded Temporal") {
		t.Errorf("code %d:\n%s", code, text)
	}
	has(t, text, "failed   Temporal: ", cluster, "check TEMPORAL_ADDRESS")
}

// unused is an address nobody listens on, nor is given while the test lasts: one end
// of a connection has it.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr().String()
}
