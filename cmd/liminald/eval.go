package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"liminal/internal/embed"
	"liminal/internal/embed/bert"
	"liminal/internal/embed/remote"
	"liminal/internal/embed/static"
	"liminal/internal/eval"
	"liminal/internal/model"
	"liminal/internal/wire"
)

func evalCommand() command {
	return command{
		name:    "eval",
		takes:   "retrieval|answers|clusters|learning|grounding [DIR]",
		summary: "measure how well questions are answered, and what people say of answers is understood",
		about: `
Asks the questions of the sets in DIR (by default ./eval) and prints how often
the passage that answers is found first, among five and among ten, and the
mean of 1/rank: by words alone (BM25), by vectors alone, by both fused, and by
the search a person gets. "apart" is recall among five for the questions that
have no word in common with their passage. Of that search it also prints how
many questions it holds to be answerable: those of the set, and those of the
other sets, which these documents do not answer ("misled").

Every encoder that is given is measured: the hash default always, models in
folders with --static, and a server with --server and --model. Documents are
taken in as always, into a scratch database that is removed again. A set whose
texts are not on this machine is passed over with a notice.

With "answers" the questions of the sets in DIR (by default ./eval/manuals) are
asked as a person asks them who has no language model, through the tools of the
chat that answers from documents, with the last encoder that is given. Each
answer is one of: right (the first quote holds the passage), half (a later one
does, or a part of it), wrong (quoted as an answer, and none of it answers),
near (said to be unsure, and the closest passages answer), unsure (they do
not), refused, asked (back). --split asks one half of the questions, drawn by
--seed: tune with one and measure with the other. --each shows every answer
that was not right. With --reranker, the file docs/models.md names, they are asked
without it and with it.

With "clusters" the questions of simulated people are grouped into situations:
those of people who come back to six planted situations, with 8 to 40 questions
of each, and those of people who ask whatever the sets in DIR hold. It prints how
well the groups are the planted ones (adjusted Rand index), and how many clusters
are false: two thirds of what is in them is of no one situation, or, where
nothing was planted, of no one document. --seed draws the first person.

With "learning" simulated people judge answers to the questions of the set in DIR
(by default ./eval/manuals): each wants three things of twelve kinds, such as
short answers or a table, presses thumbs by that, one in ten the wrong way, and
sometimes says why or writes how it should have been. Lessons are derived from 20
answers and tried with 40 other questions. It prints the share of their wishes
that answers keep without lessons and with them, and how many lessons are none
of their wishes. The configured model answers (MODEL_BACKEND): about 40 calls a
person and 100 more. A stand-in that follows every lesson shows what is lost in
deriving them. --people says how many of each group, --each shows every one.

With "learning --weights MODEL" (base_lm_v1, which "liminald models make" makes, or
its folder) they judge that model's answers instead, each with two wishes of the
forms it knows, and weights of their own are trained from that too, by the steps of
the platform and judged by its gate. It prints the wishes that are kept where other
things are asked about in other words, before, with lessons (text), with weights and
with both, and what became of what they never wished for.

With "grounding" the sentences in DIR (by default ./eval/grounding) are held to
the results of tools they are about, as they are and with a date, a figure, an id
or a name changed, or one of another record. It prints how many of the changed
ones are caught, and how many of the others are called unsupported. --split
judges one half of them (tuned or kept, drawn by --seed 18), or the sets that
were written later: fresh, last, held, sealed, practice, draft, final, asked and
asked_kept; --each shows those judged wrongly. A sentence is read after the true ones before it, as the gate of an
agent reads an answer; --alone judges each by itself. With --check model the
configured model (MODEL_BACKEND) is asked about each sentence too, as an agent's
gate asks it (542 calls for asked_kept); with --check recorded the answers that a
language model gave once are taken, which are kept for asked_kept and final.`,
		examples: []string{
			"liminald eval retrieval",
			"liminald eval retrieval --static .cache/static-model",
			"liminald eval retrieval --server http://localhost:11434 --style ollama --model nomic-embed-text",
			"liminald eval retrieval my-questions --corpus spec=texts --json",
			"liminald eval answers --split kept --seed 1",
			"liminald eval clusters --seed 101",
			"liminald eval learning --people 5 --each",
			"liminald eval grounding --split last --each",
			"liminald eval grounding --split asked_kept --check recorded",
			"liminald eval learning --weights base_lm_v1 --json",
		},
		settings: []string{"data"},
		flags: func(fs *flag.FlagSet) any {
			o := &evalFlags{}
			fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of the table")
			fs.Var(&o.static, "static", "folder of a static model (model2vec); may be given several times")
			fs.Var(&o.corpora, "corpus", "NAME=FOLDER of texts a set names; may be given several times")
			fs.StringVar(&o.server, "server", "", "address of an embedding server; its key is LIMINAL_EMBED_KEY")
			fs.StringVar(&o.style, "style", "openai", "what the server speaks: openai or ollama")
			fs.StringVar(&o.model, "model", "", "model of the server")
			fs.StringVar(&o.split, "split", "", "half of the questions to ask for answers, or of the sentences to judge: tuned or kept (default all)")
			fs.Uint64Var(&o.seed, "seed", 1, "what draws the halves, or the first simulated person")
			fs.IntVar(&o.people, "people", 0, "simulated people of each group (default 10)")
			fs.StringVar(&o.reranker, "reranker", "", "file of the model that compares quotes by meaning")
			fs.StringVar(&o.weights, "weights", "", "model of models make, or its folder, that people's weights are trained for")
			fs.BoolVar(&o.alone, "alone", false, "with grounding: judge each sentence by itself, not after those before it")
			fs.StringVar(&o.check, "check", "", "with grounding: ask a model about each sentence too, model (the configured one) or recorded (answers that are kept)")
			fs.BoolVar(&o.each, "each", false, "show each answer that was not right, or each simulated person")
			return o
		},
		run: runEval,
	}
}

// several is a flag that may be given more than once.
type several []string

func (s *several) String() string { return strings.Join(*s, ",") }

// Set adds a value.
func (s *several) Set(text string) error {
	*s = append(*s, text)
	return nil
}

type evalFlags struct {
	json                 bool
	static, corpora      several
	server, style, model string
	split                string
	seed                 uint64
	people               int
	each                 bool
	alone                bool
	check                string
	reranker             string
	weights              string
}

func runEval(ctx context.Context, in *invocation) error {
	o := in.own.(*evalFlags)
	measured := []string{"retrieval", "answers", "clusters", "learning", "grounding"}
	if len(in.args) == 0 || len(in.args) > 2 || !slices.Contains(measured, in.args[0]) {
		return usageError{fmt.Errorf("what is measured is one of %s: liminald eval retrieval [DIR]", strings.Join(measured, ", "))}
	}
	if in.args[0] == "grounding" {
		return evalGrounding(ctx, in, o)
	}
	if o.split != eval.All && o.split != eval.Tuned && o.split != eval.Kept {
		return usageError{fmt.Errorf("--split takes %s or %s; %q is neither", eval.Tuned, eval.Kept, o.split)}
	}
	if o.weights != "" {
		return evalWeights(ctx, in, o)
	}
	places, err := o.places(ctx)
	if err != nil {
		return err
	}
	dir, load := "eval", eval.Load
	switch in.args[0] {
	case "answers", "learning":
		dir, load = "eval/manuals", eval.LoadAnswers
	case "clusters":
		load = eval.LoadAnswers
	}
	if len(in.args) == 2 {
		dir = in.args[1]
	}
	sets, notices, err := load(dir, places)
	if err != nil {
		return usageError{err}
	}
	for _, n := range notices {
		if _, err := fmt.Fprintln(in.err, n); err != nil {
			return err
		}
	}
	conf, err := in.config()
	if err != nil {
		return err
	}
	encoders, err := o.encoders(conf.Embed.Key)
	if err != nil {
		return usageError{err}
	}
	switch in.args[0] {
	case "answers":
		return evalAnswers(ctx, in, o, sets, encoders[len(encoders)-1])
	case "clusters":
		return evalClusters(ctx, in, o, sets, encoders[len(encoders)-1])
	case "learning":
		return evalLearning(ctx, in, o, sets, encoders[len(encoders)-1])
	}
	r, err := eval.Run(ctx, eval.Options{Sets: sets, Encoders: encoders, Progress: in.err})
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	return r.Print(in.out)
}

func evalAnswers(ctx context.Context, in *invocation, o *evalFlags, sets []eval.Set, e embed.Embedder) error {
	rerankers := []embed.Comparer{nil}
	if o.reranker != "" {
		m, err := bert.MiniLM.Open(o.reranker)
		if err != nil {
			return err
		}
		rerankers = append(rerankers, m)
	}
	var reports []eval.AnswerReport
	for _, m := range rerankers {
		r, err := eval.Answers(ctx, eval.AnswerOptions{Sets: sets, Encoder: e, Reranker: m, Part: o.split, Seed: o.seed, Progress: in.err})
		if err != nil {
			return err
		}
		reports = append(reports, r)
		if o.json {
			continue
		}
		if err := r.Print(in.out, o.each); err != nil {
			return err
		}
	}
	switch {
	case o.json && len(reports) == 1:
		return writeJSON(in.out, reports[0])
	case o.json:
		return writeJSON(in.out, reports)
	}
	return nil
}

func evalGrounding(ctx context.Context, in *invocation, o *evalFlags) error {
	dir := "eval/grounding"
	if len(in.args) == 2 {
		dir = in.args[1]
	}
	if parts := append([]string{eval.All, eval.Tuned, eval.Kept}, eval.GroundingSets()...); !slices.Contains(parts, o.split) {
		return usageError{fmt.Errorf("--split takes one of %s; %q is none", strings.Join(parts[1:], ", "), o.split)}
	}
	opts := eval.GroundingOptions{Dir: dir, Part: o.split, Seed: o.seed, Alone: o.alone}
	switch o.check {
	case "":
	case "recorded":
		var err error
		if opts.Check, err = eval.RecordedCheck(dir, o.split); err != nil {
			return usageError{err}
		}
	case "model":
		m, done, err := in.asked()
		if err != nil {
			return err
		}
		defer done()
		opts.Check = eval.CheckBy(ctx, m)
	default:
		return usageError{fmt.Errorf("--check takes model or recorded; %q is neither", o.check)}
	}
	r, err := eval.Grounding(opts)
	if err != nil {
		return usageError{err}
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	return r.Print(in.out, o.each)
}

func evalClusters(ctx context.Context, in *invocation, o *evalFlags, sets []eval.Set, e embed.Embedder) error {
	r, err := eval.Clusters(ctx, eval.ClusterOptions{Sets: sets, Encoder: e, Seed: int(o.seed), Seeds: o.people, People: o.people})
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	return r.Print(in.out)
}

func evalLearning(ctx context.Context, in *invocation, o *evalFlags, sets []eval.Set, e embed.Embedder) error {
	if len(sets) != 1 {
		return usageError{fmt.Errorf("people are simulated with one set of questions; there are %d", len(sets))}
	}
	m, done, err := in.asked()
	if err != nil {
		return err
	}
	defer done()
	r, err := eval.Learning(ctx, eval.LearningOptions{Set: sets[0], Encoder: e, Model: m, Seed: int(o.seed), People: o.people, Progress: in.err})
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	return r.Print(in.out, o.each)
}

// asked is the configured model; done ends what was started for it.
func (in *invocation) asked() (m model.Model, done func(), err error) {
	conf, err := in.config()
	if err != nil {
		return nil, nil, err
	}
	if m, err = wire.Model(conf.Model, in.logger(conf.Log)); err != nil {
		return nil, nil, err
	}
	return m, func() {
		if waits, ok := m.(io.Closer); ok { // a program that was started ahead
			_ = waits.Close() // it ends by itself as well
		}
	}, nil
}

func evalWeights(ctx context.Context, in *invocation, o *evalFlags) error {
	if in.args[0] != "learning" || len(in.args) > 1 {
		return usageError{errors.New("--weights goes with learning, without a folder of questions: liminald eval learning --weights base_lm_v1")}
	}
	conf, err := in.config()
	if err != nil {
		return err
	}
	dir, err := checkedFolder(conf, o.weights)
	if err != nil {
		return usageError{err}
	}
	r, err := eval.Weights(ctx, eval.WeightsOptions{Base: dir, Seed: int(o.seed), People: o.people, Progress: in.err})
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, r)
	}
	return r.Print(in.out, o.each)
}

// encoders are the hash default and those the flags name.
func (o *evalFlags) encoders(key string) ([]embed.Embedder, error) {
	out := []embed.Embedder{embed.Hash{}}
	for _, dir := range o.static {
		e, err := static.Open(dir)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if o.server == "" {
		return out, nil
	}
	e, err := remote.New(remote.Options{BaseURL: o.server, APIKey: key, Model: o.model, Style: remote.Style(o.style)})
	if err != nil {
		return nil, err
	}
	return append(out, e), nil
}

// places are the folders of corpora: those of the flags, and the Go toolchain's
// where there is one.
func (o *evalFlags) places(ctx context.Context) (map[string]string, error) {
	places := map[string]string{"goroot": goroot(ctx)}
	for _, text := range o.corpora {
		name, folder, ok := strings.Cut(text, "=")
		if !ok || name == "" || folder == "" {
			return nil, usageError{fmt.Errorf("--corpus takes NAME=FOLDER; %q is not that", text)}
		}
		places[name] = folder
	}
	return places, nil
}

// goroot is where the Go toolchain lies; "" when there is none.
func goroot(ctx context.Context) string {
	text, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
