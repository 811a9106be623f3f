package store

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"liminal/internal/run"
)

// hashed is the trace of a run without words (GRND-30): which steps it took and
// which tools it called, how long each took and how it ended; of what was given
// and what came back, the hash. What cannot be read is left out.
func hashed(trace json.RawMessage) json.RawMessage {
	var t run.Trace
	if len(trace) == 0 || json.Unmarshal(trace, &t) != nil {
		return nil
	}
	t.Routing = nil
	for i := range t.Steps {
		s := &t.Steps[i]
		s.Detail, s.Values = traceHash([]byte(s.Detail)), nil
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		c.Args, c.Result, c.Error = hashOfJSON(c.Args), hashOfJSON(c.Result), traceHash([]byte(c.Error))
	}
	doc, err := json.Marshal(t)
	if err != nil {
		return nil
	}
	return doc
}

// traceHash is empty for what is empty.
func traceHash(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func hashOfJSON(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return nil
	}
	raw, _ := json.Marshal(map[string]string{"sha256": traceHash(doc)[len("sha256:"):]}) // of strings
	return raw
}
