package words

import (
	"encoding/json"
	"strings"
)

// Texts is a text in the languages it is written in, by two letters; "" stands for
// any. In JSON it is an object, or a string for that of every language.
type Texts map[string]string

// UnmarshalJSON takes a text for that of every language.
func (w *Texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*w = Texts{"": one}
		return nil
	}
	var many map[string]string
	err := json.Unmarshal(raw, &many)
	*w = many
	return err
}

// MarshalJSON is what UnmarshalJSON reads.
func (w Texts) MarshalJSON() ([]byte, error) {
	if one, ok := w[""]; ok {
		return json.Marshal(one)
	}
	return json.Marshal(map[string]string(w))
}

// In gives the text in a language, else in English, else any.
func (w Texts) In(locale string) string {
	if len(locale) >= 2 {
		if s, ok := w[strings.ToLower(locale[:2])]; ok {
			return s
		}
	}
	for _, key := range []string{"", "en", "de"} {
		if s, ok := w[key]; ok {
			return s
		}
	}
	for _, s := range w {
		return s
	}
	return ""
}
