package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"liminal/internal/remote"
)

func patchCommand() command {
	return command{
		name:    "patch",
		takes:   "VERB [FILE…|ID]",
		summary: "change behaviour by patches: propose, check, rehearse, approve, apply, roll back",
		about: `
Takes changes to artifacts through a running server: checked, rehearsed on
recorded runs, decided by a person, applied as a version, taken back if it was
wrong. The server is --url, or LIMINAL_URL; who you are is told by liminald login,
once, or LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

FILE is a document, or a folder of them as "liminald artifacts export" writes
it. Several that differ from the server's are one patch: applied together, or
not at all.

  check FILE…        every check, and the rehearsal; nothing is stored
  rehearse FILE…     the rehearsal in full; nothing is stored
  rehearse ID        rehearse a stored patch again
  propose FILE…      store it for decision; --why is its justification
  list               patches, latest first; --status narrows
  show ID            one patch: its changes, checks, rehearsal, history
  approve ID         as an administrator who did not propose it
  reject ID          with --why
  apply ID           make it a version; --share 10 for one run in ten first
  promote ID         end the trial: all new runs
  rollback ID        the documents from before, as a new version; --why; as an
                     administrator who did not propose it
  rebase ID          make the patch again on the version there is now
  withdraw ID        take back your own proposal`,
		examples: []string{
			`liminald patch propose behaviour/ --why "analysis questions cited no source"`,
			"liminald patch check behaviour/workflow.chat/default.json",
			"liminald patch approve 42 && liminald patch apply 42 --share 10",
			`liminald patch rollback 42 --why "answers became too short"`,
		},
		settings: []string{"url"},
		flags:    patchFlags,
		run:      runPatch,
	}
}

type patchOptions struct {
	why, confirm, status, visibility, unknown string
	share, hours, sample                      int
	back, now, json                           bool
}

func patchFlags(fs *flag.FlagSet) any {
	o := &patchOptions{}
	fs.StringVar(&o.why, "why", "", "the justification, the note or the reason")
	fs.StringVar(&o.confirm, "confirm", "", "approve: the artifact's name, when the rehearsal warns")
	fs.StringVar(&o.status, "status", "", "list: only patches in this state, such as pending")
	fs.StringVar(&o.visibility, "visibility", "", "of artifacts the patch makes: private or global; private by default")
	fs.StringVar(&o.unknown, "unknown", "", "what becomes of an effect the record lacks: unknown or live")
	fs.IntVar(&o.sample, "sample", 0, "how many recorded runs to rehearse; 0: as the artifact says")
	fs.IntVar(&o.share, "share", 0, "apply: percent of new runs that take it first, 1 to 99; 0: all")
	fs.IntVar(&o.hours, "hours", 0, "apply: how long it is watched, up to 168; 0: 24")
	fs.BoolVar(&o.back, "roll-back", false, "apply: go back by itself when the artifact's rule is met")
	fs.BoolVar(&o.now, "no-wait", false, "propose: do not wait for the checks and the rehearsal")
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	return o
}

// patching is one call of the command.
type patching struct {
	*patchOptions
	in     *invocation
	server *remote.Server
}

func runPatch(ctx context.Context, in *invocation) error {
	if len(in.args) == 0 {
		return usageError{errors.New("say what to do: propose, check, rehearse, list, show, approve, reject, apply, promote, rollback, rebase or withdraw")}
	}
	verb, rest := in.args[0], in.args[1:]
	p := &patching{patchOptions: in.own.(*patchOptions), in: in}
	do, err := p.verb(verb, rest)
	if err != nil {
		return usageError{err}
	}
	if p.server, err = in.server(ctx); err != nil {
		return err
	}
	return reached(withProblems(do(ctx)))
}

// withProblems is a refusal with its problems spelt out.
func withProblems(err error) error {
	if err == nil {
		return nil
	}
	if text := refusalOf(err); text != sentence(err) {
		return errors.New(text)
	}
	return err
}

// verb is what to do, once the arguments are known to be right.
func (p *patching) verb(verb string, rest []string) (func(context.Context) error, error) {
	files := map[string]func(context.Context, []string) error{"check": p.check, "rehearse": p.rehearseFiles, "propose": p.propose}
	if do, ok := files[verb]; ok && (verb != "rehearse" || !isID(rest)) {
		if len(rest) == 0 {
			return nil, fmt.Errorf("name at least one FILE to %s", verb)
		}
		if verb == "propose" && p.why == "" {
			return nil, errors.New("say why: --why is the justification people decide by")
		}
		return func(ctx context.Context) error { return do(ctx, rest) }, nil
	}
	if verb == "list" {
		return p.list, nil
	}
	if !slices.Contains([]string{"rehearse", "show", "approve", "reject", "apply", "promote", "rollback", "rebase", "withdraw"}, verb) {
		return nil, fmt.Errorf("there is no verb %q", verb)
	}
	if !isID(rest) {
		return nil, fmt.Errorf("name the ID of one patch to %s; liminald patch list shows them", verb)
	}
	if (verb == "reject" || verb == "rollback") && p.why == "" {
		return nil, fmt.Errorf("say why: %s needs --why", verb)
	}
	return func(ctx context.Context) error { return p.act(ctx, verb, rest[0]) }, nil
}

func isID(args []string) bool {
	if len(args) != 1 {
		return false
	}
	_, err := strconv.ParseUint(args[0], 10, 63)
	return err == nil
}

// proposal makes a patch of what differs between files and the server.
func (p *patching) proposal(ctx context.Context, named []string) (map[string]any, error) {
	found, err := compare(ctx, p.server, named, p.visibility)
	if err != nil {
		return nil, err
	}
	changes := []map[string]any{}
	for _, d := range found {
		switch {
		case !d.changes():
		case d.ID == "":
			changes = append(changes, map[string]any{"create": d.of(p.visibility)})
		case d.draft: // which an earlier patch left, and this one takes up
			changes = append(changes, map[string]any{"create": d.of(cmp.Or(p.visibility, d.Visibility))})
		default:
			changes = append(changes, map[string]any{"artifact_id": d.ID, "base_version": d.Base, "patch": d.Patch})
		}
	}
	if len(changes) == 0 {
		return nil, errors.New("nothing to propose: the files say what the server has")
	}
	body := map[string]any{"changes": changes, "justification": p.why}
	if p.unknown != "" {
		body["unknown"] = p.unknown
	}
	if p.sample > 0 {
		body["sample"] = p.sample
	}
	return body, nil
}

func (p *patching) try(ctx context.Context, named []string) (tried patchView, err error) {
	body, err := p.proposal(ctx, named)
	if err != nil {
		return tried, err
	}
	if p.why == "" {
		body["justification"] = "tried from the command line"
	}
	err = p.server.Post(ctx, "/v1/config/patches/try", body, &tried)
	return tried, err
}

func (p *patching) check(ctx context.Context, named []string) error {
	tried, err := p.try(ctx, named)
	if err != nil {
		return err
	}
	return p.verdict(tried, printChecks)
}

func (p *patching) rehearseFiles(ctx context.Context, named []string) error {
	tried, err := p.try(ctx, named)
	if err != nil {
		return err
	}
	return p.verdict(tried, printRehearsal)
}

// propose stores a patch, and waits until people can decide it or it is
// refused.
func (p *patching) propose(ctx context.Context, named []string) error {
	body, err := p.proposal(ctx, named)
	if err != nil {
		return err
	}
	var made patchView
	if err := p.server.Post(ctx, "/v1/config/patches", body, &made); err != nil {
		return err
	}
	if !p.now {
		if made, err = p.settled(ctx, made); err != nil {
			return err
		}
	}
	return p.verdict(made, printPatch)
}

// pause is how often a patch is looked at while it is checked and rehearsed.
const pause = 300 * time.Millisecond

// settled waits until nothing happens to a patch without a person.
func (p *patching) settled(ctx context.Context, v patchView) (patchView, error) {
	for v.Stage == "checking" || v.Stage == "rehearsing" {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return v, ctx.Err()
		}
		if err := p.server.Get(ctx, "/v1/config/patches/"+strconv.FormatInt(v.ID, 10), nil, &v); err != nil {
			return v, err
		}
	}
	return v, nil
}

// verdict prints a patch and fails the command when the patch failed.
func (p *patching) verdict(v patchView, print func(*strings.Builder, patchView)) error {
	if err := p.show(v, print); err != nil {
		return err
	}
	if v.failed() {
		return shownError{exitFailed}
	}
	return nil
}

func (p *patching) show(v patchView, print func(*strings.Builder, patchView)) error {
	if p.json {
		return writeJSON(p.in.out, v)
	}
	var b strings.Builder
	print(&b, v)
	_, err := fmt.Fprint(p.in.out, harmless(b.String()))
	return err
}

func (p *patching) list(ctx context.Context) error {
	query := url.Values{}
	if p.status != "" {
		query.Set("status", p.status)
	}
	all, err := remote.All[patchView](ctx, p.server, "/v1/config/patches", query)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.in.out, all)
	}
	return printPatches(p.in.out, all)
}

// act does what one verb does to one patch, and shows how the patch stands.
func (p *patching) act(ctx context.Context, verb, id string) error {
	path := "/v1/config/patches/" + id
	var after patchView
	var err error
	switch verb {
	case "show":
		err = p.server.Get(ctx, path, nil, &after)
		if err == nil {
			return p.show(after, printPatch)
		}
	case "approve", "reject":
		err = p.server.Post(ctx, path+"/decide", map[string]any{"decision": verb, "reason": p.why, "confirm": p.confirm}, &after)
	case "apply":
		err = p.server.Post(ctx, path+"/apply", map[string]any{"share": p.share, "hours": p.hours, "roll_back": p.back}, &after)
	case "rehearse":
		err = p.server.Post(ctx, path+"/rehearse", p.again(), &after)
		if err == nil {
			return p.verdict(after, printRehearsal)
		}
	default: // promote, rollback, rebase, withdraw
		err = p.server.Post(ctx, path+"/"+verb, map[string]any{"reason": p.why}, &after)
	}
	if err != nil {
		return err
	}
	return p.show(after, printStanding)
}

func (p *patching) again() map[string]any {
	body := map[string]any{}
	if p.sample > 0 {
		body["sample"] = p.sample
	}
	if p.unknown != "" {
		body["unknown"] = p.unknown
	}
	return body
}
