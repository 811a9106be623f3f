package routing

import (
	"slices"
	"strings"

	"liminal/internal/expr"
)

// The actions of a rule (ROUTE-04).
const (
	activateByID      = "activate_adapter_by_id"
	activateByType    = "activate_adapter_by_type"
	activateByCluster = "activate_adapter_by_cluster"
	scale             = "scale_adapter_weight"
	deactivate        = "deactivate_adapter"
	deactivateAll     = "deactivate_all_adapters"
	useBackend        = "use_backend" // beyond the seed's: which model backend answers the turn
)

var actions = []string{activateByID, activateByType, activateByCluster, scale, deactivate, deactivateAll, useBackend}

// The words that stand for something in an action (ROUTE-07).
const (
	current    = "current"    // adapter_id: the candidate under evaluation
	closest    = "closest"    // cluster_id: the cluster nearest to the turn
	similarity = "similarity" // weight: as similar as the adapter is to the turn
)

// action is what a rule does. An empty selector selects everything.
type action struct {
	do          string
	adapter     string // id or name, or current
	adapterType string
	cluster     string  // id, or closest
	weight      float64 // or the factor of scale
	similar     bool    // the similarity in place of weight
	overwrite   bool
	backend     string // of useBackend
}

func (r *reader) action(o object) action {
	a := action{
		do: o.needed("type"), adapter: o.text("adapter_id"), adapterType: o.text("adapter_type"),
		cluster: o.text("cluster_id"), overwrite: o.boolean("overwrite"),
	}
	if a.do != "" && !slices.Contains(actions, a.do) {
		r.fault(o.at("type"), "write one of "+strings.Join(actions, ", "), "there is no action %q", a.do)
	}
	switch a.do {
	case activateByID, deactivate:
		o.needed("adapter_id")
	case activateByType:
		o.needed("adapter_type")
	case activateByCluster:
		o.needed("cluster_id")
	case deactivateAll:
		return action{do: deactivateAll}
	case useBackend:
		return action{do: useBackend, backend: o.needed("backend"), overwrite: a.overwrite}
	}
	r.weigh(o, &a)
	return a
}

// weigh reads how much: weight, 1 by default, or the factor of a scale, for
// which weight does as well.
func (r *reader) weigh(o object, a *action) {
	key, most, standard := "weight", 1.0, any(1.0)
	if a.do == scale {
		standard = nil
		if o.m["factor"] != nil {
			key, most = "factor", MaxFactor
		}
	}
	v := o.m[key]
	if v == nil {
		v = standard
	}
	x, isNumber := v.(float64)
	switch {
	case v == nil:
		r.fault(o.at("factor"), "write what to multiply the weight by", "factor is missing")
	case v == similarity && key == "weight":
		a.similar = true
	case !isNumber:
		r.fault(o.at(key), "", "%s is not a number but %s", key, expr.Show(v))
	case x < 0 || x > most:
		r.fault(o.at(key), "", "%s is %s; it is between 0 and %v", key, expr.Show(v), most)
	}
	a.weight = x
}
