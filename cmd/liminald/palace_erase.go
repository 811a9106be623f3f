package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"liminal/internal/id"
	captured "liminal/internal/palace"
)

// erase removes what blocks, a history or an agent said. Nothing brings it back, so it is
// done only where that was said twice.
func (p *palace) erase(ctx context.Context) error {
	what, names := p.args[0], p.args[1:]
	var paths []string
	switch {
	case what == "block":
		for _, name := range names {
			b, err := p.find(ctx, name)
			if err != nil {
				return err
			}
			paths = append(paths, "blocks/"+b.UUID)
		}
	case len(names) != 1:
		return usageError{fmt.Errorf("erase %s takes one", what)}
	case what == "lineage":
		if !id.Valid(names[0]) {
			return usageError{fmt.Errorf("%q is no lineage; liminald palace agents has them", names[0])}
		}
		paths = append(paths, "lineages/"+names[0])
	case what == "agent":
		n, err := agentNumber(names[0])
		if err != nil {
			return err
		}
		paths = append(paths, "agents/"+strconv.Itoa(n))
	default:
		return usageError{fmt.Errorf("%q cannot be erased; block, lineage and agent can", what)}
	}
	if !p.yes {
		return usageError{errors.New("erase removes contents for ever, here and in the spool; say --yes to do it. tier SHORT and drop only put them away")}
	}
	var all captured.Erasure
	for _, path := range paths {
		var one captured.Erasure
		if err := p.told(p.platform().Do(ctx, http.MethodPost, "/v1/palace/"+path+"/erase", nil, &one)); err != nil {
			return err
		}
		all.Blocks, all.Exchanges, all.Chunks = all.Blocks+one.Blocks, all.Exchanges+one.Exchanges, all.Chunks+one.Chunks
		all.Bytes, all.Spool = all.Bytes+one.Bytes, all.Spool+one.Spool
	}
	if p.json {
		return writeJSON(p.out, all)
	}
	_, err := fmt.Fprintf(p.out, "%s and %s erased\n", count(all.Blocks, "block"), count(all.Exchanges, "exchange"))
	return err
}
