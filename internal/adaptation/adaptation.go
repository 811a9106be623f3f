// Package adaptation makes adapters of their own for people out of what they
// said of answers: the steps of the graphs learn.cluster and learn.text, what a
// router may choose from because of them, and what a model is told.
//
// It reads and writes ids, numbers and rows; no text of a person's goes into an
// artifact, a patch or a history (lessons and examples are listed by id, and
// read when a model is asked). Everything that can be computed is in
// internal/learning and the packages below it; what is asked of a language
// model, the tools ask. It may import the nouns below it, artifacts and changes.
package adaptation

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"liminal/artifacts"
	"liminal/internal/cache"
	"liminal/internal/changes"
	"liminal/internal/embed"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
	"liminal/internal/run"
)

// Store keeps what is learnt from.
type Store interface {
	learning.Consents
	learning.Situations
	learning.Lessons
	learning.Comparisons
	learning.RemovedLessons
	// AdapterUse tells how an adapter has been used (ROUTE-13).
	AdapterUse(ctx context.Context, adapterID string) (learning.Use, error)
}

// Desk is where changes are handed in; *changes.Desk is one.
type Desk interface {
	ProposeLearned(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	ByRule(ctx context.Context, id int64, by changes.Ruling, plan changes.RolloutPlan) (changes.Patch, error)
	Propose(ctx context.Context, v identity.Viewer, p changes.Proposal) (changes.Patch, error)
	Withdraw(ctx context.Context, v identity.Viewer, id int64, reason string) (changes.Patch, error)
	List(ctx context.Context, v identity.Viewer, f changes.Filter) ([]changes.Patch, string, error)
	Get(ctx context.Context, v identity.Viewer, id int64) (changes.View, error)
}

// Runs tells what a run is; run.Runs is one.
type Runs interface {
	Run(ctx context.Context, v identity.Viewer, id string) (run.Run, error)
}

// Options are what the steps work with. Store, Library and Desk are needed.
type Options struct {
	Store   Store
	Library *artifacts.Library
	Desk    Desk
	Runs    Runs           // nil: every run may propose
	Encoder embed.Embedder // of events; nil: their own words say enough
	Cache   cache.Cache    // nil: each turn reads what there is to choose from
	// Feedback keeps which answer of a comparison was better; nil: nobody does.
	Feedback Feedback
	// Off says that nothing is derived and nothing is applied; what people say is
	// kept all the same.
	Off bool
	// Generative reports whether there is a language model that answers.
	Generative bool
	// Trains reports whether weights are trained here: what is pruned may be taught
	// to another adapter first.
	Trains bool
	Tools  []string         // names of the platform's tools: no lesson may name one
	Now    func() time.Time // time.Now when nil
	Logger *slog.Logger     // discards when nil
}

// Steps are the steps of learning. They keep what they have read in the cache
// alone and are safe for concurrent use.
type Steps struct {
	o    Options
	memo memo
}

// New returns the steps. A missing part is an error.
func New(o Options) (*Steps, error) {
	if o.Store == nil || o.Library == nil || o.Desk == nil {
		return nil, errors.New("adaptation: it needs a store, a library and a desk")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Steps{o: o}, nil
}

// Policy is the numbers that hold for the viewer, and the version of the
// document that has them; 0 where there is none.
func (s *Steps) Policy(ctx context.Context, v identity.Viewer) (learning.Policy, int, error) {
	a, err := s.o.Library.Learning(ctx, v)
	if errors.Is(err, fault.NotFound) {
		return learning.DefaultPolicy(), 0, nil
	}
	if err != nil {
		return learning.Policy{}, 0, err
	}
	p, err := learning.ReadPolicy(a.Schema)
	return p, a.Version, err
}

// Due is what a run has before it.
type Due struct {
	Go         bool  `json:"go"`         // something may be learnt
	Events     int   `json:"events"`     // that are looked at
	Upto       int64 `json:"upto"`       // the latest of them
	Generative bool  `json:"generative"` // a language model can be asked
	Situate    bool  `json:"situate"`    // some of their tasks are not named yet, and a model can name them
}

// Due looks what there is to learn from: of the viewer, or, for the system, of
// everybody who allows it.
func (s *Steps) Due(ctx context.Context, v identity.Viewer) (Due, error) {
	if s.o.Off {
		return Due{}, nil
	}
	if !v.IsSystem() {
		settings, err := s.o.Store.LearningSettings(ctx, v)
		if err != nil || !settings.Personal {
			return Due{}, err
		}
	}
	cases, err := s.cases(ctx, v)
	if err != nil {
		return Due{}, err
	}
	d := Due{Go: true, Events: len(cases), Generative: s.o.Generative}
	for _, c := range cases {
		d.Upto = max(d.Upto, c.ID)
		d.Situate = d.Situate || s.o.Generative && c.Situation == "" && !v.IsSystem()
	}
	return d, nil
}

// Learnt records that the viewer's events up to one were read. The system's
// run is due by the calendar, and records nothing.
func (s *Steps) Learnt(ctx context.Context, v identity.Viewer, upto int64) error {
	if v.IsSystem() {
		return nil
	}
	return s.o.Store.Learnt(ctx, v, upto)
}

// cases are the events that are looked at: the viewer's newest, or for the
// system some of each person who allows it.
func (s *Steps) cases(ctx context.Context, v identity.Viewer) ([]learning.Case, error) {
	p, _, err := s.Policy(ctx, v)
	if err != nil {
		return nil, err
	}
	if v.IsSystem() {
		return s.o.Store.SharedCases(ctx, keeper(v), p.Situations.Each)
	}
	return s.o.Store.Cases(ctx, v, p.Situations.Newest)
}

// placed are the events that are looked at with the situation each is in. Those
// of everybody are not written to people's events: there it is the nearest, if
// that is near enough.
func (s *Steps) placed(ctx context.Context, v identity.Viewer) ([]learning.Case, error) {
	cases, err := s.cases(ctx, v)
	if err != nil || !v.IsSystem() {
		return cases, err
	}
	clusters, err := s.o.Store.ListClusters(ctx, keeper(v), true)
	if err != nil {
		return nil, err
	}
	for i := range cases {
		cases[i].ClusterID = within(cases[i], clusters)
	}
	return cases, nil
}

// within is the id of the situation an event is nearest to, empty where that is
// not near enough.
func within(c learning.Case, clusters []learning.Cluster) string {
	id, near := "", -1.0
	for _, k := range clusters {
		cosine := embed.Cosine(c.Embedding, k.Centroid)
		if k.Status != learning.ClusterRetired && cosine >= k.Reach && cosine > near {
			id, near = k.ID, cosine
		}
	}
	return id
}

// keeper is in whose name rows are read and written: what is everybody's is
// nobody's, also in a run of the system's.
func keeper(v identity.Viewer) identity.Viewer {
	if v.IsSystem() {
		return identity.System()
	}
	return v
}
