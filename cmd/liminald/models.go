package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"liminal/internal/config"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/kernels"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/serve"
	"liminal/internal/model"
	"liminal/internal/model/local"
	"liminal/internal/wire"
)

func modelsCommand() command {
	return command{
		name:    "models",
		takes:   "list|check [NAME|FOLDER]|make [NAME]",
		summary: "list, check and make the language models that run in this process",
		about: `
MODEL_BACKEND=local_lora answers with a small model in shared/models of the data
folder: Llama, Mistral or Qwen2, in float32 or bfloat16, as Hugging Face saves
them (config.json, model.safetensors or its shards, tokenizer.json). Nothing is
ever downloaded: put the folder there yourself.

"list" shows what stands there. "check" reads one, its tokenizer and its
template, lets it answer a question, and says how many tokens a second it reads
and writes; without NAME it checks the one that would be used.

"make" trains base_lm_v1, or NAME, from nothing: a model of a million numbers
that describes two dozen things and keeps to the form it is asked for (short, a
list, in German, …). It takes some minutes on two cores. It is there to try
adapters with and to show that everything works without a key; it knows nothing
else, and says so. Texts of --texts, by default ./docs where there is one, teach
it words.`,
		examples: []string{
			"liminald models list",
			"liminald models make && MODEL_BACKEND=local_lora liminald dev",
			"liminald models check SmolLM2-135M-Instruct",
			"liminald models make little --steps 200 --texts notes",
		},
		settings: []string{"data"},
		flags: func(fs *flag.FlagSet) any {
			o := &modelsFlags{}
			fs.BoolVar(&o.json, "json", false, "print JSON for machines (list and check)")
			fs.IntVar(&o.steps, "steps", 800, "steps of make, 20 texts each")
			fs.Uint64Var(&o.seed, "seed", 1, "what make begins with: the same makes the same model")
			fs.StringVar(&o.texts, "texts", "", "folder of .md and .txt files that make reads (default ./docs)")
			return o
		},
		run: runModels,
	}
}

type modelsFlags struct {
	json  bool
	steps int
	seed  uint64
	texts string
}

func runModels(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	o := in.own.(*modelsFlags)
	if len(in.args) == 0 || len(in.args) > 2 {
		return usageError{errors.New("say what to do: list, check or make")}
	}
	name := strings.Join(in.args[1:], "")
	switch in.args[0] {
	case "list":
		if name != "" {
			return usageError{fmt.Errorf("list takes no name; liminald models check %s looks at one", name)}
		}
		return listModels(in, conf, o.json)
	case "check":
		return checkLocal(ctx, in, conf, name, o.json)
	case "make":
		return makeModel(ctx, in, conf, name, o)
	}
	return usageError{fmt.Errorf("%q is not list, check or make", in.args[0])}
}

// localModel is what list says of a folder.
type localModel struct {
	Name       string `json:"name"`
	Used       bool   `json:"used"` // MODEL_BACKEND=local_lora answers with it
	Family     string `json:"family,omitempty"`
	Parameters int    `json:"parameters,omitempty"`
	Context    int    `json:"context,omitempty"`
	Bytes      int64  `json:"bytes,omitempty"` // of its weights, on the disk
	Problem    string `json:"problem,omitempty"`
}

func listModels(in *invocation, conf config.Config, asJSON bool) error {
	names, err := wire.LocalModels(conf.ModelsDir())
	if err != nil {
		return err
	}
	used, _ := wire.LocalModel(conf) // which of several is used may be undecided
	list := []localModel{}
	for _, name := range names {
		list = append(list, describe(filepath.Join(conf.ModelsDir(), name), filepath.Join(conf.ModelsDir(), name) == used))
	}
	if asJSON {
		return writeJSON(in.out, list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintf(in.out, "%s holds no language model: put the folder of one there, or make a small one with: liminald models make\n", conf.ModelsDir())
		return err
	}
	tab := tabwriter.NewWriter(in.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "MODEL\tFAMILY\tPARAMETERS\tCONTEXT\tON DISK\t\n")
	for _, m := range list {
		note := m.Problem
		if m.Used && note == "" {
			note = "answers with MODEL_BACKEND=local_lora"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%d\t%s\t%s\n", m.Name, m.Family, rounded(m.Parameters), m.Context, sizeOf(m.Bytes), note)
	}
	return tab.Flush()
}

func describe(dir string, used bool) localModel {
	m := localModel{Name: filepath.Base(dir), Used: used}
	c, err := llm.ReadConfig(dir)
	if err != nil {
		m.Problem = err.Error()
		return m
	}
	m.Family, m.Parameters, m.Context = c.Family, c.Parameters(), c.Context
	files, err := llm.Files(dir)
	if err != nil {
		m.Problem = err.Error()
	}
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			m.Bytes += info.Size()
		}
	}
	return m
}

// rounded is a number in thousands or millions.
func rounded(n int) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1fB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1e3)
}

func sizeOf(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }

// checkedModel is what check found.
type checkedModel struct {
	localModel
	Kernels  string  `json:"kernels"` // the instructions it computes with
	Tokens   int     `json:"vocabulary"`
	Template string  `json:"template"`
	Question string  `json:"question"`
	Answer   string  `json:"answer"`
	Ended    string  `json:"ended"`
	Read     float64 `json:"read_tokens_a_second"`
	Written  float64 `json:"written_tokens_a_second"`
	Opening  float64 `json:"opening_seconds"`
}

const checkQuestion = "What is a kettle?"

func checkLocal(ctx context.Context, in *invocation, conf config.Config, name string, asJSON bool) error {
	dir, err := checkedFolder(conf, name)
	if err != nil {
		return err
	}
	began := time.Now()
	f, err := serve.Open(dir)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	found := checkedModel{
		localModel: describe(dir, false), Kernels: kernels.Current().String(), Tokens: f.Tokens.Size(), Template: f.Template.Name,
		Question: checkQuestion, Opening: time.Since(began).Seconds(),
	}
	if err := f.Model.Close(); err != nil {
		return err
	}
	if err := found.ask(ctx, dir); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(in.out, found)
	}
	_, err = fmt.Fprintf(in.out, `%s: %s, %s parameters, reads %d tokens, %s on disk, opened in %.1f s
tokenizer: %d tokens; dialogues are written as %s
computes with: %s
asked:     %s
answered:  %s
           (%s; %.0f tokens a second read, %.0f written)
`, found.Name, found.Family, rounded(found.Parameters), found.Context, sizeOf(found.Bytes), found.Opening,
		found.Tokens, found.Template, found.Kernels, found.Question, strings.ReplaceAll(found.Answer, "\n", "\n           "), found.Ended, found.Read, found.Written)
	return err
}

// checkedFolder is the folder that is named, by its place or as in
// LIMINAL_MODEL; else the one that would be used.
func checkedFolder(conf config.Config, name string) (string, error) {
	if name != "" && serve.IsModel(name) {
		return name, nil
	}
	if name != "" {
		conf.Model.Name = name
	}
	dir, err := wire.LocalModel(conf)
	switch {
	case err != nil && name != "":
		return "", fmt.Errorf("neither %s nor a folder of that name in %s holds a language model; liminald models list shows those there are", name, conf.ModelsDir())
	case err != nil:
		return "", err
	case dir == "":
		return "", fmt.Errorf("%s holds no language model: put the folder of one there, or make a small one with: liminald models make", conf.ModelsDir())
	}
	return dir, nil
}

// ask asks the model a question, as a chat does.
func (c *checkedModel) ask(ctx context.Context, dir string) error {
	m, err := local.Open(local.Options{Dir: dir, Seed: func() uint64 { return 1 }})
	if err != nil {
		return err
	}
	cold := 0.0
	req := model.Request{
		System: "You are a helpful assistant.", MaxTokens: 64, Temperature: &cold,
		Messages: []model.Message{{Role: model.User, Content: []model.Block{{Type: model.Text, Text: c.Question}}}},
	}
	began := time.Now()
	var first time.Time
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return err
		}
		switch e.Type {
		case model.TextDelta:
			if first.IsZero() {
				first = time.Now()
			}
			c.Answer += e.Text
		case model.UsageReport:
			if first.IsZero() {
				first = time.Now()
			}
			c.Read = float64(e.Usage.Input) / first.Sub(began).Seconds()
			c.Written = float64(max(e.Usage.Output-1, 0)) / max(time.Since(first).Seconds(), 1e-9)
		case model.Stop:
			c.Ended = map[model.StopReason]string{model.EndTurn: "ended by itself", model.MaxTokens: "cut off after 64 tokens"}[e.Reason]
		default:
		}
	}
	return m.Close()
}

func makeModel(ctx context.Context, in *invocation, conf config.Config, name string, o *modelsFlags) error {
	if name == "" {
		name = "base_lm_v1"
	}
	if strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, ".") {
		return usageError{fmt.Errorf("%q is no name of a folder", name)}
	}
	if o.steps < 1 || o.steps > 1_000_000 {
		return usageError{errors.New("--steps takes 1 to 1000000")}
	}
	texts, err := textsOf(o.texts)
	if err != nil {
		return err
	}
	plan := fit.Plan{
		Dir: filepath.Join(conf.ModelsDir(), name), Texts: texts, Shape: fit.BaseShape(), Steps: o.steps, Batch: 20, Seed: o.seed, Exams: 8,
		Told: func(p fit.Progress) { fmt.Fprintln(in.err, progressLine(p)) },
	}
	if _, err := os.Stat(plan.Dir); err == nil {
		return fmt.Errorf("%s is there already: remove it, or make one of another name", plan.Dir)
	}
	fmt.Fprintf(in.err, "making %s from nothing, with %d texts; it computes with %s\n", plan.Dir, len(texts), kernels.Current())
	made, err := fit.Make(ctx, plan)
	if err != nil {
		return fmt.Errorf("the model was not made: %w", err)
	}
	_, err = fmt.Fprintf(in.out, `%s: %s parameters in %s; loss %.3f, of other dialogues %.3f
it keeps to %.0f %% of wishes in words it was not taught; least to: %s
talk to it with: MODEL_BACKEND=local_lora LIMINAL_MODEL=%s liminald dev
`, plan.Dir, rounded(made.Parameters), made.Took.Round(time.Second), made.Loss, made.HeldOut, 100*made.Share(), made.Worst()[0], name)
	return err
}

func progressLine(p fit.Progress) string {
	line := fmt.Sprintf("step %d of %d  loss %.3f  %.0f tokens a second  %s left", p.Step, p.Of, p.Loss, p.Speed, p.Left.Round(time.Second))
	if p.HeldOut > 0 {
		line += fmt.Sprintf("  of other dialogues %.3f", p.HeldOut)
	}
	return line
}

// maxTexts bounds what make reads, in bytes.
const maxTexts = 16 << 20

// textsOf are the texts of a folder; of ./docs when none is named and there is
// one.
func textsOf(dir string) (texts []string, err error) {
	named := dir != ""
	if !named {
		dir = "docs"
	}
	size := 0
	for _, pattern := range []string{"*.md", "*.txt"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s cannot be read: %w", file, withoutPath(err))
			}
			if size += len(raw); size > maxTexts {
				return texts, nil
			}
			texts = append(texts, strings.ToValidUTF8(string(raw), "\uFFFD"))
		}
	}
	if named && len(texts) == 0 {
		return nil, fmt.Errorf("%s holds no .md or .txt file", dir)
	}
	return texts, nil
}
