package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"liminal/internal/capture"
	"liminal/internal/capture/launch"
	"liminal/internal/capture/proxy"
	"liminal/internal/config"
	"liminal/internal/vault"
)

const (
	// palaceProxyCommand is how `palace run` starts a proxy: in a process of its
	// own, which is no subcommand people type.
	palaceProxyCommand = "palace-proxy"
	// palaceIdle is how long such a proxy stays when the last command has ended.
	palaceIdle = 30 * time.Second
	// palaceGrace is how long a platform that ends waits for streams of agents.
	palaceGrace = 10 * time.Second
	baseURL     = "ANTHROPIC_BASE_URL"
)

func palaceCommand() command {
	return command{
		name:    "palace",
		takes:   "[VERB]",
		summary: "pass an agent's requests on to its model byte for byte, keep every exchange, and look at what was kept",
		about: `
A proxy between an agent, such as Claude Code, and its backend. It changes
nothing unless a policy of yours says so: what the agent sends and what the
model streams back pass byte for byte as they come, and a copy of both is kept
on this machine, without keys. It needs no server, no database and no network
but the backend's.

  run -- COMMAND     run a command behind the proxy: start one if none runs, give
                     the command its address and a token that ends with it, hand
                     on signals and end with its exit code. A proxy that is killed
                     meanwhile is started again
  (no verb)          the proxy alone, until it is stopped; for a user unit
  env NAME           print the environment of a client that is started otherwise,
                     with a token of that name that lasts; a new one replaces it.
                     --client codex prints a provider for its config.toml
  token list         the tokens that last; token revoke NAME ends one
  status             what runs, what passed, and what could not be kept
  doctor             check what the proxy needs, and say what is off
  list               the exchanges that are kept, the newest last
  show ID            one of them: its head as JSON, or with --part request,
                     sent (what reached the backend) or response the bytes as they
                     were, or with --part frames the events of the answer, each with
                     when it came, since the request began. The beginning or the end of an id does, if only one has it

What the platform makes of it is asked of one that runs on the same data folder
(liminald dev or server):

  agents             agents and subagents, with the history that each has now
  timeline AGENT     that history, block by block; AGENT is its small number
  block BLOCK        a block with what it says; --part raw prints its bytes, and
                     --part frames the events it came in, with their times. BLOCK
                     is its number, the number with the end of its UUID (42-7f3a),
                     as placeholders have it, or the UUID
  recall BLOCK       what a block says, as an agent gets back what was set aside:
                     from the proxy, so without a platform too, or else from the
                     platform. --from and --bytes give a part of it
  tier TIER BLOCK…   say how long blocks stay: SHORT, MEDIUM or LONG
  star BLOCK…        star blocks, which are kept for ever then; --off takes it back
  keep BLOCK…        keep blocks in view whatever rules say; drop BLOCK… sets them
                     aside at the next epoch; --off leaves them to the rules
  classified [AGENT] what models were asked about histories, and what came of it
  notes              what models propose to keep of histories that have ended;
                     notes keep ID… keeps them, with their blocks for ever, and
                     notes dismiss ID… does not
  cost [AGENT]       what exchanges took and cost, by day and model, and what cache
                     misses cost
  misses [AGENT]     exchanges that the prompt cache gave less than it had, and why
  erase block BLOCK… --yes, erase lineage ID --yes, erase agent AGENT --yes
                     remove what was said for ever, here and in the spool
  diff EXCHANGE      what of a request a view sent otherwise than the client did
  replay LINEAGE     be a backend that answers with what was recorded, until it is
                     stopped or, with -- COMMAND, while that runs. An agent's
                     number plays all of its histories

Without --data or SHARED_FS_ROOT everything lies below ~/.liminal/palace, so that
agents of all projects share a proxy. It listens on PALACE_ADDR, which must be a
loopback address; whoever has no token gets nothing there, and neither does a
page in a browser. The backend is PALACE_UPSTREAM, and of what is asked below
/openai/ PALACE_OPENAI_UPSTREAM; never what ANTHROPIC_BASE_URL or OPENAI_BASE_URL
says: run refuses when that names another.

run also sets ENABLE_TOOL_SEARCH=true unless it is set: Claude Code turns that
off by itself behind any proxy. docs/palace.md tells what else it turns off.
Where your policy lets views set results aside, run gives claude the tools that
ask them back.`,
		examples: []string{
			"liminald palace run -- claude", "liminald palace run --name review -- claude -p 'Review the last commit'",
			"eval \"$(liminald palace env editor)\"", "liminald palace env --client codex >> ~/.codex/config.toml",
			"liminald palace status", "liminald palace list --last 20", "liminald palace show 7f3a9c1e --part response",
			"liminald palace timeline 1", "liminald palace block 42 --part raw", "liminald palace tier LONG 42 43",
			"liminald palace keep 42", "liminald palace recall 42-7f3a --from 8192 --bytes 8192", "liminald palace cost --days 7", "liminald palace misses 1 --last 10",
			"liminald palace replay 1 -- claude -p 'Run the tests'",
		},
		settings: []string{"data", "palace-addr", "palace-upstream", "log-level"},
		defaults: []string{"SHARED_FS_ROOT=~/.liminal"},
		flags: func(fs *flag.FlagSet) any {
			o := &palaceOptions{}
			fs.BoolVar(&o.json, "json", false, "print JSON for machines instead of text, where the verb tells something")
			fs.StringVar(&o.name, "name", "", "of run: what the agent is called; default the command's name")
			fs.StringVar(&o.client, "client", "claude", "of run and env: claude, openai (any that reads OPENAI_BASE_URL) or, of env, codex")
			fs.StringVar(&o.part, "part", "", "of show: request, sent or response, as bytes, or frames; of block: raw or frames")
			fs.IntVar(&o.last, "last", 50, "of list, agents and misses: how many, 0 for all")
			fs.IntVar(&o.days, "days", 30, "of cost: how many days, with today")
			fs.IntVar(&o.from, "from", 0, "of recall: the byte to begin at; 0 is the first")
			fs.IntVar(&o.bytes, "bytes", 0, "of recall: how many bytes, 0 for all")
			fs.BoolVar(&o.off, "off", false, "of star, keep and drop: take it back")
			fs.BoolVar(&o.yes, "yes", false, "of erase: do it")
			fs.BoolVar(&o.timing, "timing", false, "of replay: play each piece when it came, not at once")
			fs.StringVar(&o.match, "match", "history", "of replay: answer a request with the history of a recorded one (history), or the one with as many answers before it (turn), for an agent with other prompts")
			fs.StringVar(&o.listen, "listen", "127.0.0.1:0", "of replay: host:port on a loopback address; port 0 picks a free one")
			return o
		},
		run: runPalace,
	}
}

type palaceOptions struct {
	json, timing, off, yes    bool
	name, part, client, match string
	listen                    string
	last, days, from, bytes   int
}

// palace is one call of the command.
type palace struct {
	*invocation
	*palaceOptions
	conf config.Config
	dir  string
	keys *vault.Ring
}

// palaceVerb is what `palace` may be followed by.
type palaceVerb struct {
	do          func(*palace, context.Context) error
	least, most int // arguments
	needs       string
}

// any is more arguments than anybody types.
const anyNumber = 1 << 20

func palaceVerbs() map[string]palaceVerb {
	return map[string]palaceVerb{
		"":           {(*palace).serve, 0, 0, ""},
		"run":        {(*palace).runCommand, 1, anyNumber, "a command, as in: liminald palace run -- claude"},
		"env":        {(*palace).env, 0, 1, ""},
		"token":      {(*palace).token, 0, 2, ""},
		"status":     {(*palace).status, 0, 0, ""},
		"doctor":     {(*palace).doctor, 0, 0, ""},
		"list":       {(*palace).list, 0, 0, ""},
		"show":       {(*palace).show, 1, 1, "the id of an exchange; liminald palace list has them"},
		"agents":     {(*palace).agents, 0, 0, ""},
		"timeline":   {(*palace).timeline, 1, 1, "the number of an agent; liminald palace agents has them"},
		"block":      {(*palace).block, 1, 1, needsBlock},
		"recall":     {(*palace).recall, 1, 1, "a block, as its placeholder names it: liminald palace recall 42-7f3a"},
		"tier":       {(*palace).tier, 2, anyNumber, "a tier and a block, as in: liminald palace tier LONG 42"},
		"star":       {(*palace).star, 1, anyNumber, needsBlock},
		"keep":       {(*palace).keep, 1, anyNumber, needsBlock},
		"drop":       {(*palace).drop, 1, anyNumber, needsBlock},
		"classified": {(*palace).classified, 0, 1, ""},
		"notes":      {(*palace).notes, 0, anyNumber, ""},
		"cost":       {(*palace).cost, 0, 1, ""},
		"misses":     {(*palace).misses, 0, 1, ""},
		"erase":      {(*palace).erase, 2, anyNumber, "what to erase, as in: liminald palace erase block 42 --yes"},
		"diff":       {(*palace).diff, 1, 1, "the id of an exchange; liminald palace list has them"},
		"replay":     {(*palace).replay, 1, anyNumber, "a lineage, or the number of an agent; liminald palace agents has both"},
	}
}

const needsBlock = "a block: its number, or its UUID; liminald palace timeline AGENT has both"

func runPalace(ctx context.Context, in *invocation) error {
	name := ""
	if len(in.args) > 0 {
		name, in.args = in.args[0], in.args[1:]
	}
	verb, ok := palaceVerbs()[name]
	switch {
	case !ok:
		return usageError{fmt.Errorf("there is no verb %q; to run a command: liminald palace run -- %s", name, name)}
	case len(in.args) < verb.least:
		return usageError{fmt.Errorf("%s needs %s", name, verb.needs)}
	case len(in.args) > verb.most:
		return usageError{fmt.Errorf("%q is one argument too many", in.args[verb.most])}
	}
	p, err := newPalace(in)
	if err != nil {
		return err
	}
	return verb.do(p, ctx)
}

func newPalace(in *invocation) (*palace, error) {
	home := lookUp(in.environ, "HOME")
	in.preset = slices.Clone(in.preset)
	for i, text := range in.preset {
		in.preset[i] = strings.Replace(text, "=~/", "="+home+"/", 1)
	}
	conf, err := in.config()
	if err != nil {
		return nil, err
	}
	if conf.Palace.Address == "" {
		return nil, usageError{errors.New("PALACE_ADDR=off is for liminald dev; the proxy needs an address on loopback, as 127.0.0.1:19848 is")}
	}
	keys, err := capture.Keys(conf.Palace.Keys)
	if err != nil {
		return nil, usageError{err}
	}
	o, _ := in.own.(*palaceOptions)
	return &palace{in, o, conf, conf.PalaceDir(), keys}, nil
}

// lookUp is a variable of an environment, "" where it is not set.
func lookUp(environ []string, name string) (value string) {
	for _, entry := range environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

// options are those of a proxy of these settings.
func (p *palace) options() proxy.Options {
	return proxyOptions(p.conf, p.keys, p.logger(p.conf.Log))
}

func proxyOptions(c config.Config, keys *vault.Ring, log *slog.Logger) proxy.Options {
	return proxy.Options{
		Keys: keys,
		Dir:  c.PalaceDir(), Address: c.Palace.Address, Upstream: c.Palace.Upstream, OpenAI: c.Palace.OpenAI,
		Memory: int64(c.Palace.Memory), Disk: int64(c.Palace.Disk), Version: buildVersion(), Log: log,
	}
}

// servePalace serves the capture proxy in this process, and says where, or why not.
// A port or a folder that another has is no reason for the platform not to run: what
// that proxy keeps in this folder is taken in all the same.
func (s *serving) servePalace(c config.Config, log *slog.Logger) (at, why string) {
	if c.Palace.Address == "" {
		return "", "off (PALACE_ADDR)"
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan string, 1), make(chan error, 1)
	keys, err := capture.Keys(c.Palace.Keys)
	if err != nil {
		cancel()
		return "", "not served here: " + err.Error()
	}
	o := proxyOptions(c, keys, log)
	o.Ready = func(address string) error { ready <- address; return nil }
	go func() { ended <- proxy.Serve(ctx, o) }()
	select {
	case address := <-ready:
		s.onClose("the capture proxy", func(limit context.Context) error {
			cancel()
			limit, done := context.WithTimeout(limit, palaceGrace)
			defer done()
			select {
			case err := <-ended:
				return err
			case <-limit.Done():
				return errors.New("streams of agents were cut; a command that runs behind the proxy starts it anew")
			}
		})
		return "http://" + address, ""
	case err := <-ended:
		cancel()
		log.Info("the capture proxy is not served here", "error", err)
		return "", "not served here: " + err.Error()
	}
}

func (p *palace) serve(ctx context.Context) error {
	o := p.options()
	o.Ready = func(address string) error {
		_, err := fmt.Fprintf(p.err, "The palace proxy listens on http://%s and passes requests on to %s; what passes is kept in %s.\nRun an agent behind it:  liminald palace run -- claude\nor give a client its address:  eval \"$(liminald palace env NAME)\"\n", address, o.Upstream, proxy.SpoolDir(p.dir))
		return err
	}
	return proxy.Serve(ctx, o)
}

// becomePalace is the proxy that a command started.
func becomePalace(ctx context.Context, t terminal) int {
	c := palaceCommand()
	p, err := newPalace(&invocation{terminal: t, preset: c.defaults})
	if err == nil {
		o := p.options()
		o.Idle = palaceIdle
		err = proxy.Serve(ctx, o)
	}
	return c.fail(t, err)
}

// handedOn is what a proxy that we start gets of our environment: no key of
// a backend is among it, but those that it is to encrypt with.
var handedOn = []string{
	"HOME", "PATH", "TMPDIR", "TZ", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", "GOMEMLIMIT", "GOGC",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "PALACE_MEMORY", "PALACE_DISK", "PALACE_KEYS", "LIMINAL_LOG_FORMAT",
}

// proxyCommand prepares a proxy in a process of its own.
func (p *palace) proxyCommand(self string) func(address string) *exec.Cmd {
	return func(address string) *exec.Cmd {
		if address == "" {
			address = p.conf.Palace.Address
		}
		cmd := exec.Command(self, palaceProxyCommand)
		cmd.Dir = string(filepath.Separator)
		cmd.Env = []string{"SHARED_FS_ROOT=" + p.conf.Data, "PALACE_ADDR=" + address, "PALACE_UPSTREAM=" + p.conf.Palace.Upstream, "PALACE_OPENAI_UPSTREAM=" + p.conf.Palace.OpenAI, "LIMINAL_LOG_LEVEL=" + p.conf.Log.Level}
		for _, name := range handedOn {
			if v := lookUp(p.environ, name); v != "" {
				cmd.Env = append(cmd.Env, name+"="+v)
			}
		}
		return cmd
	}
}

func (p *palace) runCommand(ctx context.Context) error {
	path, err := exec.LookPath(p.args[0])
	if err != nil {
		return fmt.Errorf("the command %s cannot be found", p.args[0])
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	agent := proxy.Agent{Name: p.name}
	if agent.Name == "" {
		agent.Name = filepath.Base(path)
	}
	if dir, err := os.Getwd(); err == nil {
		agent.Project = filepath.Base(dir)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	token := proxy.NewToken()
	held, err := launch.Hold(ctx, launch.Options{Dir: p.dir, Token: token, Agent: agent, Command: p.proxyCommand(self)})
	if err != nil {
		return err
	}
	for _, of := range [][3]string{{"PALACE_UPSTREAM", held.Upstream, p.conf.Palace.Upstream}, {"PALACE_OPENAI_UPSTREAM", held.OpenAI, p.conf.Palace.OpenAI}} {
		if of[1] != of[2] {
			return usageError{fmt.Errorf("the proxy that runs passes requests on to %s, not to %s as %s says; stop it first (liminald palace status has its process)", of[1], of[2], of[0])}
		}
	}
	env, err := p.environmentOf(held.Address, token)
	if err != nil {
		return err
	}
	return p.runWith(path, append([]string{p.args[0]}, p.withRecall(path, p.args[1:])...), env)
}

// runWith runs a command to its end, with an environment.
func (p *palace) runWith(path string, args, env []string) error {
	cmd := exec.Command(path, args[1:]...)
	cmd.Args[0], cmd.Env = args[0], env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.in, p.out, p.err
	code, err := launch.Run(cmd)
	if err != nil {
		return err
	}
	if code != exitOK {
		return shownError{code}
	}
	return nil
}

// recallConfig has Claude Code reach the tools that give back what a view set aside. The
// address with the token is in its environment already, and nobody sees it in a list of
// processes.
const recallConfig = `{"mcpServers":{"palace":{"type":"http","url":"${` + baseURL + `}/mcp"}}}`

// recallAllowed are those tools: they return what the agent has read before.
const recallAllowed = "mcp__palace__recall,mcp__palace__search,mcp__palace__keep"

// withRecall are the arguments of a command, with those tools where the policy lets views
// set something aside, and the command is a conversation of Claude Code.
func (p *palace) withRecall(path string, args []string) []string {
	name := strings.TrimSuffix(filepath.Base(path), ".exe")
	manages := len(args) > 0 && slices.Contains([]string{"agents", "auth", "config", "doctor", "install", "mcp", "plugin", "plugins", "setup-token", "update", "upgrade"}, args[0])
	if name != "claude" || manages || !proxy.Views(p.dir, p.keys) {
		return args
	}
	return append([]string{"--mcp-config=" + recallConfig, "--allowedTools=" + recallAllowed}, args...)
}

// environmentOf is that of a command behind a proxy.
func (p *palace) environmentOf(address, token string) ([]string, error) {
	if p.client == "codex" {
		return nil, usageError{errors.New("codex has its address from its config.toml, not from its environment: liminald palace env --client codex prints what to put there")}
	}
	c, err := p.clientOf(address, token)
	if err != nil {
		return nil, err
	}
	if set := strings.TrimRight(lookUp(p.environ, c.variable), "/"); set != "" && set != c.upstream && !strings.HasPrefix(set, proxy.BaseURL(address, "")) {
		return nil, usageError{fmt.Errorf("%s names %s, and the proxy passes requests on to %s, with the key that is meant for the other; set %s to it, or unset it", c.variable, set, c.upstream, c.setting)}
	}
	env := behind(p.environ, c.variable, c.base)
	if c.variable == baseURL && lookUp(env, "ENABLE_TOOL_SEARCH") == "" {
		env = append(env, "ENABLE_TOOL_SEARCH=true")
	}
	return env, nil
}

// behind is an environment with the address of something on this machine. A proxy on
// the way to the world is none on the way to us.
func behind(environ []string, variable, base string) []string {
	env := slices.DeleteFunc(slices.Clone(environ), func(entry string) bool { return strings.HasPrefix(entry, variable+"=") })
	env = append(env, variable+"="+base)
	for _, names := range [][2]string{{"HTTP_PROXY", "NO_PROXY"}, {"http_proxy", "no_proxy"}} {
		if lookUp(env, names[0]) == "" {
			continue
		}
		direct := "127.0.0.1,localhost"
		if set := lookUp(env, names[1]); set != "" {
			direct = set + "," + direct
		}
		env = append(env, names[1]+"="+direct)
	}
	return env
}

// supervises reports whether a command line runs another program, which gets the
// signals of ours and decides what they mean.
func supervises(args []string) bool {
	verbs := []string{"run"}
	if at := slices.Index(args, "--"); at >= 0 {
		args, verbs = args[:at], append(verbs, "replay")
	}
	return len(args) > 1 && args[0] == "palace" && slices.ContainsFunc(args[1:], func(arg string) bool { return slices.Contains(verbs, arg) })
}
