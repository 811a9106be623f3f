package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The kinds of turn.
const (
	kindPlain    = "plain"    // an answer, word by word
	kindDirect   = "direct"   // the same for a client that waits for all of it
	kindStream   = "stream"   // the same for a client whose request streams the answer itself
	kindCut      = "cut"      // the model breaks off in the middle, once
	kindHang     = "hang"     // the model says half of it and then nothing
	kindCancel   = "cancel"   // the person stops it
	kindQueue    = "queue"    // said while the turn before still answers
	kindQuestion = "question" // the run asks back
	kindDocument = "document" // answered from an uploaded file
)

const (
	// lastWord ends every answer.
	lastWord = "That is all."
	// cuts is how many different answers break off; each does it once.
	cuts = 500
)

// gate is the file without which the model says nothing.
type gate string

func (g gate) open() error  { return os.WriteFile(string(g), nil, 0o600) }
func (g gate) close() error { return os.Remove(string(g)) }

// writeScript writes what the scripted model plays: slow answers that name
// their question, and their failures.
func writeScript(dir string) (path string, g gate, err error) {
	g = gate(filepath.Join(dir, "model-speaks"))
	if err := g.open(); err != nil {
		return "", g, err
	}
	words := spoken(g, 16)
	answers := []object{
		{"task": "answer", "steps": append([]object{{"echo": "mk-.*"}, {"text": ", it says: "}, {"echo": "codeword-[a-z0-9-]+"}, {"text": ". "}}, words...)},
		{"contains": "hang-now", "steps": append(spoken(g, 4)[:8], object{"hang": true})},
	}
	for i := range cuts {
		done := filepath.Join(dir, fmt.Sprintf("cut-%03d", i))
		answers = append(answers, object{
			"contains": fmt.Sprintf("cut-%03d.", i), "unless": done,
			"steps": []object{{"touch": done}, {"text": "Half an answ"}, {"pause": "100ms"}, {"error": object{"message": "connection reset by peer"}}},
		})
	}
	answers = append(answers,
		object{"task": "intent", "steps": []object{{"text": `{"intent":"qa_with_docs","confidence":1}`}}},
		object{"steps": append([]object{{"text": "About "}, {"echo": "mk-.*"}, {"text": ": "}}, words...)},
	)
	raw, err := json.Marshal(object{"name": "slow", "answers": answers})
	if err != nil {
		return "", g, err
	}
	path = filepath.Join(dir, "script.json")
	return path, g, os.WriteFile(path, raw, 0o600)
}

// spoken is n slow words and the last one.
func spoken(g gate, n int) (steps []object) {
	for i := range n {
		steps = append(steps, object{"text": fmt.Sprintf("word %d, ", i+1)}, object{"until": string(g)}, object{"pause": fmt.Sprintf("%dms", 60+i%3*40)})
	}
	return append(steps, object{"text": lastWord})
}

// graphs are the workflows the load runs, as a person would write them.
func graphs() map[string]object {
	say := func(inputs object) object {
		return object{
			"id": "say", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": inputs,
			"timeout_ms": 20_000, "max_retries": 3,
		}
	}
	plain := object{"kind": "workflow.chat", "entrypoint": "say", "nodes": []object{say(object{"message": "${input.message}"})}}
	hang := object{"kind": "workflow.chat", "entrypoint": "say", "nodes": []object{{
		"id": "say", "type": "tool_call", "tool": "llm.generic_chat_v1", "inputs": object{"message": "${input.message}"},
		"timeout_ms": 4_000, "max_retries": 3, "backoff_ms": 200,
	}}}
	question := object{"kind": "workflow.chat", "entrypoint": "ask", "nodes": []object{
		{"id": "ask", "type": "interrupt", "interrupt_type": "text_input", "message": "How exactly?", "save_as": "reply", "next": "say"},
		say(object{"message": "${input.message} ${vars.reply}"}),
	}}
	document := object{"kind": "workflow.chat", "entrypoint": "search", "nodes": []object{
		{
			"id": "search", "type": "tool_call", "tool": "rag.search_v1", "inputs": object{"question": "${input.message}"},
			"outputs": []string{"passages", "confidence"}, "max_retries": 3, "next": "say",
		},
		{
			"id": "say", "type": "tool_call", "tool": "rag.answer_with_context_v1", "timeout_ms": 20_000, "max_retries": 3,
			"inputs": object{"question": "${input.message}", "passages": "${vars.passages}", "confidence": "${vars.confidence}"},
		},
	}}
	return map[string]object{kindPlain: plain, kindHang: hang, kindQuestion: question, kindDocument: document}
}
