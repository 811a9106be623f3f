package activities

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"liminal/internal/identity"
	"liminal/internal/routing"
)

// lastChoice is how long a choice is remembered.
const lastChoice = time.Hour

// keptAs names the form a choice is remembered in: one of another form is as
// good as forgotten.
const keptAs = "with adapters and a backend"

// choice names what a router chooses for. Routing is a function of a policy
// and its input (ROUTE-10): of is a fingerprint of both, with the versions of the
// policy and of each adapter in place of their vectors, so that a choice made
// for anything else is never taken for this one.
type choice struct {
	key string // "router:last:{user_id}:{ctx_hash}" (DATA-10); empty: not to be remembered
	of  string
}

// remembered is the value under a choice's key.
type remembered struct {
	Of     string `json:"of"`
	Routed Routed `json:"routed"`
}

func choiceOf(v identity.Viewer, in routing.Input, versions []policyKey) choice {
	embedding, alsoErr := json.Marshal(in.Embedding)
	in.Embedding, in.Adapters = nil, slices.Clone(in.Adapters)
	for i := range in.Adapters {
		in.Adapters[i].Centroid = nil // a version has the same always, and it is most of what there is
	}
	all, err := json.Marshal(in)
	if err != nil || alsoErr != nil {
		return choice{} // not a number: it has no JSON
	}
	return choice{
		key: "router:last:" + v.UserID + ":" + fingerprint(embedding),
		of:  fingerprint(fmt.Append(all, embedding, versions, keptAs)),
	}
}

func fingerprint(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// recall gives the choice made before for the same.
func (r *PolicyRouter) recall(ctx context.Context, c choice) (Routed, bool) {
	if r.last == nil || c.key == "" {
		return Routed{}, false
	}
	raw, ok, err := r.last.Get(ctx, c.key)
	if err != nil {
		r.log.WarnContext(ctx, "a turn is routed anew: the cache does not answer", "error", err)
	}
	var was remembered
	if !ok || json.Unmarshal(raw, &was) != nil || was.Of != c.of {
		return Routed{}, false
	}
	return was.Routed, true
}

func (r *PolicyRouter) keep(ctx context.Context, c choice, routed Routed) {
	if r.last == nil || c.key == "" {
		return
	}
	raw, err := json.Marshal(remembered{Of: c.of, Routed: routed})
	if err == nil {
		err = r.last.Set(ctx, c.key, raw, lastChoice)
	}
	if err != nil {
		r.log.WarnContext(ctx, "a choice of adapters is not remembered", "error", err)
	}
}
