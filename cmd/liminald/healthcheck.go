package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"

	"liminal/internal/config"
)

// mostSaid bounds what is read of an answer to a probe, in bytes.
const mostSaid = 64 << 10

func healthcheckCommand() command {
	return command{
		name:    "healthcheck",
		summary: "ask a running dev, server or worker whether requests are welcome",
		about: `
Asks /readyz of the process that runs on this machine with the same settings:
on LIMINAL_OPS_LISTEN where that is set, else on LIMINAL_LISTEN. It ends with 0
when requests are welcome, with 1 while the process starts or drains or its
store does not answer, and with 3 when nobody answers within 5 seconds. The
container image runs it as its HEALTHCHECK: there is no other program in it.`,
		examples: []string{"liminald healthcheck", "liminald healthcheck --listen 127.0.0.1:8081", "LIMINAL_OPS_LISTEN=127.0.0.1:9090 liminald healthcheck"},
		settings: []string{"listen"},
		run:      runHealthcheck,
	}
}

func runHealthcheck(ctx context.Context, in *invocation) error {
	conf, err := in.config()
	if err != nil {
		return err
	}
	url, err := probed(conf)
	if err != nil {
		return usageError{err}
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	direct := http.Client{Transport: &http.Transport{}} // whatever proxy the settings of the system name
	resp, err := direct.Do(req)
	if err != nil {
		return unreachableError{fmt.Errorf("nothing answers at %s; LIMINAL_OPS_LISTEN or LIMINAL_LISTEN must be that of the process, and a worker answers on LIMINAL_OPS_LISTEN only", url)}
	}
	defer resp.Body.Close()
	var said struct{ Message string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, mostSaid)).Decode(&said); err != nil || said.Message == "" {
		return fmt.Errorf("what answers %s with %s is no Liminal", url, resp.Status)
	}
	if resp.StatusCode != http.StatusOK {
		return errors.New(said.Message)
	}
	_, err = fmt.Fprintln(in.out, said.Message)
	return err
}

// probed is the URL at which this machine asks the process of these settings
// whether it is ready.
func probed(conf config.Config) (string, error) {
	address, setting := conf.Listen, "LIMINAL_LISTEN"
	if conf.OpsListen != "" {
		address, setting = conf.OpsListen, "LIMINAL_OPS_LISTEN"
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if port == "0" {
		return "", fmt.Errorf("%s=%s is whichever port was free; name the one that the process has", setting, address)
	}
	switch ip, _ := netip.ParseAddr(host); {
	case host == "" || ip == netip.IPv4Unspecified():
		host = "127.0.0.1"
	case ip == netip.IPv6Unspecified():
		host = "::1"
	}
	return "http://" + net.JoinHostPort(host, port) + "/readyz", nil
}
