package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"liminal/internal/capture/proxy"
)

// palaceClient is how a kind of client is told where the proxy is.
type palaceClient struct {
	variable string // of its environment
	base     string // its value
	upstream string // what that stands for
	setting  string // which names it
	print    string // what `palace env` prints
}

// openAIBase is the variable of OpenAI's own clients, and most that speak as they do.
const openAIBase = "OPENAI_BASE_URL"

// clientOf is the one that --client names.
func (p *palace) clientOf(address, token string) (palaceClient, error) {
	base := proxy.BaseURL(address, token)
	openAI := palaceClient{variable: openAIBase, base: base + proxy.OpenAIPath + "/v1", upstream: p.conf.Palace.OpenAI + "/v1", setting: "PALACE_OPENAI_UPSTREAM"}
	switch p.client {
	case "claude":
		return palaceClient{baseURL, base, p.conf.Palace.Upstream, "PALACE_UPSTREAM", fmt.Sprintf("export %s=%s\nexport ENABLE_TOOL_SEARCH=true\n", baseURL, base)}, nil
	case "openai":
		openAI.print = fmt.Sprintf("export %s=%s\n", openAIBase, openAI.base)
		return openAI, nil
	case "codex":
		// It may not open a web socket: one passes, and what is said in it is not kept.
		openAI.print = fmt.Sprintf(`# For ~/.codex/config.toml; the first line before any [table], or as codex -c 'model_provider="palace"'.
model_provider = "palace"

[model_providers.palace]
name = "OpenAI through liminald palace"
base_url = %q
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
`, openAI.base)
		return openAI, nil
	}
	return palaceClient{}, usageError{fmt.Errorf("--client %s is none of claude, openai and codex", p.client)}
}

func (p *palace) env(ctx context.Context) error {
	name := p.client
	switch {
	case len(p.args) > 0:
		name = p.args[0]
	case p.client == "claude":
		return usageError{errors.New("env needs a name: which client the token is for")}
	}
	address := p.conf.Palace.Address
	if _, err := p.clientOf(address, ""); err != nil {
		return err
	}
	s, err := proxy.Ask(ctx, p.dir)
	switch {
	case err == nil:
		address = s.Address
	case !errors.Is(err, proxy.ErrNone):
		return err
	case strings.HasSuffix(address, ":0"):
		return usageError{fmt.Errorf("PALACE_ADDR=%s is whichever port was free; name one, or start the proxy first", address)}
	default:
		fmt.Fprintf(p.err, "No proxy runs yet: liminald palace starts it on %s.\n", address)
	}
	token, err := proxy.AddToken(p.dir, proxy.Agent{Name: name})
	if err != nil {
		return err
	}
	c, err := p.clientOf(address, token)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.err, "The token of %s lasts until liminald palace token revoke %s; it is not shown again.\n", name, name)
	_, err = fmt.Fprint(p.out, c.print)
	return err
}

// token lists the tokens that last, or ends one.
func (p *palace) token(context.Context) error {
	switch {
	case len(p.args) == 0 || len(p.args) == 1 && p.args[0] == "list":
	case len(p.args) == 2 && p.args[0] == "revoke":
		return proxy.RemoveToken(p.dir, p.args[1])
	default:
		return usageError{errors.New("say token list, or token revoke NAME; liminald palace env NAME makes one")}
	}
	list, err := proxy.Lasting(p.dir)
	if err != nil {
		return err
	}
	if p.json {
		return writeJSON(p.out, map[string]any{"tokens": append([]proxy.LastingAgent{}, list...)})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(p.out, "no token lasts; liminald palace env NAME makes one")
		return err
	}
	tab := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "NAME\tPROJECT\tSINCE")
	for _, a := range list {
		fmt.Fprintf(tab, "%s\t%s\t%s\n", withoutControls(a.Name), withoutControls(a.Project), a.Made.Local().Format(time.DateTime))
	}
	return tab.Flush()
}
