package tokens

import (
	"fmt"
	"slices"
	"strings"
)

// Turn is what one side of a dialogue said.
type Turn struct {
	Role string // "system" (at most the first), "user" or "assistant"
	Text string
}

// Template is the way a family of models writes a dialogue. Models are shipped
// with it as a program (Jinja), which is not run here: the families are known by
// what stands in it.
type Template struct {
	Name string
	// Until are texts, not tokens, before which an answer ends.
	Until []string
	begin string   // a token at the beginning; "": none
	stops []string // tokens that end an answer
	marks []string // all of them stand in the program of this family
	trim  bool     // white space around what is said is left out
	inner bool     // there is no place for the system's words: they stand in the user's
	write func(b *builder, turns []Turn)
}

// Plain is for models that were not taught any dialogue: names before what is
// said.
var Plain = Template{
	Name: "plain", Until: []string{"\nUser:", "\nSystem:"}, trim: true,
	write: func(b *builder, turns []Turn) {
		for _, t := range turns {
			b.text(map[string]string{"system": "System: ", "user": "User: ", "assistant": "Assistant: "}[t.Role] + t.Text + "\n")
		}
		b.text("Assistant:")
	},
}

// templates are the families, those known by more first.
var templates = []Template{
	{
		Name: "llama-3", begin: "<|begin_of_text|>", stops: []string{"<|eot_id|>", "<|end_of_text|>"}, marks: []string{"<|start_header_id|>"}, trim: true,
		write: func(b *builder, turns []Turn) {
			for _, t := range append(turns, Turn{Role: "assistant"}) {
				b.mark("<|start_header_id|>")
				b.text(t.Role)
				b.mark("<|end_header_id|>")
				b.text("\n\n" + t.Text)
				b.mark("<|eot_id|>")
			}
			b.unsay("<|eot_id|>")
		},
	},
	{
		Name: "chatml", stops: []string{"<|im_end|>", "<|endoftext|>"}, marks: []string{"<|im_start|>"},
		write: func(b *builder, turns []Turn) {
			for _, t := range turns {
				b.mark("<|im_start|>")
				b.text(t.Role + "\n" + t.Text)
				b.mark("<|im_end|>")
				b.text("\n")
			}
			b.mark("<|im_start|>")
			b.text("assistant\n")
		},
	},
	{
		Name: "gemma", begin: "<bos>", stops: []string{"<end_of_turn>", "<eos>"}, marks: []string{"<start_of_turn>"}, trim: true, inner: true,
		write: func(b *builder, turns []Turn) {
			for _, t := range turns {
				b.mark("<start_of_turn>")
				b.text(map[string]string{"user": "user", "assistant": "model"}[t.Role] + "\n" + t.Text)
				b.mark("<end_of_turn>")
				b.text("\n")
			}
			b.mark("<start_of_turn>")
			b.text("model\n")
		},
	},
	{
		Name: "llama-2", begin: "<s>", stops: []string{"</s>"}, marks: []string{"[INST]", "<<SYS>>"}, trim: true,
		write: inst,
	},
	{
		Name: "mistral", begin: "<s>", stops: []string{"</s>"}, marks: []string{"[INST]"}, trim: true, inner: true,
		write: func(b *builder, turns []Turn) {
			for _, t := range turns {
				if t.Role == "user" {
					b.mark("[INST]")
					b.text(" " + t.Text + " ")
					b.mark("[/INST]")
					continue
				}
				b.text(t.Text)
				b.mark("</s>")
			}
		},
	},
	{
		Name: "zephyr", stops: []string{"</s>", "<|endoftext|>"}, marks: []string{"<|user|>", "<|assistant|>"},
		write: func(b *builder, turns []Turn) {
			for _, t := range turns {
				b.mark("<|" + t.Role + "|>")
				b.text("\n" + t.Text)
				b.mark(b.end)
				b.text("\n")
			}
			b.mark("<|assistant|>")
			b.text("\n")
		},
	},
}

// inst is the way of Llama 2.
func inst(b *builder, turns []Turn) {
	before, open := "", false
	for _, t := range turns {
		switch t.Role {
		case "system":
			before = "<<SYS>>\n" + t.Text + "\n<</SYS>>\n\n"
		case "user":
			if open {
				b.mark("<s>")
			}
			b.mark("[INST]")
			b.text(" " + before + t.Text + " ")
			b.mark("[/INST]")
			before, open = "", false
		default:
			b.text(" " + t.Text + " ")
			b.mark("</s>")
			open = true
		}
	}
}

// TemplateNamed is the family of that name; false: there is none.
func TemplateNamed(name string) (Template, bool) {
	i := slices.IndexFunc(templates, func(t Template) bool { return t.Name == name })
	if i < 0 {
		return Plain, name == Plain.Name
	}
	return templates[i], true
}

// TemplateOf knows the family of a chat_template; of an empty one it is Plain.
func TemplateOf(program string) (Template, error) {
	if strings.TrimSpace(program) == "" {
		return Plain, nil
	}
	for _, t := range templates {
		if !slices.ContainsFunc(t.marks, func(mark string) bool {
			return !strings.Contains(program, mark) && !strings.Contains(program, bare(mark))
		}) {
			return t, nil
		}
	}
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.Name
	}
	return Plain, fmt.Errorf("its chat template is of none of the families %s", strings.Join(names, ", "))
}

// bare is a mark as a program may put it together: '<|' + role + '|>' has no
// name in it.
func bare(mark string) string {
	if mark == "<|user|>" || mark == "<|assistant|>" {
		return "'<|' + message['role'] + '|>'"
	}
	return mark
}

// Prompt is a dialogue in the tokens of k, up to where the assistant's answer
// begins. What people said never becomes a token of the template.
func (t Template) Prompt(k *Tokenizer, turns []Turn) []int {
	b := &builder{k: k, end: "</s>"}
	if _, ok := k.ID("</s>"); !ok {
		b.end = "<|endoftext|>"
	}
	if t.begin != "" {
		b.mark(t.begin)
	}
	t.write(b, t.arranged(turns))
	b.flush()
	return b.ids
}

// Stops are the tokens of k that end an answer.
func (t Template) Stops(k *Tokenizer) []int {
	var ids []int
	for _, s := range t.stops {
		if id, ok := k.ID(s); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// arranged joins what one side said at a time, leaves out what is empty, and
// puts the system's words where the family has a place for them.
func (t Template) arranged(turns []Turn) []Turn {
	var out []Turn
	for _, turn := range turns {
		if t.trim {
			turn.Text = strings.TrimSpace(turn.Text)
		}
		switch last := len(out) - 1; {
		case turn.Text == "":
		case last >= 0 && out[last].Role == turn.Role:
			out[last].Text += "\n\n" + turn.Text
		case last == 0 && out[0].Role == "system" && t.inner:
			out[0] = Turn{turn.Role, out[0].Text + "\n\n" + turn.Text}
		default:
			out = append(out, turn)
		}
	}
	if len(out) > 0 && out[0].Role == "system" && t.inner {
		out[0].Role = "user"
	}
	return out
}

// builder puts a prompt together: text between two tokens of the template is
// cut as a whole.
type builder struct {
	k       *Tokenizer
	end     string
	ids     []int
	pending strings.Builder
}

func (b *builder) text(s string) { b.pending.WriteString(s) }

// mark adds a token of the template; where the tokenizer has none of that name
// it is text.
func (b *builder) mark(token string) {
	id, ok := b.k.ID(token)
	if !ok {
		b.text(token)
		return
	}
	b.flush()
	b.ids = append(b.ids, id)
}

func (b *builder) flush() {
	if b.pending.Len() > 0 {
		b.ids = append(b.ids, b.k.EncodeText(b.pending.String())...)
		b.pending.Reset()
	}
}

// unsay takes a token back that was just added.
func (b *builder) unsay(token string) {
	if id, ok := b.k.ID(token); ok && len(b.ids) > 0 && b.ids[len(b.ids)-1] == id && b.pending.Len() == 0 {
		b.ids = b.ids[:len(b.ids)-1]
	}
}
