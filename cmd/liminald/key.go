package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"liminal/internal/remote"
)

func keyCommand() command {
	return command{
		name:    "key",
		takes:   "VERB",
		summary: "access keys for programs: make one, see them, end one",
		about: `
Looks after the access keys of your account on a running server. The server is
--url, or LIMINAL_URL; who you are is told by liminald login within the last
hour: a key makes no keys, and neither does a sign-in of long ago.

  create NAME    make a key and print it, this once; --scopes says what it opens
  list           your keys, what they open and when they were used last
  revoke ID      end a key, at once and with the runs that were begun with it

The scopes are chat, read, write, tools, tools:PREFIX.* for some tools,
artifacts, propose, mcp, webhooks, and admin for an administrator's. What none of them
names is closed to keys. docs/keys.md says which route needs which. Programs
send the key as Authorization: Bearer; LIMINAL_TOKEN takes one too.`,
		examples: []string{
			"liminald key create nightly --scopes chat,read --days 30",
			"liminald key create deploy --scopes artifacts,propose --code 123456 > key.txt",
			"liminald key list", "liminald key revoke 01a21b99-71c8-7bf7-9ade-b64d725a1964",
		},
		settings: []string{"url"},
		flags:    keyFlags,
		run:      runKey,
	}
}

type keyOptions struct {
	json                                bool
	scopes, assistants, code, recovered string
	days                                int
}

func keyFlags(fs *flag.FlagSet) any {
	o := &keyOptions{}
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	fs.StringVar(&o.scopes, "scopes", "", "create: what the key opens, with commas between")
	fs.StringVar(&o.assistants, "assistants", "", "create: names or ids of the only workflows it may run, with commas between; all you may when left out")
	fs.IntVar(&o.days, "days", 90, "create: how long it lasts")
	fs.StringVar(&o.code, "code", "", "create: six digits of the authenticator, for an account that has one; asked for when needed")
	fs.StringVar(&o.recovered, "recovery-code", "", "create: a recovery code instead")
	return o
}

func runKey(ctx context.Context, in *invocation) error {
	o := in.own.(*keyOptions)
	verbs := map[string]func(context.Context, *invocation, *remote.Server) error{"create": o.create, "list": o.list, "revoke": o.revoke}
	takes := map[string]int{"create": 2, "list": 1, "revoke": 2}
	switch {
	case len(in.args) == 0:
		return usageError{errors.New("say what to do: create, list or revoke")}
	case verbs[in.args[0]] == nil:
		return usageError{fmt.Errorf("there is no verb %q", in.args[0])}
	case len(in.args) > takes[in.args[0]]:
		return usageError{fmt.Errorf("%q is one argument too many", in.args[takes[in.args[0]]])}
	case len(in.args) < takes[in.args[0]]:
		return usageError{fmt.Errorf("%s needs %s", in.args[0], map[string]string{"create": "a name: what the key is for", "revoke": "the id of a key"}[in.args[0]])}
	case in.args[0] == "create" && o.scopes == "":
		return usageError{errors.New("say with --scopes what the key opens, as in --scopes chat,read")}
	}
	s, err := in.server(ctx)
	if err != nil {
		return err
	}
	return reached(withProblems(verbs[in.args[0]](ctx, in, s)))
}

// remoteKey is an access key as a server tells of it.
type remoteKey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Scopes     []string   `json:"scopes"`
	Assistants []string   `json:"assistants"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  time.Time  `json:"expires_at"`
	UsedAt     *time.Time `json:"used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
	Ended      bool       `json:"ended"`
	Key        string     `json:"key,omitempty"`
}

func (o *keyOptions) create(ctx context.Context, in *invocation, s *remote.Server) error {
	body := map[string]any{"name": in.args[1], "scopes": listOf(o.scopes), "assistants": listOf(o.assistants), "expires_in_days": o.days}
	if o.code != "" {
		body["code"] = o.code
	}
	if o.recovered != "" {
		body["recovery_code"] = o.recovered
	}
	var k remoteKey
	err := s.Post(ctx, "/v1/keys", body, &k)
	if err != nil && strings.Contains(sentence(err), "second factor") && o.code == "" && o.recovered == "" {
		if ask := (&asker{in: in.in, say: in.err}); ask.terminal() {
			body["code"] = ask.line("Code of the authenticator")
			err = s.Post(ctx, "/v1/keys", body, &k)
		}
	}
	if err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, k)
	}
	// The key alone is the output, so that it can be piped to where it is kept.
	if _, err := fmt.Fprintln(in.out, k.Key); err != nil {
		return err
	}
	_, err = fmt.Fprintf(in.err, "%s opens %s until %s; it is not shown again. End it with: liminald key revoke %s\n",
		harmless(k.Name), strings.Join(k.Scopes, ", "), k.ExpiresAt.Local().Format(time.DateOnly), k.ID)
	return err
}

func (o *keyOptions) list(ctx context.Context, in *invocation, s *remote.Server) error {
	var page struct {
		Data []remoteKey `json:"data"`
	}
	if err := s.Get(ctx, "/v1/keys", nil, &page); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, page.Data)
	}
	var b strings.Builder
	for _, k := range page.Data {
		used, state := "never used", "until "+k.ExpiresAt.Local().Format(time.DateOnly)
		if k.UsedAt != nil {
			used = "used " + k.UsedAt.Local().Format(time.DateTime)
		}
		if k.RevokedAt != nil {
			state = "ended " + k.RevokedAt.Local().Format(time.DateOnly)
		} else if k.Ended {
			state = "ran out " + k.ExpiresAt.Local().Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "%s  %s: %s; %s, %s\n", k.ID, k.Name, strings.Join(k.Scopes, ", "), state, used)
		if len(k.Assistants) > 0 {
			fmt.Fprintf(&b, "    only for %s\n", strings.Join(k.Assistants, ", "))
		}
	}
	if b.Len() == 0 {
		b.WriteString("no access keys\n")
	}
	_, err := fmt.Fprint(in.out, harmless(b.String()))
	return err
}

func (o *keyOptions) revoke(ctx context.Context, in *invocation, s *remote.Server) error {
	if err := s.Do(ctx, "DELETE", "/v1/keys/"+url.PathEscape(in.args[1]), nil, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(in.out, "ended: nothing is opened with it any more, and what it began does nothing more\n")
	return err
}

// listOf are the parts of a text with commas between.
func listOf(text string) []string {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
