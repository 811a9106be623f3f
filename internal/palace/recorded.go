package palace

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/view"
)

// Rates is what a token of a model's input costs, in dollars, and what others cost
// beside it; 0 where that is not known.
type Rates func(model string) (usd float64, p view.Price)

// mostPage is how many exchanges are read at once.
const mostPage = 100

// Recorded gives a person's histories with their requests, to be played again: the
// newest first.
func (l *Library) Recorded(ctx context.Context, v identity.Viewer, most int) iter.Seq2[view.Recorded, error] {
	return func(yield func(view.Recorded, error) bool) {
		list, err := l.PalaceRecent(ctx, v, most)
		if err != nil {
			yield(view.Recorded{}, err)
			return
		}
		totals, err := l.PalaceTotals(ctx, v)
		if err != nil {
			yield(view.Recorded{}, err)
			return
		}
		for _, lineage := range list {
			r, err := l.recorded(ctx, v, lineage)
			r.Totals = totals
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

func (l *Library) recorded(ctx context.Context, v identity.Viewer, lineage Lineage) (r view.Recorded, err error) {
	blocks, err := l.PalaceTimeline(ctx, v, lineage.ID)
	if err != nil {
		return r, err
	}
	read := map[string]view.Block{}
	if err := l.readInto(ctx, v, blocks, read); err != nil {
		return r, err
	}
	exchanges, err := l.exchangesOf(ctx, v, lineage.ID)
	if err != nil {
		return r, err
	}
	r = view.Recorded{Lineage: lineage.ID, Blocks: make([]view.Block, len(blocks)), Window: Window(lineage.Model)}
	for i, b := range blocks {
		r.Blocks[i] = read[b.UUID]
	}
	r.Off, r.Told = off(exchanges)
	sent := sentBy(blocks, exchanges)
	for i, e := range exchanges {
		if e.Usage.Total() == 0 { // nothing was charged: refused, or cut before its head came
			continue
		}
		usd, price := l.rates(e.Model)
		r.Requests = append(r.Requests, view.Sent{
			Blocks: sent[i], At: e.StartedAt, Model: e.Model, Hour: e.Usage.Write1h > e.Usage.Write5m,
			Input: e.Usage.Input, Read: e.Usage.Read, Write: e.Usage.Write5m + e.Usage.Write1h, Output: e.Usage.Output, Unit: usd, Price: price,
		})
	}
	return r, nil
}

// mostOff is how far the model of the cache may be off for what follows from it to be
// told.
const mostOff = 0.1

// off is how far the model of the cache was off on exchanges, at nine of ten of them,
// and whether that is little enough to tell.
func off(exchanges []Exchange) (share float64, told bool) {
	var list []float64
	for _, e := range exchanges {
		total := float64(e.Usage.Total())
		if e.PredictedRead == nil || e.PredictedWrite == nil || total == 0 {
			continue
		}
		read, write := math.Abs(float64(*e.PredictedRead-e.Usage.Read)), math.Abs(float64(*e.PredictedWrite-e.Usage.Write5m-e.Usage.Write1h))
		list = append(list, max(read, write)/total)
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	share = list[len(list)*9/10]
	return share, share <= mostOff
}

// exchangesOf are those of a lineage, the oldest first.
func (l *Library) exchangesOf(ctx context.Context, v identity.Viewer, lineage string) (list []Exchange, err error) {
	for cursor := ""; ; {
		page, next, err := l.PalaceExchanges(ctx, v, ExchangeFilter{LineageID: lineage}, cursor, mostPage)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if cursor = next; cursor == "" {
			slices.Reverse(list)
			return list, nil
		}
	}
}

// sentBy is how many blocks of a lineage each of its requests had: all up to the last
// that was new in it, without what its answer brought.
func sentBy(blocks []Block, exchanges []Exchange) []int {
	number := map[string]int{}
	for i, e := range exchanges {
		number[e.ID] = i
	}
	out := make([]int, len(exchanges))
	end := 0
	at := 0
	for i := range exchanges {
		for end < len(blocks) {
			n, mine := number[blocks[end].ExchangeID]
			if mine && n > i {
				break
			}
			end++
		}
		at = end
		for at > 0 && blocks[at-1].Role == "assistant" && blocks[at-1].ExchangeID == exchanges[i].ID {
			at--
		}
		out[i] = at
	}
	return out
}

func (l *Library) rates(model string) (float64, view.Price) {
	if l.Rates == nil {
		return 0, view.UsualPrice
	}
	usd, p := l.Rates(model)
	if p == (view.Price{}) {
		p = view.UsualPrice
	}
	return usd, p
}

// The windows of models, in tokens: a name may say that it is the large one.
const (
	usualWindow = 200_000
	largeWindow = 1_000_000
	largeMark   = "[1m]"
)

// Window is how many tokens a model can read, as far as its name says.
func Window(model string) int64 {
	if strings.Contains(model, largeMark) {
		return largeWindow
	}
	return usualWindow
}

// RecordedOf are the histories of a person, or with "" of everybody's agents: those
// that a policy is rehearsed on.
func (l *Library) RecordedOf(ctx context.Context, only string, most int) iter.Seq2[view.Recorded, error] {
	return func(yield func(view.Recorded, error) bool) {
		owners, err := []string{only}, error(nil)
		if only == "" {
			owners, err = l.PalaceOwners(ctx, mostOwners)
		}
		if err != nil {
			yield(view.Recorded{}, err)
			return
		}
		for _, owner := range owners {
			v := identity.Viewer{UserID: owner, Role: identity.RoleUser}
			for r, err := range l.Recorded(ctx, v, most) {
				if fault.CodeOf(err) == fault.NotFound { // it went meanwhile
					continue
				}
				if !yield(r, err) || err != nil {
					return
				}
				if most--; most == 0 {
					return
				}
			}
		}
	}
}

// mostOwners bounds the people whose agents are looked at.
const mostOwners = 1000
