package api

import (
	"encoding/json"

	"liminal/internal/adaptation"
	"liminal/internal/learning"
)

// Remark is a sentence of the server's about what was learnt or trained.
type Remark struct {
	Code string `json:"code" doc:"which sentence it is; docs/learning.md lists them"`
	Data Object `json:"data" doc:"its figures"`
	Text string `json:"text" doc:"the sentence in English"`
}

func remarkViews(list learning.Remarks) []Remark {
	return each(list, func(r learning.Remark) Remark {
		data, err := json.Marshal(orTable(r.Data))
		if err != nil { // they are numbers and names
			data = []byte("{}")
		}
		return Remark{Code: r.Code, Data: data, Text: r.Text}
	})
}

// whyOf is why a patch was proposed, sentence by sentence, where Found has it.
func whyOf(found json.RawMessage) []Remark {
	var f adaptation.Found
	if json.Unmarshal(found, &f) != nil { // nothing, or a person's
		return []Remark{}
	}
	return remarkViews(f.Why)
}
