package bench

import (
	"context"
	"fmt"

	"liminal/internal/model"
)

// step is one measurement.
type step struct {
	name  string // for Options.Only
	what  string
	model model.Model // that answers; nil: the one of the default installation
	do    func(*benchmark, context.Context) error
}

const stepFloor = "floor"

// steps are all measurements, in their order. Those with a model of their own
// come last: the platform is opened anew for them.
func steps() []step {
	return []step{
		{stepFloor, "the bare engine, an empty workflow", nil, (*benchmark).measureFloor},
		{"turn", "turns of five no-op nodes", nil, (*benchmark).measureFive},
		{"chat", "default chat turns", nil, (*benchmark).measureChat},
		{"dialects", "chat turns in other protocols, beside the same in ours", nil, (*benchmark).measureDialects},
		{"resume", "resuming a paused turn", nil, (*benchmark).measureResume},
		{"growth", "a long conversation", nil, (*benchmark).measureGrowth},
		{"paused", "many paused runs", nil, (*benchmark).measureCrowd},
		{"ingest", "reading a document in", nil, (*benchmark).measureIngest},
		{"search", "search in many chunks", nil, (*benchmark).measureSearch},
		{"rehearsal", "rehearsing a change on recorded runs", nil, (*benchmark).measureRehearsal},
		{"palace", "the capture proxy, and taking in what it keeps", nil, (*benchmark).measurePalace},
		{"provider", "chat turns with a model that is elsewhere", metronome{}, (*benchmark).measureProvider},
		{"tokens", "first tokens and token delays", metronome{}, (*benchmark).measureSpeech},
	}
}

// Names are the names of all measurements, for Options.Only.
func Names() []string {
	var names []string
	for _, s := range steps() {
		names = append(names, s.name)
	}
	return names
}

func (b *benchmark) measureFloor(ctx context.Context) (err error) {
	b.floor, err = floor(ctx, b.house.address, b.house.namespace, b.sizes)
	if err == nil {
		b.rowsOf("empty workflow (the floor)", b.floor, noTarget)
	}
	return err
}

func (b *benchmark) measureFive(ctx context.Context) error {
	p, err := paceOf(ctx, b.sizes, b.house.turnOf(fiveWorkflow))
	if err == nil {
		b.rowsOf("turn of 5 no-op nodes", p, ratios(targetTurnCPU, targetTurnRatio, targetRateRatio))
	}
	return err
}

func (b *benchmark) measureChat(ctx context.Context) error {
	p, err := paceOf(ctx, b.sizes, b.house.turnOf(chatWorkflow))
	if err == nil {
		b.rowsOf("default chat turn", p, ratios(targetChatCPU, targetChatRatio, 0))
	}
	return err
}

func (b *benchmark) measureProvider(ctx context.Context) error {
	p, err := paceOf(ctx, b.sizes, b.house.turnOf(chatWorkflow))
	if err == nil {
		b.rowsOf("chat turn with a model elsewhere", p, noTarget)
	}
	return err
}

func (b *benchmark) measureSpeech(ctx context.Context) error {
	s, err := b.house.speechOf(ctx, b.sizes)
	if err != nil {
		return err
	}
	of, tokens := fmt.Sprintf("%d turns", b.sizes.resumes), fmt.Sprintf("%d tokens", s.count)
	b.report.add(
		row("first-token overhead, p50", milliseconds(s.first.p50), "ms", of),
		row("first-token overhead, p95", milliseconds(s.first.p95), "ms", of),
		row("token overhead, p50", milliseconds(s.tokens.p50), "ms", tokens),
		row("token overhead, p99", milliseconds(s.tokens.p99), "ms", tokens).atMost(targetToken),
	)
	return nil
}

func (b *benchmark) measureResume(ctx context.Context) error {
	s, cpu, err := b.house.resumes(ctx, b.sizes.resumes)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%d turns", b.sizes.resumes)
	used := row("answer to end of turn, CPU", milliseconds(cpu), "ms", of).ratio(milliseconds(b.floor.cpu))
	b.report.add(
		used.aim(fmt.Sprintf("≤ %g × floor", targetResumeCPU), used.Floor <= targetResumeCPU),
		row("answer to end of turn, p50", milliseconds(s.p50), "ms", of).atMost(targetResume),
		row("answer to end of turn, p95", milliseconds(s.p95), "ms", of),
	)
	return nil
}

func (b *benchmark) measureGrowth(ctx context.Context) error {
	g, err := b.house.growthOf(ctx, b.sizes.turns)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%d turns each", g.window)
	ratio := g.late.sum() / g.early.sum()
	b.report.add(
		row("bytes of turn 10: store", g.early.store, "B", of),
		row("bytes of turn 10: engine history", g.early.history, "B", "1 run"),
		row(fmt.Sprintf("bytes of turn %d: store", g.turns), g.late.store, "B", of),
		row(fmt.Sprintf("bytes of turn %d: engine history", g.turns), g.late.history, "B", "1 run"),
		row(fmt.Sprintf("bytes of turn %d over turn 10", g.turns), ratio, "×", of).atMost(targetGrowth),
	)
	return nil
}

func (b *benchmark) measureCrowd(ctx context.Context) error {
	c, err := b.house.crowdOf(ctx, b.sizes.paused)
	if err != nil {
		return err
	}
	runs := fmt.Sprintf("%d runs", c.completed)
	memory := row("memory of paused runs, over idle", c.mib, "MiB", runs)
	if !b.report.Quick { // the target is for 10,000
		memory = memory.atMost(targetCrowdMiB)
	}
	b.report.add(
		memory,
		row("runs paused", c.paused, "/s", runs),
		row("paused runs resumed", c.resumed, "/s", runs).atLeast(targetCrowdResume),
	)
	return nil
}

func (b *benchmark) measureIngest(ctx context.Context) error {
	r, err := b.house.signUp(ctx)
	if err != nil {
		return err
	}
	rate, err := r.ingest(ctx, b.sizes.ingest)
	if err == nil {
		b.report.add(row("ingestion of Markdown, upload to searchable", rate, "MB/s", fmt.Sprintf("%.1f MB", float64(b.sizes.ingest)/1e6)))
	}
	return err
}

func (b *benchmark) measureSearch(ctx context.Context) error {
	s, err := b.house.searches(ctx, b.sizes.chunks, b.sizes.searches)
	if err != nil {
		return err
	}
	of := fmt.Sprintf("%d searches", b.sizes.searches)
	b.report.add(
		row(fmt.Sprintf("hybrid search in %d chunks, p50", b.sizes.chunks), milliseconds(s.p50), "ms", of),
		row(fmt.Sprintf("hybrid search in %d chunks, p95", b.sizes.chunks), milliseconds(s.p95), "ms", of),
	)
	return nil
}
