package builtin_test

import (
	"context"
	"errors"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// jotter keeps what people say of answers; once it is in a message, not twice.
type jotter struct{ kept []learning.Feedback }

func (j *jotter) Record(_ context.Context, _ identity.Viewer, f learning.Feedback) (learning.Event, error) {
	for _, was := range j.kept {
		if was.HeardIn == f.HeardIn {
			return learning.Event{}, fault.New(fault.Conflict, "It is noted already.")
		}
	}
	j.kept = append(j.kept, f)
	return learning.Event{Signal: f.Signal}, nil
}

// praise is a conversation whose last message speaks of the answer before it.
func praise() memory {
	list := memory{spoken(1, "user", "What is a lemma?"), spoken(2, "assistant", "A small sentence."), spoken(3, "user", "Thanks, I like this approach. What next?")}
	for i := range list {
		list[i].ID = []string{"q", "a", "said"}[i]
	}
	return list
}

func listen(t *testing.T, history memory, j *jotter) (heard map[string]any) {
	t.Helper()
	p := builtin.Parts{History: history, Feedback: j}
	at := history[len(history)-1]
	about := inputs("conversation_id", "c", "message_id", at.ID, "upto_seq", float64(at.Seq))
	return must(t, p, "feedback.hear_v1", &tool.Call{Inputs: about})
}

// Requirements: PREF-02
func TestWhatAMessageSaysOfTheAnswerBeforeItIsNotedOnce(t *testing.T) {
	t.Parallel()
	j := &jotter{}
	heard := listen(t, praise(), j)
	if heard["heard"] != true || heard["signal"] != "like" || heard["answer_id"] != "a" || len(heard) != 3 {
		t.Fatalf("heard %v", heard)
	}
	say := func(signal, answer string) map[string]any {
		return must(t, builtin.Parts{History: praise(), Feedback: j}, "feedback.note_v1", &tool.Call{
			Inputs: inputs("conversation_id", "c", "message_id", "said", "upto_seq", 3.0, "signal", signal, "answer_id", answer),
		})
	}
	if say("dislike", "a")["noted"] != false || say("like", "q")["noted"] != false || len(j.kept) != 0 {
		t.Errorf("what was not said is noted: %+v", j.kept)
	}
	for range 2 {
		if say("like", "a")["noted"] != true {
			t.Error("it is not noted")
		}
	}
	want := learning.Feedback{ConversationID: "c", MessageID: "a", Signal: "like", Notes: "Thanks, I like this approach.", HeardIn: "said"}
	if len(j.kept) != 1 || j.kept[0] != want {
		t.Errorf("kept %+v", j.kept)
	}
}

// Requirements: PREF-02, PREF-03
func TestNothingIsHeardWhereNoAnswerIsToBeLearntFrom(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(memory) memory{
		"no answer stands before it":       func(m memory) memory { m[1].Role = "system"; return m },
		"the answer before it is withheld": func(m memory) memory { return memory{m[0], spoken(2, "user", "And?"), m[2]} },
		"another stands in its place": func(m memory) memory {
			m[1].Struct = new(chat.Content).Add(chat.Removed(m[1].Content, "rules", "recipe", "r", 0))
			return m
		},
		"its turn was worried about": func(m memory) memory {
			m[1].Meta = map[string]any{"safety": map[string]any{"risk": "med"}}
			return m
		},
		"it answers a question of the assistant's": func(m memory) memory { m[2].Meta = map[string]any{"interrupt_id": "i"}; return m },
		"it says nothing of the kind":              func(m memory) memory { m[2].Content = "What next?"; return m },
		"the assistant says it":                    func(m memory) memory { m[2].Role = "assistant"; return m },
	} {
		if heard := listen(t, change(praise()), &jotter{}); heard["heard"] != false {
			t.Errorf("%s: heard %v", name, heard)
		}
	}
	past := praise()
	past[1].Struct = new(chat.Content).Add(chat.Removed("A", "rules", "key", "r", 0)) // only a piece of it
	between := spoken(3, "system", "Which one?")
	past[2].Seq = 4
	if heard := listen(t, memory{past[0], past[1], between, past[2]}, &jotter{}); heard["heard"] != true {
		t.Errorf("past a notice: %v", heard)
	}
}

func TestFeedbackThatCannotBeKeptFailsItsStep(t *testing.T) {
	t.Parallel()
	_, err := run(t, builtin.Parts{History: praise(), Feedback: full{}}, "feedback.note_v1", &tool.Call{
		Inputs: inputs("conversation_id", "c", "message_id", "said", "upto_seq", 3.0, "signal", "like", "answer_id", "a"),
	})
	if !errors.Is(err, fault.Internal) {
		t.Errorf("%v", err)
	}
}

// full keeps nothing.
type full struct{}

func (full) Record(context.Context, identity.Viewer, learning.Feedback) (learning.Event, error) {
	return learning.Event{}, fault.New(fault.Internal, "There is no room.")
}
