package artifacts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"liminal/internal/graph"
	"liminal/schemas"
)

// decider is the tool whose input "schema" is a JSON Schema: where a workflow
// says it outright, it is read when the workflow is written.
const decider = "llm.structured_v1"

// schemas checks the JSON Schemas that a workflow.chat holds. The graph takes
// them as data; what cannot be used is told here and not to whoever is asked.
func (c *checking) schemas() {
	var d struct {
		Input  json.RawMessage `json:"input_schema"`
		Output json.RawMessage `json:"output_schema"`
		Nodes  []struct {
			Answer json.RawMessage `json:"answer_schema"`
			Tool   string          `json:"tool"`
			Inputs struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"inputs"`
		} `json:"nodes"`
	}
	if json.Unmarshal(c.doc, &d) != nil {
		return // the schema of the kind has said so
	}
	c.schema("/input_schema", d.Input)
	c.schema("/output_schema", d.Output)
	for i, n := range d.Nodes {
		c.schema(fmt.Sprintf("/nodes/%d/answer_schema", i), inEnglish(n.Answer))
		if n.Tool == decider && !bytes.Contains(n.Inputs.Schema, []byte("${")) {
			c.schema(fmt.Sprintf("/nodes/%d/inputs/schema", i), n.Inputs.Schema)
		}
	}
}

// inEnglish is the schema of an answer as one language has it: by language, a
// title is no JSON Schema's. Nobody is asked with it as it is written.
func inEnglish(doc json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber() // some are too long for any other
	var v any
	if d.Decode(&v) != nil {
		return doc
	}
	raw, err := json.Marshal(graph.SchemaIn(v, "en"))
	if err != nil {
		return doc
	}
	return raw
}

// schema checks one, if it is there. What is no object the graph refuses.
func (c *checking) schema(path string, doc json.RawMessage) {
	if doc = bytes.TrimSpace(doc); !bytes.HasPrefix(doc, []byte("{")) {
		return
	}
	_, err := schemas.Compile(doc)
	if err == nil {
		return
	}
	faults, ok := errors.AsType[schemas.Faults](err)
	if !ok {
		faults = schemas.Faults{{Message: err.Error(), Hint: "write a JSON Schema of draft-07"}}
	}
	for i := range faults {
		faults[i].Path = path + faults[i].Path
	}
	c.merge(faults)
}
