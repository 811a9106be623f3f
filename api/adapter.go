package api

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/artifacts"
	"liminal/internal/changes"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

func (s *server) adapterRoutes() {
	add(s, route("GET /v1/adapters", "listAdapters", "My adapters: what was learnt from what I said of answers", scopeRead), s.listAdapters)
	add(s, route("GET /v1/adapters/{id}", "adapter", "One of my adapters with its versions, what its gate found, its trial and its use", scopeRead), s.adapter)
	op := route("GET /v1/adapters/{id}/versions/{n}/peft", "exportAdapter", "The weights of one of my adapters as the folder that PEFT reads, zipped", scopeRead)
	op.Parameters = []*huma.Param{
		{Name: "id", In: "path", Required: true, Schema: &huma.Schema{Type: "string", Format: "uuid"}},
		{Name: "n", In: "path", Required: true, Description: "version of the weights", Schema: &huma.Schema{Type: "integer", Minimum: new(1.0)}},
	}
	s.handleHTTP(op, s.exportAdapter)
	s.answers(op, 200, "application/zip", "adapter_config.json, adapter_model.safetensors and params.json, as an attachment", &huma.Schema{Type: "string", Format: "binary"})
	s.comparisonRoutes()
}

// Adapter is one of a person's own, as a list shows it.
type Adapter struct {
	LearnedAdapter
	Situation string     `json:"situation" doc:"the name of the situation it is of; empty: of all answers, or it has none"`
	Weights   int        `json:"weights" doc:"version of the trained weights that all conversations will take; 0: it has text only"`
	Use       AdapterUse `json:"use"`
}

// AdapterUse is how an adapter has been used (ROUTE-13).
type AdapterUse struct {
	Runs   int64      `json:"runs"`
	Score  float64    `json:"score" minimum:"-1" maximum:"1" doc:"the average of what I said of its answers"`
	LastAt *time.Time `json:"last_at" nullable:"true"`
}

// AdapterWhole is an adapter with its versions.
type AdapterWhole struct {
	Adapter
	Versions []AdapterVersion `json:"versions" doc:"latest first"`
}

// AdapterVersion is a version of an adapter.
type AdapterVersion struct {
	Version int             `json:"version"`
	State   string          `json:"state" enum:"current,trial,before,rolled_back,earlier,draft" doc:"trial: a share of my conversations takes it, and the others the one that is before; rolled_back: it was taken back"`
	At      time.Time       `json:"at"`
	By      string          `json:"by" enum:"system,user,llm"`
	Note    string          `json:"note"`
	Said    *fault.Sentence `json:"said,omitempty" doc:"the note taken apart, for who says it in another language"`
	Why     []Remark        `json:"why" doc:"why the change that made it was proposed, sentence by sentence; empty: note is all that is known"`
	PatchID *int64          `json:"patch_id" nullable:"true" doc:"the change that made it, where it is one of the latest"`
	Lessons int             `json:"lessons"`
	Weights int             `json:"weights" doc:"version of its trained weights; 0: it has text only"`
	Base    string          `json:"base" doc:"the model its weights belong to; empty: it has none"`
	Peft    bool            `json:"peft" doc:"the weights can be had"`
	Marked  bool            `json:"marked" doc:"something its weights were trained with was taken back: they serve until they are trained anew without it"`
}

// Weights reads the folders of adapters' weights.
type Weights interface {
	// Peft opens the files of a folder that PEFT reads, and of their checksums,
	// below the shared root. NotFound where there is none; Internal where a file
	// is not what the checksum says.
	Peft(dir, checksum string) (fs.FS, error)
}

// AdapterUses tells how adapters were used, and how their weights stand.
type AdapterUses interface {
	AdapterUse(ctx context.Context, adapterID string) (learning.Use, error)
	// Weights are the versions of the weights of an adapter of the viewer's.
	Weights(ctx context.Context, v identity.Viewer, adapterID string) ([]learning.Weights, error)
}

// weightsDoc is what an adapter's document says of its weights.
type weightsDoc struct {
	Lessons  []string `json:"lessons"`
	Version  int      `json:"current_version"`
	Dir      string   `json:"fs_dir"`
	Checksum string   `json:"checksum"`
	Base     string   `json:"base_model"`
	Status   string   `json:"status"`
}

func (s *server) listAdapters(ctx context.Context, _ *struct{}) (Page[Adapter], error) {
	v := viewerOf(ctx)
	list, err := s.learnedAdapters(ctx, v)
	if err != nil {
		return Page[Adapter]{}, err
	}
	out, err := s.adapterRows(ctx, v, list...)
	if err != nil {
		return Page[Adapter]{}, err
	}
	return page(out, "", func(a Adapter) Adapter { return a }), nil
}

// adapterRows are adapters with their situations, which are read once.
func (s *server) adapterRows(ctx context.Context, v identity.Viewer, list ...LearnedAdapter) ([]Adapter, error) {
	names := map[string]string{}
	if slices.ContainsFunc(list, func(a LearnedAdapter) bool { return a.ClusterID != "" }) {
		clusters, err := s.Situations.ListClusters(ctx, v, false)
		if err != nil {
			return nil, err
		}
		for _, c := range clusters {
			names[c.ID] = c.Label
		}
	}
	out := make([]Adapter, len(list))
	for i, a := range list {
		var err error
		if out[i], err = s.adapterRow(ctx, v, a, names[a.ClusterID]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (s *server) adapterRow(ctx context.Context, v identity.Viewer, a LearnedAdapter, situation string) (Adapter, error) {
	out := Adapter{LearnedAdapter: a, Situation: situation}
	now, err := s.Artifacts.Get(ctx, v, a.ID)
	if err != nil {
		return out, err
	}
	var d weightsDoc
	_ = json.Unmarshal(now.Schema, &d) // one that cannot be read has no weights
	out.Weights = d.Version
	u, err := s.Uses.AdapterUse(ctx, a.ID)
	out.Use = AdapterUse{Runs: u.Count, Score: u.Score, LastAt: moment(u.Last)}
	return out, err
}

// ownAdapter is one of the viewer's own adapters.
func (s *server) ownAdapter(ctx context.Context, v identity.Viewer, adapterID string) (LearnedAdapter, error) {
	list, err := s.learnedAdapters(ctx, v)
	if err != nil {
		return LearnedAdapter{}, err
	}
	for _, a := range list {
		if a.ID == adapterID {
			return a, nil
		}
	}
	return LearnedAdapter{}, fault.New(fault.NotFound, "There is no such adapter, or it is not yours.")
}

func (s *server) adapter(ctx context.Context, in *ByID) (AdapterWhole, error) {
	v := viewerOf(ctx)
	a, err := s.ownAdapter(ctx, v, in.ID)
	if err != nil {
		return AdapterWhole{}, err
	}
	rows, err := s.adapterRows(ctx, v, a)
	if err != nil {
		return AdapterWhole{}, err
	}
	out := AdapterWhole{Adapter: rows[0]}
	out.Versions, err = s.adapterVersions(ctx, v, in.ID)
	return out, err
}

func (s *server) adapterVersions(ctx context.Context, v identity.Viewer, adapterID string) ([]AdapterVersion, error) {
	now, err := s.Artifacts.Get(ctx, v, adapterID)
	if err != nil {
		return nil, err
	}
	list, err := s.Artifacts.Versions(ctx, v, adapterID)
	if err != nil {
		return nil, err
	}
	made, err := s.changesOf(ctx, v, adapterID)
	if err != nil {
		return nil, err
	}
	weights, err := s.Uses.Weights(ctx, v, adapterID)
	if err != nil {
		return nil, err
	}
	marked := map[int]bool{}
	for _, w := range weights {
		marked[w.Version] = w.State == learning.WeightsMarked
	}
	out := make([]AdapterVersion, 0, len(list))
	for _, one := range list {
		var d weightsDoc
		_ = json.Unmarshal(one.Schema, &d) // as above
		p, known := made[one.Version]
		view := AdapterVersion{
			Version: one.Version, State: stateOf(now, one.Version, d, p.back), At: one.CreatedAt.UTC(), By: one.CreatedBy, Note: one.ChangeNote, Said: artifacts.NoteSaid(one.ChangeNote), Why: []Remark{},
			Lessons: len(d.Lessons), Weights: d.Version, Peft: d.Version > 0 && d.Dir != "", Marked: marked[d.Version],
		}
		if d.Version > 0 {
			view.Base = d.Base
		}
		if known {
			view.PatchID, view.Why = &p.id, whyOf(p.found)
		}
		out = append(out, view)
	}
	slices.SortFunc(out, func(a, b AdapterVersion) int { return cmp.Compare(b.Version, a.Version) })
	return out, nil
}

// stateOf is where a version of an adapter stands.
func stateOf(now artifacts.Artifact, version int, d weightsDoc, back bool) string {
	switch {
	case d.Status == "draft":
		return "draft"
	case version == now.Version && now.Rollout != nil:
		return "trial"
	case version == now.Version:
		return "current"
	case now.Rollout != nil && version == now.Rollout.From:
		return "before"
	case back:
		return "rolled_back"
	}
	return "earlier"
}

// exportAdapter writes a version of the weights of an adapter of the caller's.
func (s *server) exportAdapter(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	v, adapterID := viewerOf(ctx), id.Canonical(r.PathValue("id"))
	n, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || n < 1 || !id.Valid(adapterID) {
		s.refuse(w, r, fault.New(fault.Invalid, "Name an adapter by its id, and a version of its weights by its number, from 1.").With(map[string]any{"field": "n"}))
		return
	}
	files, err := s.peft(ctx, v, adapterID, n)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/zip")
	h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+url.PathEscape("adapter-"+adapterID[:8]+"-v"+strconv.Itoa(n)+".zip"))
	h.Set("Cache-Control", "no-store")
	if err := zipped(w, files); err != nil {
		s.Logger.WarnContext(ctx, "an adapter was not exported whole", "adapter", adapterID, "error", err)
		panic(http.ErrAbortHandler) // half an archive is none
	}
}

// peft opens a version of the weights of an adapter of the viewer's.
func (s *server) peft(ctx context.Context, v identity.Viewer, adapterID string, n int) (fs.FS, error) {
	if err := s.Limits.Spend(ctx, s.Plans.Of(v).Chat, v.UserID); err != nil {
		return nil, err
	}
	if _, err := s.ownAdapter(ctx, v, adapterID); err != nil {
		return nil, err
	}
	list, err := s.Artifacts.Versions(ctx, v, adapterID)
	if err != nil {
		return nil, err
	}
	none := fault.New(fault.NotFound, "The adapter has no weights of version %d.", n)
	for _, one := range slices.Backward(list) {
		var d weightsDoc
		if json.Unmarshal(one.Schema, &d) != nil || d.Version != n || d.Dir == "" {
			continue
		}
		// A document names a folder by itself: what is exported is its owner's own.
		if s.Weights == nil || !strings.HasPrefix(strings.TrimPrefix(d.Dir, "/"), "users/"+v.UserID+"/") {
			return nil, none
		}
		dir, version := strings.Trim(d.Dir, "/"), fmt.Sprintf("/v%04d", n)
		if !strings.HasSuffix(dir, version) { // the adapter's folder, which has its versions
			dir += version
		}
		return s.Weights.Peft(dir, strings.TrimPrefix(d.Checksum, "sha256:"))
	}
	return nil, none
}

// zipped writes files as an archive; weights do not get smaller.
func zipped(w io.Writer, files fs.FS) error {
	z := zip.NewWriter(w)
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		to, err := z.CreateHeader(&zip.FileHeader{Name: e.Name(), Method: zip.Store})
		if err != nil {
			return err
		}
		from, err := files.Open(e.Name())
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		if err = cmp.Or(err, from.Close()); err != nil {
			return err
		}
	}
	return z.Close()
}

// madeBy is the change that made a version.
type madeBy struct {
	id   int64
	back bool // it was taken back

	found json.RawMessage // before it was proposed
}

// changesOf are the latest changes of an adapter, by the version they made.
func (s *server) changesOf(ctx context.Context, v identity.Viewer, adapterID string) (map[int]madeBy, error) {
	list, _, err := s.Proposals.List(ctx, v, changes.Filter{ArtifactID: adapterID, Limit: maxPage})
	out := map[int]madeBy{}
	for _, p := range list {
		for _, c := range p.Changes {
			if c.ArtifactID == adapterID && c.Applied > 0 {
				out[c.Applied] = madeBy{p.ID, p.Status == changes.RolledBack, p.Found}
			}
		}
	}
	return out, err
}
