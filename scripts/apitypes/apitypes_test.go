package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheClientsTypesAreThoseOfTheDocument(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(typesPath)))
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("%s is not what %s says (%v). Run: make api", typesPath, documentPath, err)
	}
}

func TestASchemaBecomesAType(t *testing.T) {
	t.Parallel()
	got, err := render([]byte(`{"paths": {
		"/v1/things/{id}": {"get": {
			"operationId": "thing", "summary": "One thing",
			"parameters": [
				{"in": "path", "name": "id", "required": true, "schema": {"type": "string"}},
				{"in": "query", "name": "sort-by", "schema": {"enum": ["a", "b"], "type": "string"}},
				{"in": "header", "name": "Idempotency-Key", "schema": {"type": "string"}}],
			"responses": {
				"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/EnvelopeThing"}}}},
				"404": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}}}}}},
		"/v1/things": {"post": {
			"operationId": "newThing",
			"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
			"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/EnvelopeThing"}}}}}},
			"put": {
			"operationId": "putThing",
			"requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}},
			"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/EnvelopeThing"}}}}}}},
		"/v1/stream": {"get": {"operationId": "follow", "responses": {"200": {"content": {"text/event-stream": {}}}}}}},
	"components": {"schemas": {
		"EnvelopeThing": {"type": "object", "properties": {
			"status": {"enum": ["ok"]}, "request_id": {"type": "string"}, "data": {"$ref": "#/components/schemas/Thing"}}},
		"Thing": {"type": "object", "description": "A thing.", "required": ["id", "kin"], "properties": {
			"id": {"type": "string", "description": "ends no */ comment"},
			"kin": {"type": "array", "items": {"anyOf": [{"$ref": "#/components/schemas/Thing"}, {"type": "null"}]}},
			"size": {"type": ["integer", "null"]},
			"any": {}, "open": {"type": "object", "additionalProperties": true},
			"counts": {"type": "object", "additionalProperties": {"type": "integer"}},
			"inner": {"type": "object", "properties": {"x": {"type": "boolean"}}}}},
		"Word": {"type": "object", "required": ["kind", "data"], "properties": {
			"kind": {"type": "string"}, "data": {}, "at": {"type": "integer"}}, "oneOf": [
			{"type": "object", "properties": {"kind": {"type": "string", "enum": ["a"]}, "data": {"type": "string"}}},
			{"type": "object", "properties": {"kind": {"type": "string", "enum": ["b"]}, "data": {"$ref": "#/components/schemas/Thing"}}}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `/** A thing. */
export interface Thing {
  any?: unknown;
  counts?: Record<string, number>;
  /** ends no *\/ comment */
  id: string;
  inner?: {
    x?: boolean;
  };
  kin: (Thing | null)[];
  open?: Record<string, unknown>;
  size?: number | null;
}

export type Word = {
  at?: number;
} & (
  | {
    data: string;
    kind: 'a';
  }
  | {
    data: Thing;
    kind: 'b';
  }
);

/** What every operation takes and gives. */
export interface Ops {
  newThing: {
    body?: Thing;
    data: Thing;
  };
  putThing: {
    body: Thing;
    data: Thing;
  };
  /** One thing */
  thing: {
    path: {
      id: string;
    };
    query: {
      'sort-by'?: 'a' | 'b';
    };
    data: Thing;
  };
}

/** Where every operation is. */
export const places: Record<keyof Ops, readonly [method: string, path: string]> = {
  newThing: ['POST', '/v1/things'],
  putThing: ['PUT', '/v1/things'],
  thing: ['GET', '/v1/things/{id}'],
};
`
	if text := strings.TrimPrefix(string(got), head); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
