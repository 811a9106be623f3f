package api

import "strconv"

// changeWalls is the part of the table for changes to behaviour, and for what
// was before.
var changeWalls = map[string]wall{
	"GET /v1/schemas/{kind}": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/schemas/workflow", nil), want: 200}}
	},
	"POST /v1/runs/{id}/rehearse": byID(func(of belongings) string { return of.run }, map[string]any{"schema": smallest}),
	"POST /v1/artifacts/{id}/versions/{n}/restore": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/v1/artifacts/"+of.artifact+"/versions/1/restore", nil), want: 404}}
	},
	"POST /v1/config/patches":       bodies404("/v1/config/patches", theirChanges),
	"POST /v1/config/propose_patch": bodies404("/v1/config/propose_patch", theirChanges),
	"POST /v1/config/patches/try":   bodies404("/v1/config/patches/try", theirChanges),
	"GET /v1/config/patches": func(p *person, of belongings) []attack {
		return []attack{
			{request: p.request("GET", "/v1/config/patches", nil), want: 200},
			{request: p.request("GET", "/v1/config/patches?artifact_id="+of.artifact, nil), want: 200},
		}
	},
	"GET /v1/config/patches/{id}":         byPatch(nil),
	"GET /v1/config/patches/{id}/watch":   byPatch(nil),
	"POST /v1/config/patches/{id}/decide": byPatch(map[string]any{"decision": "approve", "reason": "mine"}),
	"POST /v1/config/patches/{id}/apply":  byPatch(map[string]any{}),
	"POST /v1/config/apply": bodies404("/v1/config/apply", func(of belongings) []map[string]any {
		return []map[string]any{{"patch_id": of.patch}}
	}),
	"POST /v1/config/patches/{id}/rollback": byPatch(map[string]any{"reason": "mine"}),
	"POST /v1/config/patches/{id}/promote":  byPatch(nil),
	"POST /v1/config/patches/{id}/withdraw": byPatch(map[string]any{"reason": "mine"}),
	"POST /v1/config/patches/{id}/rebase":   byPatch(nil),
	"POST /v1/config/patches/{id}/rehearse": byPatch(map[string]any{}),
}

// byPatch is the wall of a route with a patch's id in its path.
func byPatch(body any) wall {
	return byID(func(of belongings) string { return strconv.FormatInt(of.patch, 10) }, body)
}

// theirChanges propose to change what is another's.
func theirChanges(of belongings) []map[string]any {
	ops := []any{map[string]any{"op": "add", "path": "/title", "value": "stolen"}}
	one := map[string]any{"artifact_id": of.artifact, "patch": ops}
	create := map[string]any{"create": map[string]any{"type": "workflow", "name": "mine", "schema": smallest}}
	return []map[string]any{
		{"artifact_id": of.artifact, "patch": ops, "justification": "mine"},
		{"artifact_id": of.named, "artifact_type": "workflow", "patch": ops, "justification": "mine"},
		{"changes": []any{create, one}, "justification": "mine"},
	}
}
