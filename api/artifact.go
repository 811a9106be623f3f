package api

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/check"
	"liminal/internal/fault"
	"liminal/internal/quota"
)

func (s *server) artifactRoutes() {
	add(s, route("POST /v1/artifacts", "createArtifact", "A new workflow, policy, tool or adapter", scopeArtifacts), s.createArtifact)
	add(s, route("GET /v1/artifacts", "listArtifacts", "The artifacts I may use", scopeArtifacts, scopeRead), s.listArtifacts)
	add(s, route("GET /v1/artifacts/{id}", "artifact", "An artifact at its current version", scopeArtifacts, scopeRead), s.artifact)
	add(s, route("PATCH /v1/artifacts/{id}", "patchArtifact", "A new version by JSON Patch (RFC 6902)", scopeArtifacts), s.patchArtifact)
	add(s, route("GET /v1/artifacts/{id}/versions", "listVersions", "All versions of an artifact", scopeArtifacts, scopeRead), s.listVersions)
	add(s, route("POST /v1/artifacts/{id}/versions/{n}/restore", "restoreVersion", "An earlier version's document as the next version", scopeArtifacts), s.restoreVersion)
	add(s, route("GET /v1/schemas/{kind}", "schema", "The JSON Schema that documents of a kind follow", scopeArtifacts, scopeRead), s.schema)
	add(s, route("POST /v1/artifacts/validate", "validateArtifact", "Check a document; every fault at once", scopeArtifacts), s.validateArtifact)
}

// Artifact is behaviour as data, at its current version.
type Artifact struct {
	ID          string         `json:"id" format:"uuid"`
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Visibility  string         `json:"visibility" enum:"private,shared,global"`
	Status      string         `json:"status" enum:"active,draft" doc:"a draft waits for the patch that makes it, and cannot be used"`
	Version     int            `json:"version"`
	Schema      Object         `json:"schema" doc:"its document"`
	OwnerID     *string        `json:"owner_id" nullable:"true"`
	Opened      bool           `json:"opened" doc:"another person's that I may write versions of"`
	CreatedBy   string         `json:"created_by" enum:"system,user,llm"`
	FSPath      string         `json:"fs_path,omitempty"`
	Meta        map[string]any `json:"meta,omitempty"`
	CreatedAt   time.Time      `json:"created_at"`
	UpdatedAt   time.Time      `json:"updated_at"`

	Rollout Nullable[artifacts.Rollout] `json:"rollout" doc:"how far the current version is rolled out; null: every new run takes it"`
}

func artifactView(a artifacts.Artifact) Artifact {
	out := Artifact{
		ID: a.ID, Type: a.Type, Name: a.Name, Description: a.Description, Visibility: a.Visibility, Status: "active", Version: a.Version, Opened: a.Opened,
		Schema: Object(a.Schema), CreatedBy: a.CreatedBy, FSPath: a.FSPath, Meta: a.Meta, CreatedAt: a.CreatedAt.UTC(), UpdatedAt: a.UpdatedAt.UTC(),
		Rollout: Nullable[artifacts.Rollout]{a.Rollout},
	}
	if a.OwnerID != "" {
		out.OwnerID = &a.OwnerID
	}
	if a.IsDraft() {
		out.Status = "draft"
	}
	return out
}

// Object is a JSON object that is checked elsewhere.
type Object json.RawMessage

// UnmarshalJSON keeps the bytes.
func (o *Object) UnmarshalJSON(b []byte) error { return (*json.RawMessage)(o).UnmarshalJSON(b) }

// MarshalJSON gives them back.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// Schema says no more than that it is an object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: "object", AdditionalProperties: true}
}

// NewArtifact is an artifact to be (ART-02).
type NewArtifact struct {
	Type        string `json:"type" minLength:"1" doc:"workflow, policy, tool, adapter, or a kind in full"`
	Name        string `json:"name" minLength:"1"`
	Description string `json:"description,omitempty"`
	Visibility  string `json:"visibility,omitempty" enum:"private,shared,global"`
	Schema      Object `json:"schema"`
	FSPath      string `json:"fs_path,omitempty"`
	ChangeNote  string `json:"change_note,omitempty"`
}

func (n NewArtifact) draft() artifacts.Draft {
	return artifacts.Draft{
		Type: n.Type, Name: n.Name, Description: n.Description,
		Visibility: n.Visibility, Schema: json.RawMessage(n.Schema), FSPath: n.FSPath, Note: n.ChangeNote,
	}
}

type createArtifactInput struct {
	Key  string `header:"Idempotency-Key"`
	Body NewArtifact
}

func (s *server) createArtifact(ctx context.Context, in *createArtifactInput) (Artifact, error) {
	b := in.Body
	a, _, err := once(ctx, s, quota.Key{Route: "POST /v1/artifacts", Key: in.Key}, b, func(ctx context.Context) (Artifact, error) {
		v := viewerOf(ctx)
		if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
			return Artifact{}, err
		}
		a, err := s.Artifacts.Create(ctx, v, b.draft())
		return artifactView(a), err
	})
	return a, err
}

type listArtifactsInput struct {
	Paged
	Type       string `query:"type" doc:"workflow, policy, tool, adapter, or a kind in full"`
	Visibility string `query:"visibility" enum:"private,shared,global"`
	Status     string `query:"status" enum:"active,draft"`
}

func (s *server) listArtifacts(ctx context.Context, in *listArtifactsInput) (Page[Artifact], error) {
	list, next, err := s.Artifacts.List(ctx, viewerOf(ctx), artifacts.Filter{
		Type: in.Type, Visibility: in.Visibility, Status: in.Status, Shared: true, Cursor: in.Cursor, Limit: in.Limit,
	})
	return page(list, next, artifactView), err
}

func (s *server) artifact(ctx context.Context, in *ByID) (Artifact, error) {
	a, err := s.Artifacts.Get(ctx, viewerOf(ctx), in.ID)
	return artifactView(a), err
}

// PatchBody is a JSON Patch by itself, or with the version it is for.
type PatchBody struct {
	Patch       json.RawMessage `json:"patch"`
	BaseVersion int             `json:"base_version,omitempty"`
	ChangeNote  string          `json:"change_note,omitempty"`
}

// UnmarshalJSON reads both forms.
func (p *PatchBody) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		p.Patch = bytes.Clone(b)
		return nil
	}
	type plain PatchBody
	return json.Unmarshal(b, (*plain)(p))
}

// Schema describes both forms.
func (PatchBody) Schema(huma.Registry) *huma.Schema {
	patch := &huma.Schema{Type: "array", Items: &huma.Schema{Type: "object", AdditionalProperties: true}}
	form := &huma.Schema{Type: "object", Required: []string{"patch"}, AdditionalProperties: true, Properties: map[string]*huma.Schema{
		"patch": patch, "base_version": {Type: "integer"}, "change_note": {Type: "string"},
	}}
	form.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{patch, form}}
}

type patchInput struct {
	ByID
	Body PatchBody `contentType:"application/json"`
}

func (s *server) patchArtifact(ctx context.Context, in *patchInput) (Artifact, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return Artifact{}, err
	}
	a, err := s.Artifacts.Patch(ctx, v, in.ID, artifacts.Change{Patch: in.Body.Patch, Base: in.Body.BaseVersion, Note: in.Body.ChangeNote})
	return artifactView(a), err
}

// Version is one immutable version of an artifact (ART-06).
type Version struct {
	Version    int             `json:"version"`
	Schema     Object          `json:"schema" doc:"the document"`
	CreatedBy  string          `json:"created_by"`
	ChangeNote string          `json:"change_note"`
	Said       *fault.Sentence `json:"said,omitempty" doc:"the note taken apart, for who says it in another language; missing: a person wrote it"`
	Why        []Remark        `json:"why" doc:"why the proposal was made that made it, sentence by sentence; empty: its note is all there is"`
	CreatedAt  time.Time       `json:"created_at"`
}

func (s *server) listVersions(ctx context.Context, in *ByID) (Page[Version], error) {
	list, err := s.Artifacts.Versions(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return Page[Version]{}, err
	}
	made, err := s.changesOf(ctx, viewerOf(ctx), in.ID)
	return page(list, "", func(v artifacts.Version) Version {
		return Version{
			Version: v.Version, Schema: Object(v.Schema), CreatedBy: v.CreatedBy, ChangeNote: v.ChangeNote,
			Said: artifacts.NoteSaid(v.ChangeNote), Why: whyOf(made[v.Version].found), CreatedAt: v.CreatedAt.UTC(),
		}
	}), err
}

type restoreInput struct {
	ByID
	Version int     `path:"n" minimum:"1"`
	Body    *Reason `required:"false"`
}

// restoreVersion goes back by going on: versions are never taken away (ART-07).
func (s *server) restoreVersion(ctx context.Context, in *restoreInput) (Artifact, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return Artifact{}, err
	}
	a, err := s.Shapes.Rollback(ctx, v, in.ID, in.Version, value(in.Body).Reason)
	return artifactView(a), err
}

type schemaInput struct {
	Kind string `path:"kind" maxLength:"64" doc:"workflow, policy, tool, adapter, or a kind in full"`
}

// schema is for who writes documents: an editor completes and explains by it.
func (s *server) schema(_ context.Context, in *schemaInput) (Object, error) {
	source, known := s.Shapes.Kinds().Source(artifacts.Kind(in.Kind))
	if !known {
		return nil, fault.New(fault.NotFound, "There is no kind %q; there are %s.", in.Kind, list(s.Shapes.Kinds().Kinds()))
	}
	return Object(source), nil
}

type validateInput struct {
	Body struct {
		Type   string `json:"type" minLength:"1"`
		Schema Object `json:"schema"`
	}
}

// Validated is the verdict on a document.
type Validated struct {
	Valid    bool                        `json:"valid"`
	Message  string                      `json:"message,omitempty"`
	Problems As[Nullable[[]check.Fault]] `json:"problems" doc:"null when there are none"`
	Warnings []check.Fault               `json:"warnings,omitempty" doc:"what a valid document hardly means; it is accepted all the same"`
}

// validateArtifact finds faults without failing: that a document is wrong is
// the answer to the question.
func (s *server) validateArtifact(ctx context.Context, in *validateInput) (Validated, error) {
	v, kind, doc := viewerOf(ctx), artifacts.Kind(in.Body.Type), json.RawMessage(in.Body.Schema)
	err := s.Artifacts.Check(ctx, v, kind, doc)
	if err == nil {
		warnings, err := s.Artifacts.Warnings(ctx, v, kind, doc)
		return Validated{Valid: err == nil, Warnings: warnings}, err
	}
	if fault.CodeOf(err) != fault.Invalid {
		return Validated{}, err
	}
	f := fault.From(err)
	return Validated{Message: f.Message, Problems: As[Nullable[[]check.Fault]]{f.Details}}, nil
}
