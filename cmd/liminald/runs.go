package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"liminal/internal/remote"
)

func runsCommand() command {
	return command{
		name:    "runs",
		takes:   "VERB [ID] [ANSWER…]",
		summary: "your runs, what they wait for, and answers to their questions",
		about: `
Looks at your runs on a running server, and answers the questions they wait
with. The server is --url, or LIMINAL_URL; who you are is told by liminald login,
once, or LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

  list               runs, latest first: what each was asked and waits for
  questions          open questions, oldest first, with what they take
  answer ID ANSWER…  answer a question; the beginning of its ID will do
  skip ID            go on without an answer

ANSWER is the id of an option, or a text. A form takes one JSON object, or
field=value for each field: field=a,b or field= twice for a list, group.field
for a field of a group.`,
		examples: []string{
			"liminald runs questions",
			"liminald runs answer 5f1c to=Graz nights=2 by=rail,bus who.name=Ada",
			`liminald runs answer 5f1c '{"to":"Graz","nights":2}'`,
			"liminald runs list --status waiting",
		},
		settings: []string{"url"},
		flags:    runsFlags,
		run:      runRuns,
	}
}

type runsOptions struct {
	status string
	json   bool
}

func runsFlags(fs *flag.FlagSet) any {
	o := &runsOptions{}
	fs.StringVar(&o.status, "status", "", "list: only runs in this state, such as waiting")
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	return o
}

func runRuns(ctx context.Context, in *invocation) error {
	if len(in.args) == 0 {
		return usageError{errors.New("say what to do: list, questions, answer or skip")}
	}
	verb, rest := in.args[0], in.args[1:]
	switch {
	case !slices.Contains([]string{"list", "questions", "answer", "skip"}, verb):
		return usageError{fmt.Errorf("there is no verb %q", verb)}
	case (verb == "answer" || verb == "skip") && len(rest) == 0:
		return usageError{fmt.Errorf("name the ID of the question to %s; liminald runs questions shows them", verb)}
	case verb == "answer" && len(rest) == 1:
		return usageError{errors.New("say what the ANSWER is; liminald runs questions shows what each takes")}
	}
	s, err := in.server(ctx)
	if err != nil {
		return err
	}
	o := in.own.(*runsOptions)
	switch verb {
	case "list":
		err = o.list(ctx, in, s)
	case "questions":
		err = o.questions(ctx, in, s)
	default:
		err = o.answer(ctx, in, s, rest[0], rest[1:])
	}
	return reached(withProblems(err))
}

// remoteRun is a run as a list has it.
type remoteRun struct {
	ID       string    `json:"id"`
	Kind     string    `json:"kind"`
	Status   string    `json:"status"`
	Asked    string    `json:"asked,omitempty"`
	WaitsFor string    `json:"waits_for,omitempty"`
	Created  time.Time `json:"created_at"`
}

func (o *runsOptions) list(ctx context.Context, in *invocation, s *remote.Server) error {
	query := url.Values{"limit": {"100"}}
	if o.status != "" {
		query.Set("status", o.status)
	}
	var page struct {
		Data []remoteRun `json:"data"`
	}
	if err := s.Get(ctx, "/v1/runs", query, &page); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, page.Data)
	}
	var b strings.Builder
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range page.Data {
		words := r.Asked
		if r.WaitsFor != "" {
			words += "  → " + r.WaitsFor
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Kind, r.Status, r.Created.Local().Format(time.DateTime), words)
	}
	_ = tab.Flush() // into memory
	_, err := fmt.Fprint(in.out, harmless(b.String()))
	return err
}

// remoteQuestion is an open question.
type remoteQuestion struct {
	ID      string          `json:"interrupt_id"`
	RunID   string          `json:"run_id"`
	Type    string          `json:"interrupt_type"`
	Message string          `json:"message"`
	Options []remoteOption  `json:"options"`
	Schema  json.RawMessage `json:"answer_schema,omitempty"`
	PatchID int64           `json:"patch_id,omitempty"`
	Asked   string          `json:"asked,omitempty"`
}

type remoteOption struct {
	ID    string `json:"id"`
	Label string `json:"label"`
}

// openQuestions are the questions there are to answer; those of proposed changes are
// decided as patches.
func openQuestions(ctx context.Context, s *remote.Server) ([]remoteQuestion, error) {
	all, err := remote.All[remoteQuestion](ctx, s, "/v1/interrupts", nil)
	return slices.DeleteFunc(all, func(q remoteQuestion) bool { return q.PatchID != 0 }), err
}

func (o *runsOptions) questions(ctx context.Context, in *invocation, s *remote.Server) error {
	list, err := openQuestions(ctx, s)
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, list)
	}
	var b strings.Builder
	for _, q := range list {
		q.print(&b)
	}
	if len(list) == 0 {
		b.WriteString("nothing waits for you\n")
	}
	_, err = fmt.Fprint(in.out, harmless(b.String()))
	return err
}

func (q remoteQuestion) print(b *strings.Builder) {
	fmt.Fprintf(b, "%s  %s\n", q.ID, q.Message)
	if q.Asked != "" {
		fmt.Fprintf(b, "    asked by: %s\n", q.Asked)
	}
	for _, option := range q.Options {
		fmt.Fprintf(b, "    %s  %s\n", option.ID, option.Label)
	}
	if len(q.Options) == 0 {
		q.field().print(b, "")
	}
}

// answer finds the question and gives what was said; nothing said skips it.
func (o *runsOptions) answer(ctx context.Context, in *invocation, s *remote.Server, id string, said []string) error {
	list, err := openQuestions(ctx, s)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(q remoteQuestion) bool { return !strings.HasPrefix(q.ID, strings.ToLower(id)) })
	switch len(list) {
	case 0:
		return fmt.Errorf("no open question of yours has the ID %s; liminald runs questions shows them", id)
	case 1:
	default:
		return fmt.Errorf("%d open questions begin with %s: write more of the ID", len(list), id)
	}
	q := list[0]
	value := map[string]any{"type": "cancel", "value": nil}
	if len(said) > 0 {
		answer, err := q.value(said)
		if err != nil {
			return usageError{err}
		}
		value = map[string]any{"type": q.Type, "value": answer}
	}
	var resumed struct {
		RunID string `json:"run_id"`
	}
	if err := s.Post(ctx, "/v1/chat/resume", map[string]any{"interrupt_id": q.ID, "resume_value": value}, &resumed); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, resumed)
	}
	_, err = fmt.Fprintf(in.out, "run %s goes on\n", resumed.RunID)
	return err
}
