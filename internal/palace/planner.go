package palace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/capture"
	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/vault"
	"liminal/internal/view"
)

const (
	viewsDir, epochsDir = "views", "epochs"
	// mostWaiting bounds the lineages that wait for their plan; more are found in the
	// store again.
	mostWaiting = 1000
	// unplannedFor is how far back lineages are looked for that have no plan yet.
	unplannedFor = 24 * time.Hour
	// planAgain is how long to wait when the store refused.
	planAgain = 2 * time.Second
)

// PlannerOptions say what plans are made with.
type PlannerOptions struct {
	// Dir is the palace folder: plans are written to views/ in it, epochs read from
	// epochs/.
	Dir     string
	Library *Library
	Keys    *vault.Ring // seal what is written there; nil: it is plain
	// Ask has a model asked about a lineage of so many exchanges, aside: by name, "" for
	// the one that policies of models name. fault.Conflict: one is being asked about an
	// earlier window of it. nil: no model is asked here.
	Ask func(ctx context.Context, v identity.Viewer, lineage string, exchanges int, model string) error
	Now func() time.Time
	Log *slog.Logger
}

// Planner follows lineages: after each exchange it asks the lineage's policy which
// blocks its agent should go on to see, finds their channels and tiers, and what could
// be set aside at which price (PAL-08, PAL-21). Nobody waits for it.
type Planner struct {
	PlannerOptions
	mu      sync.Mutex
	waiting map[string]bool
	wake    chan struct{}
	known   map[string]*followed // by the lineage
	asking  asking
}

// followed is what is known of a lineage.
type followed struct {
	blocks map[string]view.Block // with what they say, by UUID
	seen   time.Time
}

// mostFollowed bounds the lineages whose blocks are in memory.
const mostFollowed = 32

// NewPlanner makes a planner that does not run yet.
func NewPlanner(o PlannerOptions) *Planner {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Planner{PlannerOptions: o, waiting: map[string]bool{}, wake: make(chan struct{}, 1), known: map[string]*followed{}, asking: newAsking()}
}

// Grown tells the planner of lineages that have another exchange.
func (p *Planner) Grown(lineages []string) {
	p.mu.Lock()
	for _, l := range lineages {
		if len(p.waiting) < mostWaiting {
			p.waiting[l] = true
		}
	}
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

func (p *Planner) take() (list []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.waiting {
		list = append(list, l)
	}
	clear(p.waiting)
	slices.Sort(list)
	return list
}

// Run plans until ctx ends. What goes wrong is told in the log; the lineage is planned
// again after its next exchange.
func (p *Planner) Run(ctx context.Context, owner func(context.Context) (identity.Viewer, error)) {
	first := true
	for {
		v, err := owner(ctx)
		if err == nil && v.UserID != "" && first {
			var list []string
			if list, err = p.Library.PalaceUnplanned(ctx, v, p.Now().Add(-unplannedFor)); err == nil {
				p.Grown(list)
				first = false
			}
		}
		if err == nil && v.UserID != "" {
			err = p.All(ctx, v)
		}
		var again <-chan time.Time
		if err == nil && p.AskAgain(ctx, v) {
			again = time.After(askAgain)
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			p.Log.Warn("what could be set aside of a history cannot be planned for now; nothing else waits for it", "error", err)
			select {
			case <-ctx.Done():
				return
			case <-time.After(planAgain):
				continue
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-again:
		}
	}
}

// modeFile says in views/ what the policy of new histories lets views do, for commands
// that run an agent.
const modeFile = "mode.json"

// say writes that, where it has changed.
func (p *Planner) say(ctx context.Context, v identity.Viewer) error {
	policy, err := p.Library.policyOf(ctx, v, "")
	if err != nil {
		return err
	}
	path := filepath.Join(p.Dir, viewsDir, modeFile)
	doc := fmt.Appendf(nil, "{\"mode\":%q}\n", policy.Mode)
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, doc) {
		return nil
	}
	return writeWhole(path, doc)
}

// All plans the lineages that wait.
func (p *Planner) All(ctx context.Context, v identity.Viewer) error {
	errs := []error{p.say(ctx, v)}
	for _, lineage := range p.take() {
		if _, err := p.Plan(ctx, v, lineage); err != nil && fault.CodeOf(err) != fault.NotFound {
			errs = append(errs, fmt.Errorf("the history %s: %w", lineage, err))
		}
	}
	return errors.Join(errs...)
}

// Plan asks the policy of a lineage what could be set aside of it now, and keeps that:
// in the store, and where the policy lets views be, for the proxy. Of a lineage in
// OpenAI's protocol nothing is set aside: the policy marks it, and a model may be asked.
func (p *Planner) Plan(ctx context.Context, v identity.Viewer, lineage string) (Planned, error) {
	l, err := p.Library.PalaceLineage(ctx, v, lineage)
	if err != nil {
		return Planned{}, err
	}
	out, policy, err := p.pinned(ctx, v, l)
	if err != nil {
		return out, err
	}
	blocks, list, err := p.blocks(ctx, v, l)
	if err != nil {
		return out, err
	}
	if err := p.mark(ctx, v, policy, blocks, list); err != nil {
		return out, err
	}
	if strings.HasPrefix(l.Key, openAIKeys) { // there are no views of it
		p.ask(ctx, v, l, policy)
		return Planned{Lineage: l.ID}, nil
	}
	totals, err := p.Library.PalaceTotals(ctx, v)
	if err != nil {
		return out, err
	}
	hour, err := p.hour(ctx, v, l)
	if err != nil {
		return out, err
	}
	_, price := p.Library.rates(l.Model)
	began := time.Now()
	aside := []view.Replacement(nil)
	inForce, err := p.inForce(l.Key)
	if err != nil {
		return out, err
	}
	for _, e := range inForce {
		if e.Lineage != l.ID {
			continue
		}
		if aside = e.Replace; e.Ended != "" {
			aside = nil
		}
		out.Opened = &e.OpenedAt
	}
	if out.Asked != nil && out.Opened != nil && out.Asked.Before(*out.Opened) {
		out.Asked = nil
	}
	out.Plan = policy.Plan(view.Situation{
		Client: l.Key, Lineage: l.ID, Policy: out.Pin.String(), Blocks: blocks, Aside: aside, Hour: hour, Price: price,
		Requests: view.Expect(l.Exchanges, totals), Context: l.Input + l.Output, Window: Window(l.Model), Asked: out.Asked != nil, Now: p.Now(),
	})
	p.Library.latency.add(time.Since(began))
	known, err := p.Library.PalaceEpochs(ctx, v, l.ID)
	if err != nil {
		return out, err
	}
	for _, e := range known { // a proxy that has none then knows that its own are lost
		out.Plan.Epochs = max(out.Plan.Epochs, e.Number)
	}
	out.Exchanges, out.MadeAt = l.Exchanges, p.Now()
	// Before the plan is there: after a kill between the two it is made, and asked, again.
	p.ask(ctx, v, l, policy)
	if err := p.Library.PutPalacePlan(ctx, v, out); err != nil {
		return out, err
	}
	if newest, err := p.newest(ctx, v, l); err != nil || !newest {
		return out, err
	}
	return out, p.write(out.Plan)
}

// newest reports whether a lineage is the one that its client has now: the proxy knows one
// plan of a client, and a block may be changed that older histories have as well.
func (p *Planner) newest(ctx context.Context, v identity.Viewer, l Lineage) (bool, error) {
	list, err := p.Library.PalaceLineages(ctx, v, l.AgentID)
	if err != nil {
		return false, err
	}
	for _, other := range list {
		if other.Key == l.Key {
			return other.ID == l.ID, nil
		}
	}
	return true, nil
}

// hour reports whether the cache of a lineage keeps for an hour what is written.
func (p *Planner) hour(ctx context.Context, v identity.Viewer, l Lineage) (bool, error) {
	list, _, err := p.Library.PalaceExchanges(ctx, v, ExchangeFilter{LineageID: l.ID}, "", latelyWritten)
	for _, e := range list {
		if e.Usage.Write1h+e.Usage.Write5m > 0 {
			return e.Usage.Write1h > e.Usage.Write5m, err
		}
	}
	return false, err
}

// latelyWritten is how many exchanges are looked at for one that wrote to the cache.
const latelyWritten = 4

// pinned is the policy that a lineage follows from its beginning on.
func (p *Planner) pinned(ctx context.Context, v identity.Viewer, l Lineage) (out Planned, policy *view.Policy, err error) {
	out, err = p.Library.PalacePlan(ctx, v, l.ID)
	if fault.CodeOf(err) == fault.NotFound {
		out = Planned{Lineage: l.ID}
		out.Pin, err = p.Library.Policies.PinFor(ctx, v, l.ID)
	}
	if err != nil {
		return out, nil, err
	}
	policy, err = p.Library.Policies.PolicyAt(ctx, v, out.Pin)
	return out, policy, err
}

// String is the pin as a plan and an epoch name it.
func (p Pin) String() string {
	if p.PolicyID == "" {
		return "shipped"
	}
	return fmt.Sprintf("%s/%d", p.PolicyID, p.Version)
}

// blocks are those of a lineage as rules see them, with what they say.
func (p *Planner) blocks(ctx context.Context, v identity.Viewer, l Lineage) ([]view.Block, []Block, error) {
	list, err := p.Library.PalaceTimeline(ctx, v, l.ID)
	if err != nil {
		return nil, nil, err
	}
	wishes, err := p.Library.PalaceWishes(ctx, v, l.ID)
	if err != nil {
		return nil, nil, err
	}
	f := p.followed(l.ID)
	var missing []Block
	for _, b := range list {
		if _, ok := f.blocks[b.UUID]; !ok {
			missing = append(missing, b)
		}
	}
	if err := p.Library.readInto(ctx, v, missing, f.blocks); err != nil {
		return nil, nil, err
	}
	out := make([]view.Block, len(list))
	for i, b := range list {
		out[i] = current(f.blocks[b.UUID], b)
		out[i].Model = wishes[b.UUID]
	}
	return out, list, nil
}

// current is a block that was read with what may have changed of it since.
func current(read view.Block, b Block) view.Block {
	now := seenBy(b)
	read.Display, read.Channels, read.Tier, read.Starred, read.Person = now.Display, now.Channels, now.Tier, now.Starred, now.Person
	read.Role, read.Tool, read.Away = now.Role, now.Tool, now.Away
	return read
}

// readInto reads what blocks say.
func (l *Library) readInto(ctx context.Context, v identity.Viewer, list []Block, into map[string]view.Block) error {
	hashes := map[string]bool{}
	for _, b := range list {
		hashes[b.Chunk] = true
	}
	names := make([]string, 0, len(hashes))
	for h := range hashes {
		names = append(names, h)
	}
	chunks, err := l.chunks(ctx, v, names)
	if err != nil {
		return err
	}
	for _, b := range list {
		c, err := contentOf(b, chunks[b.Chunk])
		if err != nil { // what it says is gone: rules see that it is there
			c = Content{}
		}
		into[b.UUID] = c.read(b)
	}
	return nil
}

func (p *Planner) followed(lineage string) *followed {
	f := p.known[lineage]
	if f == nil {
		if len(p.known) >= mostFollowed {
			oldest := ""
			for id, k := range p.known {
				if oldest == "" || k.seen.Before(p.known[oldest].seen) {
					oldest = id
				}
			}
			delete(p.known, oldest)
		}
		f = &followed{blocks: map[string]view.Block{}}
		p.known[lineage] = f
	}
	f.seen = p.Now()
	return f
}

// mark writes the channels that the policy finds blocks in, and the tiers that follow,
// where they are not so already.
func (p *Planner) mark(ctx context.Context, v identity.Viewer, policy *view.Policy, blocks []view.Block, list []Block) error {
	var out []Marked
	for i := range blocks {
		b := &blocks[i]
		channels := policy.ChannelsOf(b)
		for _, c := range b.Channels { // a model's, or of another policy: they stay
			if !slices.Contains(channels, c) {
				channels = append(channels, c)
			}
		}
		changed := len(channels) != len(b.Channels)
		b.Channels = channels
		tier := policy.TierOf(b)
		if list[i].TierBy == view.ByPerson {
			tier = b.Tier
		}
		if changed || tier != b.Tier {
			out = append(out, Marked{UUID: b.UUID, Was: append([]string{}, list[i].Channels...), Channels: append([]string{}, channels...), Tier: Tier(tier)})
		}
		b.Tier = tier
	}
	if len(out) == 0 {
		return nil
	}
	return p.Library.MarkPalace(ctx, v, out)
}

// inForce are the epochs that the proxy has opened for a client, the oldest first: the
// store has them a moment later.
func (p *Planner) inForce(client string) ([]view.Epoch, error) {
	list, err := readEpochs(p.Keys, filepath.Join(p.Dir, epochsDir, view.FileName(client)))
	if _, closed := errors.AsType[*vault.UnknownKey](err); closed { // a plan would set aside what is aside already
		return nil, fmt.Errorf("what is in force of %s: %w", client, err)
	}
	if err != nil {
		return nil, nil // there is none, or it is damaged, which the proxy tells
	}
	return list, nil
}

// write gives a plan to the proxy, where the policy lets views be; else it takes away
// what was given.
func (p *Planner) write(plan view.Plan) error {
	path := filepath.Join(p.Dir, viewsDir, view.FileName(plan.Client))
	if plan.Mode != view.Live {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	return writeWhole(path, capture.SealFile(p.Keys, viewsDir+"/"+filepath.Base(path), raw))
}

// writeWhole writes a file so that who reads it sees all of it or the one before.
func writeWhole(path string, raw []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // best effort: the error is told
		}
	}()
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
