package extractive_test

import (
	"encoding/json"
	"strings"
	"testing"

	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/model/modeltest"
)

// licence is one of two texts that are called otherwise than their files.
func licence(id, title, file, heading, text string) (model.Block, string) {
	raw, _ := json.Marshal(map[string]string{"id": id, "title": title, "file": file})
	source := &model.Source{DocumentID: id, Title: title, Path: file, Heading: heading, End: len(text)}
	return model.Block{Type: model.Passage, Text: text, Source: source}, string(raw)
}

func compared(t *testing.T, question string) string {
	t.Helper()
	a, one := licence("a", "GENERAL LICENSE, Version 2", "GPL-2.txt", "4. Rights", "Any attempt otherwise will terminate your rights. A fee may be charged.")
	b, two := licence("b", "GENERAL LICENSE, Version 3", "GPL-3.txt", "8. Termination", "Termination of your rights ends nothing for others. A fee is due.")
	req := user(model.Frame("documents", one+"\n"+two) + "\n\n" + question)
	req.Task = extractive.TaskCompare
	req.Messages[0].Content = append([]model.Block{a, b}, req.Messages[0].Content...)
	return modeltest.Text(modeltest.Play(t, extractive.Model{}, req))
}

func TestTheNamesOfDocumentsAreNoThemes(t *testing.T) {
	t.Parallel()
	for question, theme := range map[string]string{
		"Compare GPL-2 and GPL-3 on termination":                     "### termination\n",
		"compare gplv2 with the gplv3 regarding termination":         "### termination\n",
		"Which one is stricter about termination?":                   "### termination\n",
		"Compare the general license version 2 and GPL-3 on the fee": "### fee\n",
	} {
		said := compared(t, question)
		if strings.Count(said, "###") != 1 || !strings.Contains(said, theme) || strings.Contains(said, "nothing found") {
			t.Errorf("%s:\n%s", question, said)
		}
	}
	if said := compared(t, "Compare the GPLs"); strings.Contains(said, "### GPL") || strings.Contains(said, "nothing found") {
		t.Errorf("without a theme:\n%s", said)
	}
}

func TestThanksAreAnsweredLikeThanks(t *testing.T) {
	t.Parallel()
	for message, answer := range map[string]string{"thanks!": "You are welcome", "ok great, thank you": "You are welcome", "bye": "Goodbye", "hello": "Hello."} {
		if said := modeltest.Text(modeltest.Play(t, extractive.Model{}, user(message))); !strings.HasPrefix(said, answer) {
			t.Errorf("%s: %s", message, said)
		}
	}
}

// Requirements: PREF-02
func TestAnOpinionIsNotTakenForAQuestion(t *testing.T) {
	t.Parallel()
	for message, answer := range map[string]string{
		"I like this answer": "Good to hear", "That wasn’t helpful.": "Understood", "Die Antwort gefällt mir sehr": "Good to hear", "Please never do that again": "Understood",
	} {
		said := modeltest.Text(modeltest.Play(t, extractive.Model{}, user(message)))
		if !strings.HasPrefix(said, answer) {
			t.Errorf("%s: %s", message, said)
		}
	}
	// What is asked beside it is asked.
	said := modeltest.Text(modeltest.Play(t, extractive.Model{}, user("I like this answer. Which licence permits selling copies?")))
	if strings.HasPrefix(said, "Good to hear") {
		t.Error(said)
	}
}

func TestAShortStatementIsCheckedToo(t *testing.T) {
	t.Parallel()
	text := "The program comes without any warranty, to the extent the law permits."
	req := user(model.Frame("source_text", "Dear customer, please note:\n\nThere is no warranty.\n\nBest regards\n\nIs this in line with our ?") + "\n\nAudit this")
	req.Task = extractive.TaskCheck
	req.Messages[0].Content = append([]model.Block{{Type: model.Passage, Text: text, Source: &model.Source{DocumentID: "a", Title: "Terms", End: len(text)}}}, req.Messages[0].Content...)
	said := modeltest.Text(modeltest.Play(t, extractive.Model{}, req))
	if !strings.Contains(said, "1 of 1 sentences") || !strings.Contains(said, "without any warranty") {
		t.Error(said)
	}
}
