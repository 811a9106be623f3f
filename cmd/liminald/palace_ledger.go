package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// tokensOf are the classes of tokens that are paid for.
type tokensOf struct {
	Exchanges int64    `json:"exchanges"`
	Unpriced  int64    `json:"unpriced"` // of them, without a price
	Input     int64    `json:"input_tokens"`
	Read      int64    `json:"cache_read_tokens"`
	Write5m   int64    `json:"cache_write_5m_tokens"`
	Write1h   int64    `json:"cache_write_1h_tokens"`
	Output    int64    `json:"output_tokens"`
	USD       *float64 `json:"usd"`
}

type costsNow struct {
	tokensOf
	AtListPrice bool `json:"at_list_price"`
	Days        []struct {
		Day   string `json:"day"`
		Model string `json:"model"`
		tokensOf
	} `json:"days"`
	Misses []struct {
		Cause  string   `json:"cause"`
		Count  int64    `json:"count"`
		Tokens int64    `json:"tokens"`
		USD    *float64 `json:"usd"`
	} `json:"misses"`
	Ruler struct {
		P50       float64 `json:"p50"`
		P90       float64 `json:"p90"`
		Exchanges int64   `json:"exchanges"`
		Told      bool    `json:"told"`
	} `json:"ruler"`
}

// dollars is a price; nil: none is known.
func dollars(usd *float64) string {
	if usd == nil {
		return "-"
	}
	return fmt.Sprintf("$%.4f", *usd)
}

// ofAgent is a query for an agent, by its small number; without one, for all.
func (p *palace) ofAgent(ctx context.Context) (url.Values, error) {
	q := url.Values{}
	if len(p.args) == 0 {
		return q, nil
	}
	n, err := agentNumber(p.args[0])
	if err != nil {
		return nil, err
	}
	var v timelineNow
	if err := p.get(ctx, "/v1/palace/agents/"+strconv.Itoa(n)+"/timeline", &v); err != nil {
		return nil, err
	}
	q.Set("agent", v.Agent.ID)
	return q, nil
}

// cost tells what exchanges took, a day and a model.
func (p *palace) cost(ctx context.Context) error {
	q, err := p.ofAgent(ctx)
	if err != nil {
		return err
	}
	q.Set("days", strconv.Itoa(p.days))
	path := "/v1/palace/costs?" + q.Encode()
	if p.json {
		return p.verbatim(ctx, path)
	}
	var c costsNow
	if err := p.get(ctx, path, &c); err != nil {
		return err
	}
	if len(c.Days) == 0 {
		_, err := fmt.Fprintf(p.out, "nothing was asked in %s\n", count(p.days, "day"))
		return err
	}
	err = p.table("DAY\tMODEL\tREQUESTS\tINPUT\tCACHE READ\tWRITE 5M\tWRITE 1H\tOUTPUT\tCOST", func(row func(...any)) {
		for _, d := range c.Days {
			row(d.Day, d.Model, d.Exchanges, d.Input, d.Read, d.Write5m, d.Write1h, d.Output, dollars(d.USD))
		}
		row("together", "", c.Exchanges, c.Input, c.Read, c.Write5m, c.Write1h, c.Output, dollars(c.USD))
	})
	if err != nil {
		return err
	}
	var told []string
	if c.AtListPrice {
		told = append(told, "A subscription pays otherwise: this is at list price.")
	}
	if c.Unpriced > 0 {
		told = append(told, fmt.Sprintf("%s of models whose price is not known are not in it.", count(int(c.Unpriced), "request")))
	}
	for _, m := range c.Misses {
		told = append(told, fmt.Sprintf("Cache misses: %d of cause %s, %d tokens, %s.", m.Count, withoutControls(m.Cause), m.Tokens, dollars(m.USD)))
	}
	if c.Ruler.Exchanges > 0 {
		told = append(told, fmt.Sprintf("The model of the cache was off by %.1f %% at p50 and %.1f %% at p90 of %s.", 100*c.Ruler.P50, 100*c.Ruler.P90, count(int(c.Ruler.Exchanges), "request")))
	}
	if len(told) > 0 {
		_, err = fmt.Fprintf(p.out, "\n%s\n", strings.Join(told, "\n"))
	}
	return err
}

type missNow struct {
	Exchange  string    `json:"exchange"`
	At        time.Time `json:"at"`
	Model     string    `json:"model"`
	Cause     string    `json:"cause"`
	Where     string    `json:"where"`
	Predicted *int64    `json:"predicted_read"`
	Read      int64     `json:"read"`
	Tokens    int64     `json:"tokens"`
	USD       *float64  `json:"usd"`
}

// misses tells why a prompt cache was not read, the newest first.
func (p *palace) misses(ctx context.Context) error {
	q, err := p.ofAgent(ctx)
	if err != nil {
		return err
	}
	list, err := pageOf[missNow](ctx, p, "/v1/palace/misses", q, p.last)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"misses": append([]missNow{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, "no request missed its cache")
		return err
	}
	return p.table("AT\tCAUSE\tWHERE\tTOKENS\tCOST\tMODEL\tEXCHANGE", func(row func(...any)) {
		for _, m := range list {
			row(m.At.Local().Format(time.DateTime), m.Cause, m.Where, m.Tokens, dollars(m.USD), m.Model, m.Exchange)
		}
	})
}

// verbatim prints what the API answers.
func (p *palace) verbatim(ctx context.Context, path string) error {
	var v any
	if err := p.get(ctx, path, &v); err != nil {
		return err
	}
	return writeJSON(p.out, v)
}

// star, keep and drop are what a person says of blocks; --off takes it back.
func (p *palace) star(ctx context.Context) error {
	return p.each(ctx, p.args, http.MethodPut, "star", map[string]any{"starred": !p.off})
}

func (p *palace) keep(ctx context.Context) error { return p.wish(ctx, true) }
func (p *palace) drop(ctx context.Context) error { return p.wish(ctx, false) }

func (p *palace) wish(ctx context.Context, keep bool) error {
	body := map[string]any{"keep": keep}
	if p.off {
		body["keep"] = nil
	}
	return p.each(ctx, p.args, http.MethodPut, "keep", body)
}
