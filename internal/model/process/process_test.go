package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/model"
	"liminal/internal/model/modeltest"
	"liminal/internal/model/process"
)

// TestMain is also a program that speaks stream-json, for the tests to start.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "speak" {
		speak(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func line(v map[string]any) {
	raw, _ := json.Marshal(v)
	fmt.Println(string(raw))
}

func event(kind string, delta map[string]any) {
	line(map[string]any{"type": "stream_event", "event": map[string]any{"type": kind, "delta": delta}, "parent_tool_use_id": nil})
}

func text(s string) { event("content_block_delta", map[string]any{"type": "text_delta", "text": s}) }

func message(s string) {
	line(map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "text", "text": s}, map[string]any{"type": "tool_use", "id": "t", "name": "Read", "input": map[string]any{}}}}})
}

func result(v map[string]any) {
	v["type"], v["usage"] = "result", map[string]any{"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 1}
	line(v)
}

// speak reads a question as the program does and answers it.
func speak(how string, args []string) {
	if how == "slow" {
		time.Sleep(100 * time.Millisecond)
	}
	if how == "counted" { // by who it is
		_ = os.WriteFile(filepath.Join(args[0], strconv.Itoa(os.Getpid())), nil, 0o600)
	}
	var asked struct {
		Type    string
		Message struct {
			Role    string
			Content []struct{ Type, Text string }
		}
	}
	raw, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(raw, &asked)
	}
	if err != nil || asked.Type != "user" || asked.Message.Role != "user" {
		fmt.Fprintln(os.Stderr, "not asked:", err, string(raw))
		os.Exit(3)
	}
	line(map[string]any{"type": "system", "subtype": "init"})
	event("message_start", nil)
	switch how {
	case "pieces":
		event("content_block_delta", map[string]any{"type": "thinking_delta", "thinking": "hm"})
		text("Gu")
		text("ten Tag.")
		message("Guten Tag.") // the whole, once more
		line(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "a tool's result"}})
		line(map[string]any{"type": "assistant", "parent_tool_use_id": "t", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": "a helper's word"}}}})
		event("message_start", nil)
		text("Es ist spät.")
		result(map[string]any{"subtype": "success", "result": "Es ist spät.", "total_cost_usd": 0.25})
	case "whole":
		message("One.")
		message("Two.")
		result(map[string]any{"subtype": "success", "result": "Two."})
	case "last", "slow":
		result(map[string]any{"subtype": "success", "result": "Only now."})
	case "echo":
		where, _ := os.Getwd()
		left, _ := os.ReadDir(where)
		told, _ := json.Marshal(map[string]any{"asked": asked.Message.Content[0].Text, "environment": os.Environ(), "args": os.Args, "files": len(left)})
		text(string(told))
		result(map[string]any{"subtype": "success"})
	case "counted":
		text(strconv.Itoa(os.Getpid()))
		result(map[string]any{"subtype": "success"})
	case "json":
		text(`{"intent":"other"}`)
		result(map[string]any{"subtype": "success"})
	case "fails":
		result(map[string]any{"subtype": "error_during_execution", "is_error": true, "result": "no credit"})
	case "ends":
		text("I begin")
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case "garbles":
		fmt.Println("Welcome!")
	case "floods":
		for {
			text(strings.Repeat("x", 1<<16))
		}
	case "hangs": // and so does what it started
		child := exec.Command(os.Args[0], "speak", "waits") //nolint:noctx,gosec // the test's own
		in, _ := child.StdinPipe()
		_ = child.Start()
		fmt.Fprintln(in, string(raw[:len(raw)-1]))
		if len(args) > 0 {
			_ = os.WriteFile(args[0], fmt.Appendf(nil, "%d", child.Process.Pid), 0o600)
		}
		for range time.Tick(10 * time.Millisecond) {
			text("… ")
		}
	case "waits":
		select {}
	}
}

func speaks(t testing.TB, how string, args ...string) *process.Model {
	m := process.New(process.Options{Program: os.Args[0], Args: append([]string{"speak", how}, args...)})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func ask(words string) model.Request {
	return model.Request{System: "Be brief.", Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: words}}}}}
}

// by is a model whose program answers as the request's task says.
type by struct {
	*process.Model
	t testing.TB
}

func (b by) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return speaks(b.t, req.Task).Stream(ctx, req)
}

func TestAProgramIsAModel(t *testing.T) {
	t.Parallel()
	plain, hangs, form := ask("x"), ask("x"), ask("x")
	plain.Task, hangs.Task, form.Task, form.Schema = "pieces", "hangs", "json", json.RawMessage(`{"type":"object"}`)
	modeltest.Run(t, modeltest.Setup{
		Open: func(t *testing.T) model.Model { return by{speaks(t, "pieces"), t} },
		Text: &plain, JSON: &form, Endless: &hangs,
	})
}

func TestAProgramsLinesAreAnAnswer(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{"pieces": "Guten Tag.\n\nEs ist spät.", "whole": "One.\n\nTwo.", "last": "Only now."} {
		events := modeltest.Play(t, speaks(t, how), ask("x"))
		if got := modeltest.Text(events); got != want {
			t.Errorf("%s: %q, want %q", how, got, want)
		}
		usage := events[len(events)-2].Usage
		if usage.Input != 7 || usage.Output != 3 || usage.CacheRead != 2 || usage.CacheWrite != 1 || (how == "pieces") != (usage.CostUSD != nil && *usage.CostUSD == 0.25) {
			t.Errorf("%s: usage %+v", how, usage)
		}
	}
}

// What people wrote reaches a program by standard input alone, and nothing of the
// platform's settings reaches it at all.
func TestAProgramIsToldTheQuestionAndNothingOfThePlatform(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "a secret")
	t.Setenv("DATABASE_URL", "a secret too")
	t.Setenv("TMPDIR", t.TempDir()) // other processes have programs in the shared one
	var told struct {
		Asked             string
		Environment, Args []string
		Files             int
	}
	if err := json.Unmarshal([]byte(modeltest.Text(modeltest.Play(t, speaks(t, "echo"), ask("Wie spät ist es?")))), &told); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(told.Asked, "Be brief.") || !strings.Contains(told.Asked, "Wie spät ist es?") || told.Files != 0 {
		t.Errorf("told %+v", told)
	}
	if all := strings.Join(told.Environment, " ") + strings.Join(told.Args, " "); strings.Contains(all, "secret") || strings.Contains(all, "spät") {
		t.Errorf("it can read %s", all)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "liminal-model-*"))
	for _, dir := range left {
		if inside, _ := os.ReadDir(dir); len(inside) > 0 {
			err = errors.Join(err, fmt.Errorf("%s holds %v", dir, inside))
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestAProgramThatFailsIsTold(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]string{
		"fails": "no credit", "ends": "out of memory", "garbles": "stream-json", "floods": "more than",
	} {
		var err error
		for _, e := range speaks(t, how).Stream(t.Context(), ask("x")) {
			err = e
		}
		if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(fmt.Sprint(f, errors.Unwrap(f)), want) {
			t.Errorf("%s: %v", how, err)
		}
	}
	for _, err := range process.New(process.Options{Program: "/nowhere"}).Stream(t.Context(), ask("x")) {
		if err == nil || !strings.Contains(err.Error(), "LIMINAL_MODEL_PROGRAM") {
			t.Errorf("a program that is not there: %v", err)
		}
	}
}

// Who stops an answer ends the program and all it started.
func TestAProgramIsEndedWithAllItStarted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "child")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for e, err := range speaks(t, "hangs", file).Stream(ctx, ask("x")) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if e.Type == model.TextDelta { // its child was there before its first word
			stop()
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !comesTrue(func() bool { return isOver(string(raw)) }) {
		t.Errorf("what it started, %s, lives on", raw)
	}
}

func isOver(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// comesTrue looks again and again: a process that begins or ends tells nobody.
func comesTrue(is func() bool) bool {
	for range 3000 {
		if is() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// One program waits while another answers, answers the next request, and is ended
// with the model; one that died while it waited is not missed.
func TestAProgramIsStartedAheadOfTheNextRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := speaks(t, "counted", dir)
	started := map[string]bool{}
	asked := func() string {
		pid := modeltest.Text(modeltest.Play(t, m, ask("x")))
		started[pid] = true
		return pid
	}
	waiting := func() (pid string) {
		t.Helper()
		if !comesTrue(func() bool {
			all, _ := os.ReadDir(dir)
			for _, e := range all {
				if !started[e.Name()] {
					pid = e.Name()
				}
			}
			return len(all) == len(started)+1
		}) {
			t.Fatalf("beside %v there is not one that waits", started)
		}
		return pid
	}
	asked()
	ahead := waiting()
	if by := asked(); by != ahead {
		t.Errorf("%s answered, and %s waited", by, ahead)
	}
	dead := waiting()
	pid, _ := strconv.Atoi(dead)
	killed, err := os.FindProcess(pid)
	if err == nil {
		err = killed.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	started[dead] = true
	if by := asked(); by == dead {
		t.Error("a dead one answered")
	}
	last := waiting()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if !isOver(last) {
		t.Errorf("%s waits for nobody", last)
	}
	asked() // as a turn that is still on its way
	if all, _ := os.ReadDir(dir); len(all) != len(started)+1 {
		t.Errorf("after its end %d were started, want %d", len(all), len(started)+1)
	}
}

// BenchmarkTurn is a request after another, of a program that takes 0.1 s to start.
func BenchmarkTurn(b *testing.B) {
	m := speaks(b, "slow")
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), ask("x")) {
			if err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		time.Sleep(200 * time.Millisecond) // who reads it
		b.StartTimer()
	}
}
