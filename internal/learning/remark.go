package learning

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Remark is a sentence for people about what was learnt or trained. Code says
// which one it is and Data has its figures, so that who shows it can say it in
// another language than Text. None has a word of what anybody wrote.
type Remark struct {
	Code string         `json:"code"`
	Data map[string]any `json:"data,omitempty"`
	Text string         `json:"text"`
}

// Say makes a remark.
func Say(code string, data map[string]any, text string, args ...any) Remark {
	return Remark{Code: code, Data: data, Text: fmt.Sprintf(text, args...)}
}

// Remarks are what is said of one thing, in order.
type Remarks []Remark

// Cancelled is why a training ended that its person cancelled.
func Cancelled() Remark { return Say("cancelled", nil, "It was cancelled on your wish.") }

// String is what they say, for who shows text alone.
func (r Remarks) String() string {
	texts := make([]string, len(r))
	for i, one := range r {
		texts[i] = one.Text
	}
	return strings.Join(texts, " ")
}

// metaWhy is the member of a job's meta that has Job.Reason in remarks.
const metaWhy = "why"

// Because has the job wait again, or end as it did, for what the remarks say; none:
// there is nothing to say.
func (j *Job) Because(why Remarks) {
	meta := map[string]any{}
	for name, value := range j.Meta {
		meta[name] = value
	}
	j.Reason, meta[metaWhy] = why.String(), why
	if len(why) == 0 {
		delete(meta, metaWhy)
	}
	j.Meta = meta
}

// Why is Reason sentence by sentence; none where its text is all that is known.
func (j Job) Why() (list Remarks) {
	raw, err := json.Marshal(j.Meta[metaWhy])
	if err != nil || json.Unmarshal(raw, &list) != nil || list.String() != j.Reason {
		return nil
	}
	return list
}
