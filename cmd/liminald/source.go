package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

func sourceCommand() command {
	return command{
		name:    "source",
		takes:   "VERB [NAME]",
		summary: "databases that tools read: list them, set a connection string, check one",
		about: `
Looks after the data.source artifacts of a running server, as an administrator.
The server is --url, or LIMINAL_URL; who you are is told by liminald login,
once, or LIMINAL_TOKEN, or LIMINAL_USER and LIMINAL_PASSWORD.

  list          every source, and whether its connection string is set
  check NAME    what is missing, whether each tool of it can be read, and whether
                two people see different records. --as names people as the
                database knows them, twice or more often; without it they are
                two who have accounts. It fails where something is wrong
  secret NAME   set its connection string, which is read from standard input and
                shown nowhere`,
		examples: []string{
			"liminald source check matters",
			"liminald source check matters --as keller@firm.example --as brandt@firm.example",
			"liminald source secret matters <url.txt",
		},
		settings: []string{"url"},
		flags:    sourceFlags,
		run:      runSource,
	}
}

type sourceOptions struct {
	as   []string
	json bool
}

func sourceFlags(fs *flag.FlagSet) any {
	o := &sourceOptions{}
	fs.Func("as", "check: as this person, as the database knows them", func(s string) error {
		o.as = append(o.as, s)
		return nil
	})
	fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text")
	return o
}

func runSource(ctx context.Context, in *invocation) error {
	o := in.own.(*sourceOptions)
	verbs := map[string]func(context.Context, *invocation, *sourceOptions, string) error{"check": checkSource, "secret": setSourceSecret}
	switch {
	case len(in.args) == 1 && in.args[0] == "list":
		return reached(listSources(ctx, in, o))
	case len(in.args) == 2 && verbs[in.args[0]] != nil:
		return reached(verbs[in.args[0]](ctx, in, o, in.args[1]))
	}
	return usageError{errors.New("say what to do: list, check NAME or secret NAME")}
}

func listSources(ctx context.Context, in *invocation, o *sourceOptions) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	var list struct {
		Data []struct {
			Name      string `json:"name"`
			Title     string `json:"title"`
			Driver    string `json:"driver"`
			SecretSet bool   `json:"secret_set"`
		} `json:"data"`
	}
	if err := server.Get(ctx, "/v1/sources", nil, &list); err != nil {
		return err
	}
	if o.json {
		return writeJSON(in.out, list.Data)
	}
	if len(list.Data) == 0 {
		fmt.Fprintln(in.out, "There are no sources. docs/sources.md says how one is added.")
	}
	for _, s := range list.Data {
		state := "no connection string"
		if s.SecretSet {
			state = "connection string set"
		}
		fmt.Fprintf(in.out, "%-20s %-9s %-24s %s\n", s.Name, s.Driver, state, s.Title)
	}
	return nil
}

// sourceReport is what POST /v1/sources/{name}/check answers.
type sourceReport struct {
	OK     bool     `json:"ok"`
	Faults []string `json:"faults"`
	Tools  []struct {
		Tool    string `json:"tool"`
		Fault   string `json:"fault,omitempty"`
		Skipped bool   `json:"skipped,omitempty"`
		Foreign int    `json:"foreign,omitempty"`
		Unkeyed bool   `json:"unkeyed,omitempty"`
	} `json:"tools"`
	People []struct {
		Viewer  string         `json:"viewer"`
		Records map[string]int `json:"records"`
	} `json:"people"`
	Differ *bool `json:"differ"`
}

func checkSource(ctx context.Context, in *invocation, o *sourceOptions, name string) error {
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	var r sourceReport
	if err := server.Post(ctx, "/v1/sources/"+url.PathEscape(name)+"/check", map[string]any{"as": o.as}, &r); err != nil {
		return err
	}
	if o.json {
		err = writeJSON(in.out, r)
	} else {
		printSourceReport(in.out, r)
	}
	if err == nil && !r.OK {
		err = fmt.Errorf("the source %s is not ready", name)
	}
	return err
}

func printSourceReport(w io.Writer, r sourceReport) {
	for _, f := range r.Faults {
		fmt.Fprintf(w, "missing  %s\n", f)
	}
	for _, t := range r.Tools {
		switch {
		case t.Fault != "":
			fmt.Fprintf(w, "missing  %s: %s\n", t.Tool, t.Fault)
		case t.Foreign > 0:
			fmt.Fprintf(w, "faulty   %s gave %d rows its person may not see; they were held back\n", t.Tool, t.Foreign)
		case t.Skipped:
			fmt.Fprintf(w, "skipped  %s: none of its examples has every input it needs\n", t.Tool)
		case t.Unkeyed:
			fmt.Fprintf(w, "open     %s: no key in its rows, so nothing of it is asked about once more\n", t.Tool)
		default:
			fmt.Fprintf(w, "ok       %s\n", t.Tool)
		}
	}
	for _, p := range r.People {
		var counts []string
		for key, n := range p.Records {
			counts = append(counts, fmt.Sprintf("%d by %s", n, key))
		}
		slices.Sort(counts)
		if len(counts) == 0 {
			counts = []string{"nothing"}
		}
		fmt.Fprintf(w, "sees     %s: %s\n", p.Viewer, strings.Join(counts, ", "))
	}
	switch {
	case r.Differ == nil:
		fmt.Fprintln(w, "unknown  whether two people see different records: name two with --as")
	case *r.Differ:
		fmt.Fprintln(w, "ok       two people see different records")
	default:
		fmt.Fprintln(w, "missing  everybody sees the same records: the keys do not ask for :viewer, or these people share all they see")
	}
}

// maxConnection bounds a connection string, in bytes.
const maxConnection = 4096

func setSourceSecret(ctx context.Context, in *invocation, _ *sourceOptions, name string) error {
	raw, err := io.ReadAll(io.LimitReader(in.in, maxConnection+1))
	if err != nil {
		return err
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" || len(raw) > maxConnection {
		return usageError{errors.New("give the connection string on standard input, as: liminald source secret " + name + " <url.txt")}
	}
	server, err := in.server(ctx)
	if err != nil {
		return err
	}
	if err := server.Do(ctx, "PUT", "/v1/sources/"+url.PathEscape(name)+"/secret", map[string]any{"secret": secret}, nil); err != nil {
		return err
	}
	fmt.Fprintf(in.out, "The connection string of %s is set. Check it: liminald source check %s\n", name, name)
	return nil
}
