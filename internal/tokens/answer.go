package tokens

// Answer is what an assistant says to a Prompt, in the tokens of k, with what
// ends it: the first of the template's stops that k has, else end, else, where
// end is -1, the words before which an answer ends. So a model is taught to
// answer.
func (t Template) Answer(k *Tokenizer, text string, end int) []int {
	lead := ""
	if t.Name == Plain.Name || t.Name == "llama-2" || t.Name == "mistral" {
		lead = " " // as between the names, or the marks, and what is said
	}
	if stops := t.Stops(k); len(stops) > 0 {
		end = stops[0]
	}
	if end >= 0 {
		return append(k.EncodeText(lead+text), end)
	}
	if len(t.Until) > 0 {
		return k.EncodeText(lead + text + t.Until[0])
	}
	return k.EncodeText(lead + text)
}
