package record

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"liminal/activities"
	"liminal/activities/activitiestest"
	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/tool"
	"liminal/internal/wire/devserver"
	"liminal/worker"
	"liminal/workflows"
)

// recovery is how soon a run goes on after the process that worked on it was
// killed, while another worker is there.
const recovery = 5 * time.Second

// The environment of a worker in a process of its own: this test binary again.
const (
	childAddress = "RECORD_WORKER_ADDRESS" // of the server; set in a child only
	childQueue   = "RECORD_WORKER_QUEUE"   // its task queue, and the salt of its world
	childSpec    = "RECORD_WORKER_TOOL"    // inline or model
	childGraph   = "RECORD_WORKER_GRAPH"
	childHangs   = "RECORD_WORKER_HANGS"  // at the node of this name, or at all, its tool never returns
	childAnswer  = "RECORD_WORKER_ANSWER" // to the question "ask", which its store has already
)

// everywhere says that a tool hangs at every node.
const everywhere = "*"

// childMain works until it is killed. It says on standard output what happens.
func childMain() int {
	spec := model
	if os.Getenv(childSpec) == "inline" {
		spec = inline
	}
	w := activitiestest.New(os.Getenv(childGraph))
	w.Salt(os.Getenv(childQueue))
	w.Tool("llm", spec, func(ctx context.Context, c *tool.Call) (map[string]any, error) {
		fmt.Fprintln(os.Stdout, "called", c.Node)
		if at := os.Getenv(childHangs); at == c.Node || at == everywhere {
			select {} // not even a cancel ends it
		}
		return echo(ctx, c)
	})
	in := w.Chat("hello", chat.TurnInput{})
	if answer := os.Getenv(childAnswer); answer != "" {
		w.Early(in.RunID, "ask#1", answer)
	}
	c, err := worker.Dial(context.Background(), worker.ClientOptions{Address: os.Getenv(childAddress), Namespace: devserver.Namespace})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	working, err := worker.New(worker.Options{Client: c, Activities: w.Set(), Queue: os.Getenv(childQueue), Every: time.Hour})
	if err == nil {
		err = working.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, "up")
	for range time.Tick(5 * time.Millisecond) {
		if q, ok := w.Question(0); ok {
			fmt.Fprintln(os.Stdout, "asked", q.ID)
			select {}
		}
	}
	return 0
}

// process is a worker in a process of its own.
type process struct {
	*testing.T
	cmd  *exec.Cmd
	says chan string
}

func (s *stage) spawn(graph, spec string, hangs bool, env ...string) *process {
	s.Helper()
	p := &process{T: s.T, cmd: exec.CommandContext(s.Context(), os.Args[0]), says: make(chan string, 99)}
	p.cmd.Env = append(os.Environ(), childAddress+"="+server.Address(), childQueue+"="+s.queue, childGraph+"="+graph, childSpec+"="+spec)
	p.cmd.Env = append(p.cmd.Env, env...)
	if hangs {
		p.cmd.Env = append(p.cmd.Env, childHangs+"="+everywhere)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() {
		defer close(p.says)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.says <- lines.Text()
		}
	}()
	s.Cleanup(p.kill)
	return p
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may be gone
	_ = p.cmd.Wait()         // its status is that it was killed
}

// said waits for a line that begins so, and gives the rest of it.
func (p *process) said(what string) string {
	p.Helper()
	late := time.After(deadline)
	for {
		select {
		case line, ok := <-p.says:
			if rest, found := strings.CutPrefix(line, what); found {
				return strings.TrimSpace(rest)
			}
			if !ok {
				p.Fatalf("the process ended before it said %q", what)
			}
		case <-late:
			p.Fatalf("the process never said %q", what)
		}
	}
}

// Requirements: OPS-09
func TestAKilledWorkersRunGoesOnInAnotherWithinSeconds(t *testing.T) {
	for name, c := range map[string]struct{ graph, spec string }{
		"in a call of a model":  {oneModel, "model"},
		"in a tool of the step": {oneModel, "inline"},
	} {
		t.Run(name, func(t *testing.T) {
			s := emptyStage(t, activitiestest.New(c.graph), nil)
			first := s.spawn(c.graph, c.spec, true)
			first.said("called")
			second := s.spawn(c.graph, c.spec, false)
			second.said("up")
			at := time.Now()
			first.kill()
			second.said("called")
			s.within(at)
		})
	}
	t.Run("while it waits for a person", func(t *testing.T) {
		s := emptyStage(t, activitiestest.New(asking), nil)
		first := s.spawn(asking, "inline", false)
		question := first.said("asked")
		second := s.spawn(asking, "inline", false, childAnswer+"=x")
		second.said("up")
		at := time.Now()
		first.kill()
		s.signal(question)
		second.said("called after")
		s.within(at)
	})
}

// An update is no part of the run's history until the step that takes it in has
// ended, so a worker may die with the answer in hand.
//
// Requirements: OPS-09, INT-03
func TestAKilledWorkerLosesNoAnswerThatItHadInHand(t *testing.T) {
	s := emptyStage(t, activitiestest.New(asking), nil)
	first := s.spawn(asking, "inline", false, childHangs+"=after", childAnswer+"=x")
	question := first.said("asked")
	second := s.spawn(asking, "inline", false, childAnswer+"=x")
	second.said("up")
	w, row := s.theirs()
	sender := worker.NewEngine(worker.Options{Client: s.client, Activities: w.Set()})
	sender.Send(s.Context(), run.Interrupt{ID: question, RunID: row.ID, WorkflowID: row.WorkflowID, Status: run.Answered, Answer: []byte(`"x"`)})
	first.said("called after")
	at := time.Now()
	first.kill()
	second.said("called after")
	s.within(at)
	s.closed(row.WorkflowID)
	// An update that is not taken in for long is sent as a signal, too.
	if got := s.freeze("", row.WorkflowID, ""); got[updated]+got[signalled] == 0 || *alone && (got[updated] != 1 || got[signalled] != 0) {
		t.Errorf("it has %v; want the one update", got)
	}
}

func (s *stage) within(at time.Time) {
	s.Helper()
	took := time.Since(at)
	s.Logf("the run went on after %s", took.Round(time.Millisecond))
	if most := promised(recovery); took > most {
		s.Errorf("the run went on after %s, want %s at most", took, most)
	}
}

// signal answers the question of a run whose row only the workers' processes have.
func (s *stage) signal(question string) {
	s.Helper()
	_, row := s.theirs()
	err := s.client.SignalWorkflow(s.Context(), row.WorkflowID, "", workflows.SignalAnswer, activities.Answer{InterruptID: question, Answer: "x"})
	if err != nil {
		s.Fatal(err)
	}
}

// theirs is the row of the run that the workers' processes have, in a world like
// theirs.
func (s *stage) theirs() (*activitiestest.World, run.Run) {
	s.Helper()
	w := activitiestest.New(asking)
	w.Salt(s.queue)
	row, err := w.Set().Runs.Run(s.Context(), activitiestest.Viewer, w.Chat("hello", chat.TurnInput{}).RunID)
	if err != nil {
		s.Fatal(err)
	}
	return w, row
}
