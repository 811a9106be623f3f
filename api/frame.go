package api

import (
	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/chat"
	"liminal/internal/graph"
	"liminal/internal/stream"
)

// frameName is the schema of a Frame in the document.
const frameName = "Frame"

// frameSchema documents a stream of frames.
func (s *server) frameSchema() *huma.Schema {
	kinds := []any{}
	for _, p := range stream.Payloads() {
		kinds = append(kinds, stream.KindOf(p))
	}
	return &huma.Schema{
		Type: "string", Description: "lines `id: <seq>`, `event: <kind>`, `data: {event, data, request_id, id, attempt, node, run_id}`; comments keep it open",
		Extensions: map[string]any{"x-event-kinds": append(kinds, pingKind), "x-frame": s.frame()},
	}
}

// frame refers to the schema of a Frame: what all frames have, and one form for
// each kind of event.
func (s *server) frame() *huma.Schema {
	all := s.huma.OpenAPI().Components.Schemas
	if all.Map()[frameName] == nil {
		frame := huma.SchemaFromType(all, typeOf(Frame{}))
		frame.Description = "one event of a run on its way, or a ping of the connection"
		for _, p := range stream.Payloads() {
			frame.OneOf = append(frame.OneOf, frameOfKind(stream.KindOf(p), payloadSchema(all, p)))
		}
		frame.OneOf = append(frame.OneOf, frameOfKind(pingKind, &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}))
		all.Map()[frameName] = frame
	}
	return &huma.Schema{Ref: "#/components/schemas/" + frameName}
}

// frameOfKind is the form of a frame of one kind.
func frameOfKind(kind stream.Kind, data *huma.Schema) *huma.Schema {
	f := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"event": {Type: huma.TypeString, Enum: []any{kind}}, "data": data,
	}}
	f.PrecomputeMessages()
	return f
}

// payloadSchema is the schema of a kind's data.
func payloadSchema(all huma.Registry, p stream.Payload) *huma.Schema {
	switch p.(type) {
	case stream.TraceData:
		return Trail{}.Schema(all)
	case stream.MessageDoneData, stream.CancelAckData:
		return withAnswer(all, all.Schema(typeOf(p), true, ""))
	case stream.RunError:
		// A socket answers a frame of a client that it refuses with an error too,
		// which is of no run and has details.
		return &huma.Schema{AnyOf: []*huma.Schema{all.Schema(typeOf(p), true, ""), all.Schema(typeOf(FailureReason{}), true, "")}}
	default:
		return all.Schema(typeOf(p), true, "")
	}
}

// withAnswer says what those fields of a stream.Answer hold that are JSON there,
// because their types are of packages above it.
func withAnswer(all huma.Registry, ref *huma.Schema) *huma.Schema {
	fields := all.SchemaFromRef(ref.Ref).Properties
	for name, held := range map[string]*huma.Schema{
		"content_struct": Nullable[chat.Content]{}.Schema(all),
		"citations":      all.Schema(typeOf([]chat.Citation{}), true, ""),
		"usage":          all.Schema(typeOf(stream.UsageData{}), true, ""),
		"workflow_trace": all.Schema(typeOf([]graph.Step{}), true, ""),
		"data":           Nullable[Object]{}.Schema(all),
	} {
		held.Description = fields[name].Description
		fields[name] = held
	}
	return ref
}
