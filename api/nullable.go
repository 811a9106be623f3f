package api

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// Nullable is an object that is written as null when there is none; clients
// can tell "nothing waits" from "this server does not say".
type Nullable[T any] struct{ V *T }

// MarshalJSON writes the object or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.V) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (n *Nullable[T]) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &n.V) }

// Schema is the object's, or null.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	var v T
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(typeOf(v), true, ""), {Type: "null"}}}
}
