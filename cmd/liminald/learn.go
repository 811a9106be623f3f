package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"liminal/internal/remote"
)

func learnCommand() command {
	return command{
		name:    "learn",
		takes:   "VERB",
		summary: "what is learnt from what you say of answers: see it, start it, forget it",
		about: `
Looks at what a running server has learnt from what you said of answers. The
server is --url, or LIMINAL_URL; who you are is told by liminald login, once, or
LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

  status   what you allow, the lessons with what each came from, your adapters
  run      learn now; liminald runs list shows how the run goes
  forget   remove everything that is learnt from you and all you said of
           answers, for good; takes --yes

Lessons are reworded and switched off on the page Learning, or over the API;
liminald adapters has what they became.`,
		examples: []string{"liminald learn status", "liminald learn run", "liminald learn forget --yes"},
		settings: []string{"url"},
		flags:    learnFlags,
		run:      runLearn,
	}
}

type learnOptions struct{ json, yes bool }

func learnFlags(fs *flag.FlagSet) any {
	o := &learnOptions{}
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	fs.BoolVar(&o.yes, "yes", false, "forget: you mean it")
	return o
}

func runLearn(ctx context.Context, in *invocation) error {
	o := in.own.(*learnOptions)
	verbs := map[string]func(context.Context, *invocation, *remote.Server) error{"status": o.status, "run": o.now, "forget": o.forget}
	switch {
	case len(in.args) == 0:
		return usageError{errors.New("say what to do: status, run or forget")}
	case verbs[in.args[0]] == nil:
		return usageError{fmt.Errorf("there is no verb %q", in.args[0])}
	case len(in.args) > 1:
		return usageError{fmt.Errorf("%s takes nothing more; %q is more", in.args[0], in.args[1])}
	case in.args[0] == "forget" && !o.yes:
		return usageError{errors.New("everything that is learnt from you and all you said of answers would be gone for good: say --yes if you mean it")}
	}
	s, err := in.server(ctx)
	if err != nil {
		return err
	}
	return reached(withProblems(verbs[in.args[0]](ctx, in, s)))
}

// remoteLearning is what a server has learnt of a person.
type remoteLearning struct {
	Mode       string `json:"mode"`
	Generative bool   `json:"generative"`
	Settings   struct {
		Personal bool `json:"personal"`
		Shared   bool `json:"shared"`
		ByRule   bool `json:"by_rule"`
	} `json:"settings"`
	Waiting int `json:"waiting"`
	LastRun *struct {
		ID     string    `json:"run_id"`
		Status string    `json:"status"`
		At     time.Time `json:"at"`
	} `json:"last_run"`
	Adapters []remoteLearned `json:"adapters"`
	Lessons  []remoteLesson  `json:"lessons"`
}

type remoteLearned struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Status  string   `json:"status"`
	Version int      `json:"version"`
	Lessons []string `json:"lessons"`
	Patch   *struct {
		ID            int64  `json:"id"`
		Status        string `json:"status"`
		Justification string `json:"justification"`
		ByRule        bool   `json:"by_rule"`
		MayDecide     bool   `json:"may_decide"`
		MayRollBack   bool   `json:"may_roll_back"`
		// Trial is told by /v1/adapters alone.
		Trial *remoteTrial `json:"trial,omitempty"`
	} `json:"patch"`
}

type remoteLesson struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	State    string `json:"state"`
	MadeBy   string `json:"made_by"`
	Followed bool   `json:"followed"`
	Sources  []struct {
		EventID int64  `json:"event_id"`
		Signal  string `json:"signal"`
		Notes   string `json:"notes"`
	} `json:"sources"`
}

func (o *learnOptions) status(ctx context.Context, in *invocation, s *remote.Server) error {
	var l remoteLearning
	if err := s.Get(ctx, "/v1/learning", nil, &l); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, l)
	}
	_, err := fmt.Fprint(in.out, harmless(l.text()))
	return err
}

func (l remoteLearning) text() string {
	var b strings.Builder
	b.WriteString(l.allowed())
	fmt.Fprintf(&b, "%d unread", l.Waiting)
	if l.LastRun != nil {
		fmt.Fprintf(&b, "; the latest run, %s, %s at %s", l.LastRun.ID, l.LastRun.Status, l.LastRun.At.Local().Format(time.DateTime))
	}
	b.WriteString("\n")
	if len(l.Lessons) == 0 {
		b.WriteString("no lessons yet\n")
	}
	for _, lesson := range l.Lessons {
		lesson.print(&b)
	}
	for _, a := range l.Adapters {
		fmt.Fprintf(&b, "adapter %s, %s, version %d: %s, %s\n", a.Name, a.Type, a.Version, a.Status, counted(len(a.Lessons), "lesson"))
		if a.Patch == nil {
			continue
		}
		what := a.Patch.Status
		switch {
		case a.Patch.MayDecide:
			what = fmt.Sprintf("waits for you: liminald patch show %d", a.Patch.ID)
		case a.Patch.ByRule:
			what += " by rule"
		}
		fmt.Fprintf(&b, "    change %d, %s: %s\n", a.Patch.ID, what, a.Patch.Justification)
	}
	return b.String()
}

// allowed is what is learnt at all, in a line.
func (l remoteLearning) allowed() string {
	switch {
	case l.Mode == "off":
		return "nothing is learnt on this server\n"
	case !l.Settings.Personal:
		return "your answers follow nothing that is learnt: you have switched it off\n"
	}
	how := "; you decide each change"
	if l.Settings.ByRule {
		how = "; what passes its trial is applied"
	}
	if !l.Generative {
		how += "; no language model is set up, so only rules learn"
	}
	if l.Settings.Shared {
		how += "; you share what you say for everybody's situations"
	}
	return "your answers follow what is learnt from you" + how + "\n"
}

func (l remoteLesson) print(b *strings.Builder) {
	how := l.State
	switch {
	case l.Followed:
		how = "followed"
	case l.State == "active":
		how = "not followed yet"
	}
	from := counted(len(l.Sources), "answer") + " you judged"
	var notes []string
	for _, e := range l.Sources {
		if e.Notes != "" && !slices.Contains(notes, e.Notes) {
			notes = append(notes, e.Notes)
		}
	}
	if len(notes) > 0 {
		from += ": " + strings.Join(notes, " / ")
	}
	fmt.Fprintf(b, "%s  %s (%s)\n    from %s\n", l.ID, l.Text, how, from)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

func (o *learnOptions) now(ctx context.Context, in *invocation, s *remote.Server) error {
	var started struct {
		RunID string `json:"run_id"`
	}
	if err := s.Post(ctx, "/v1/learning/run", nil, &started); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, started)
	}
	_, err := fmt.Fprintf(in.out, "run %s reads what you said of answers\n", started.RunID)
	return err
}

func (o *learnOptions) forget(ctx context.Context, in *invocation, s *remote.Server) error {
	var gone struct {
		Events int `json:"events"`
	}
	if err := s.Post(ctx, "/v1/learning/forget", nil, &gone); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, gone)
	}
	_, err := fmt.Fprintf(in.out, "forgotten: what you said of answers (%s), and all that was learnt from it\n", counted(gone.Events, "time"))
	return err
}
