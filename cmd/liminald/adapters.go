package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"liminal/internal/remote"
)

func adaptersCommand() command {
	return command{
		name:    "adapters",
		takes:   "VERB",
		summary: "adapters made of what you say of answers: see them, train one, take a change back",
		about: `
Looks after the adapters of your account on a running server: what was learnt of
how you want to be answered, as lessons, as trained weights or both. The server is
--url, or LIMINAL_URL; who you are is told by liminald login, once, or
LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

  list       all of them, how often each was used, and how one on trial goes
  show ID    its versions, its trial, and its trainings with what the gate found
  train ID   train it anew with what you liked and corrected
  undo ID    take its last change back; --why says why

liminald models, train and worker are about the models and processes that train.`,
		examples: []string{
			"liminald adapters list", "liminald adapters show 01a21b99-71c8-7bf7-9ade-b64d725a1964",
			`liminald adapters undo 01a21b99-71c8-7bf7-9ade-b64d725a1964 --why "answers became too short"`,
		},
		settings: []string{"url"},
		flags:    adaptersFlags,
		run:      runAdapters,
	}
}

type adaptersOptions struct {
	json bool
	why  string
}

func adaptersFlags(fs *flag.FlagSet) any {
	o := &adaptersOptions{}
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	fs.StringVar(&o.why, "why", "", "undo: the reason, which is kept with the change")
	return o
}

func runAdapters(ctx context.Context, in *invocation) error {
	o := in.own.(*adaptersOptions)
	verbs := map[string]func(context.Context, *invocation, *remote.Server) error{"list": o.list, "show": o.show, "train": o.train, "undo": o.undo}
	switch {
	case len(in.args) == 0:
		return usageError{errors.New("say what to do: list, show, train or undo")}
	case verbs[in.args[0]] == nil:
		return usageError{fmt.Errorf("there is no verb %q", in.args[0])}
	case in.args[0] == "list" && len(in.args) > 1:
		return usageError{fmt.Errorf("list takes nothing more; %q is more", in.args[1])}
	case in.args[0] != "list" && len(in.args) != 2:
		return usageError{fmt.Errorf("%s needs the id of one adapter; liminald adapters list has them", in.args[0])}
	case in.args[0] == "undo" && o.why == "":
		return usageError{errors.New("say with --why why it is taken back")}
	}
	s, err := in.server(ctx)
	if err != nil {
		return err
	}
	return reached(withProblems(verbs[in.args[0]](ctx, in, s)))
}

// remoteAdapter is an adapter as a server tells of it.
type remoteAdapter struct {
	remoteLearned
	Situation string `json:"situation"`
	Weights   int    `json:"weights"`
	Use       struct {
		Runs  int64   `json:"runs"`
		Score float64 `json:"score"`
	} `json:"use"`
	Versions []remoteAdapterVersion `json:"versions,omitempty"`
}

type remoteAdapterVersion struct {
	Version int       `json:"version"`
	State   string    `json:"state"`
	At      time.Time `json:"at"`
	Note    string    `json:"note"`
	PatchID *int64    `json:"patch_id"`
	Lessons int       `json:"lessons"`
	Weights int       `json:"weights"`
	Base    string    `json:"base"`
}

// remoteTrial is how a version goes that a share of conversations takes.
type remoteTrial struct {
	Share int       `json:"share"`
	Until time.Time `json:"until"`
	Runs  struct {
		Before int `json:"before"`
		After  int `json:"after"`
	} `json:"runs"`
	Disliked struct {
		Before remoteShare `json:"before"`
		After  remoteShare `json:"after"`
	} `json:"disliked"`
	Rules []string `json:"rules"`
}

type remoteShare struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// remoteTraining is a training of an adapter.
type remoteTraining struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"`
	Status    string    `json:"status"`
	Stage     string    `json:"stage"`
	Reason    string    `json:"reason"`
	Events    int       `json:"events"`
	Version   int       `json:"version"`
	CreatedAt time.Time `json:"created_at"`
	Report    *struct {
		Outcome   string       `json:"outcome"`
		Reasons   []string     `json:"reasons"`
		Events    int          `json:"events"`
		P         float64      `json:"p"`
		Loss      remoteFigure `json:"loss"`
		Alignment remoteFigure `json:"alignment"`
		Kept      *struct {
			Of    int      `json:"of"`
			Base  int      `json:"base"`
			Now   int      `json:"now"`
			New   int      `json:"new"`
			Kinds []string `json:"kinds"`
		} `json:"kept"`
	} `json:"report"`
}

type remoteFigure struct {
	Now float64 `json:"now"`
	New float64 `json:"new"`
}

func (o *adaptersOptions) list(ctx context.Context, in *invocation, s *remote.Server) error {
	var page struct {
		Data []remoteAdapter `json:"data"`
	}
	if err := s.Get(ctx, "/v1/adapters", nil, &page); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, page.Data)
	}
	var b strings.Builder
	for _, a := range page.Data {
		a.print(&b)
	}
	if b.Len() == 0 {
		b.WriteString("no adapters yet\n")
	}
	_, err := fmt.Fprint(in.out, harmless(b.String()))
	return err
}

func (a remoteAdapter) print(b *strings.Builder) {
	what := "of all answers"
	if a.Type == "skill" {
		what = "of " + a.Situation
	}
	weights := "no weights"
	if a.Weights > 0 {
		weights = fmt.Sprintf("weights %d", a.Weights)
	}
	fmt.Fprintf(b, "%s  %s, %s: %s, version %d, %s, %s; %s", a.ID, a.Name, what, a.Status, a.Version, counted(len(a.Lessons), "lesson"), weights, counted(int(a.Use.Runs), "answer"))
	if a.Use.Runs > 0 {
		fmt.Fprintf(b, ", %+.2f on average", a.Use.Score)
	}
	b.WriteString("\n")
	p := a.Patch
	if p == nil {
		return
	}
	switch {
	case p.MayDecide:
		fmt.Fprintf(b, "    change %d waits for you: liminald patch show %d\n", p.ID, p.ID)
	case p.Trial != nil:
		t := p.Trial
		fmt.Fprintf(b, "    change %d is on trial with %d %% of your conversations until %s: %d answers before, %d with it; thumbs down %.0f %% before, %.0f %% (%.0f to %.0f) with it\n",
			p.ID, t.Share, t.Until.Local().Format(time.DateTime), t.Runs.Before, t.Runs.After, 100*t.Disliked.Before.Value, 100*t.Disliked.After.Value, 100*t.Disliked.After.Low, 100*t.Disliked.After.High)
		for _, rule := range t.Rules {
			fmt.Fprintf(b, "    it goes back by itself when %s\n", rule)
		}
	}
	if p.MayRollBack {
		fmt.Fprintf(b, "    taken back with: liminald adapters undo %s --why …\n", a.ID)
	}
}

func (o *adaptersOptions) show(ctx context.Context, in *invocation, s *remote.Server) error {
	var a remoteAdapter
	if err := s.Get(ctx, "/v1/adapters/"+url.PathEscape(in.args[1]), nil, &a); err != nil {
		return err
	}
	var page struct {
		Data []remoteTraining `json:"data"`
	}
	if err := s.Get(ctx, "/v1/training", url.Values{"adapter_id": {in.args[1]}, "limit": {"5"}}, &page); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, map[string]any{"adapter": a, "trainings": page.Data})
	}
	var b strings.Builder
	a.print(&b)
	for _, v := range a.Versions {
		fmt.Fprintf(&b, "version %d, %s, %s: %s", v.Version, v.State, v.At.Local().Format(time.DateTime), counted(v.Lessons, "lesson"))
		if v.Weights > 0 {
			fmt.Fprintf(&b, ", weights %d of %s", v.Weights, v.Base)
		}
		if v.PatchID != nil {
			fmt.Fprintf(&b, ", by change %d", *v.PatchID)
		}
		if v.Note != "" {
			b.WriteString("\n    " + v.Note)
		}
		b.WriteString("\n")
	}
	for _, t := range page.Data {
		t.print(&b)
	}
	_, err := fmt.Fprint(in.out, harmless(b.String()))
	return err
}

func (t remoteTraining) print(b *strings.Builder) {
	fmt.Fprintf(b, "training %s, %s, %s: %s at %s, %s\n", t.ID, t.Kind, t.CreatedAt.Local().Format(time.DateTime), t.Status, t.Stage, counted(t.Events, "event"))
	if t.Reason != "" {
		fmt.Fprintf(b, "    %s\n", t.Reason)
	}
	r := t.Report
	if r == nil {
		return
	}
	fmt.Fprintf(b, "    gate: %s; %d held out; loss %.2f, before %.2f; alignment %.2f, before %.2f; P %.2f", r.Outcome, r.Events, r.Loss.New, r.Loss.Now, r.Alignment.New, r.Alignment.Now, r.P)
	if k := r.Kept; k != nil {
		fmt.Fprintf(b, "; wishes kept in %d of %d checks (%s), before %d, by the base %d", k.New, k.Of, strings.Join(k.Kinds, ", "), k.Now, k.Base)
	}
	if len(r.Reasons) > 0 {
		b.WriteString("; " + strings.Join(r.Reasons, ", "))
	}
	b.WriteString("\n")
}

func (o *adaptersOptions) train(ctx context.Context, in *invocation, s *remote.Server) error {
	var t remoteTraining
	if err := s.Post(ctx, "/v1/adapters/"+url.PathEscape(in.args[1])+"/train", nil, &t); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, t)
	}
	_, err := fmt.Fprintf(in.out, "training %s is %s; liminald adapters show %s tells how it goes\n", t.ID, t.Status, in.args[1])
	return err
}

// undo takes the last change of an adapter back, as the page does.
func (o *adaptersOptions) undo(ctx context.Context, in *invocation, s *remote.Server) error {
	var a remoteAdapter
	if err := s.Get(ctx, "/v1/adapters/"+url.PathEscape(in.args[1]), nil, &a); err != nil {
		return err
	}
	if a.Patch == nil || !a.Patch.MayRollBack {
		return errors.New("nothing of this adapter can be taken back: it has no change that is applied, or a later one stands on it. liminald adapters show tells its versions")
	}
	var p patchView
	if err := s.Post(ctx, fmt.Sprintf("/v1/config/patches/%d/rollback", a.Patch.ID), map[string]any{"reason": o.why}, &p); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, p)
	}
	_, err := fmt.Fprintf(in.out, "taken back: change %d; your answers are made as before it\n", a.Patch.ID)
	return err
}
