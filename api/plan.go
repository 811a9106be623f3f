package api

import (
	"context"
	"time"

	"liminal/internal/quota"
)

func (s *server) planRoutes() {
	add(s, route("GET /v1/plans", "plans", "What each plan allows, for administrators", scopeAdmin), s.plans)
	add(s, route("PATCH /v1/plans/{name}", "changePlan", "Change numbers of a plan, for administrators", scopeAdmin), s.changePlan)
}

// PlanNumber is one of the numbers of which a plan is made (OPS-12).
type PlanNumber struct {
	Key      string  `json:"key"`
	What     string  `json:"what"`
	Unit     string  `json:"unit"`
	Least    float64 `json:"least"`
	Most     float64 `json:"most"`
	Fraction bool    `json:"fraction" doc:"else it is whole"`
	Personal bool    `json:"personal" doc:"a person may have one of their own"`
	Setting  string  `json:"setting" doc:"the setting of this server that holds for everybody instead; empty: none"`
}

// PlanNumbers is what a plan allows.
type PlanNumbers struct {
	Name      string             `json:"name"`
	Version   int                `json:"version" doc:"0: as it ships"`
	Numbers   map[string]float64 `json:"numbers" doc:"by key, as they hold"`
	Shipped   map[string]float64 `json:"shipped" doc:"as they ship"`
	ChangedAt *time.Time         `json:"changed_at" nullable:"true"`
	ChangedBy string             `json:"changed_by" doc:"a name; empty: nobody has changed it, or they are gone"`
}

// PlanList is all plans, and what they are made of.
type PlanList struct {
	Numbers []PlanNumber  `json:"numbers" doc:"in the order people read them"`
	Plans   []PlanNumbers `json:"plans"`
}

func (s *server) plans(ctx context.Context, _ *struct{}) (PlanList, error) {
	views, err := s.Plans.Views(ctx, viewerOf(ctx))
	if err != nil {
		return PlanList{}, err
	}
	list := PlanList{Numbers: []PlanNumber{}, Plans: []PlanNumbers{}}
	for _, n := range quota.Numbers() {
		list.Numbers = append(list.Numbers, PlanNumber{
			Key: n.Key, What: n.What, Unit: n.Unit, Least: n.Least, Most: n.Most, Fraction: n.Fraction, Personal: n.Personal, Setting: s.settingOf(n.Key),
		})
	}
	for _, v := range views {
		list.Plans = append(list.Plans, s.planView(ctx, v))
	}
	return list, nil
}

// settingOf names the setting that stands over a number here.
func (s *server) settingOf(key string) string {
	switch {
	case key == "documents_under_way" && s.Intake.Documents > 0:
		return "LIMINAL_UPLOAD_DOCUMENTS"
	case key == "documents_mib" && s.Intake.Bytes > 0:
		return "LIMINAL_UPLOAD_MB"
	case key == "uploads_per_minute" && s.Intake.PerMinute > 0:
		return "LIMINAL_UPLOAD_RATE"
	}
	return ""
}

func (s *server) planView(ctx context.Context, v quota.PlanView) PlanNumbers {
	out := PlanNumbers{Name: v.Plan, Version: v.Version, Numbers: v.Now, Shipped: v.Shipped}
	if v.Version > 0 {
		at := v.At.UTC()
		out.ChangedAt = &at
		if v.By != "" {
			out.ChangedBy = s.Proposals.Name(ctx, v.By)
		}
	}
	return out
}

type changePlanInput struct {
	Name string `path:"name"`
	Body struct {
		Version int                 `json:"version" minimum:"0" doc:"the one it was looked at in"`
		Numbers map[string]*float64 `json:"numbers" doc:"what to change, by key; null: as it ships"`
	}
}

func (s *server) changePlan(ctx context.Context, in *changePlanInput) (PlanNumbers, error) {
	v, err := s.Plans.Change(ctx, viewerOf(ctx), in.Name, in.Body.Version, in.Body.Numbers)
	if err != nil {
		return PlanNumbers{}, err
	}
	return s.planView(ctx, v), nil
}
