package devserver

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	uiserver "github.com/temporalio/ui-server/v2/server"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

// webUI is Temporal's own web client, served from files inside the binary.
type webUI struct {
	at     address
	server *uiserver.Server
}

// startUI serves the UI in the background. Its Start ends the process when the
// port is taken, so the port was tried before (see Options.addresses).
func startUI(at, frontend address) *webUI {
	server := uiserver.NewServer(server_options.WithConfigProvider(&uiconfig.Config{
		Host:                bracketed(at.ip.String()),
		Port:                at.port,
		TemporalGRPCAddress: frontend.String(),
		DefaultNamespace:    Namespace,
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true, // nothing here may need a network
		CORS:                uiconfig.CORS{CookieInsecure: true},
	}))
	go func() { _ = server.Start() }() // always nil: it returns only after stop
	return &webUI{at: at, server: server}
}

func (u *webUI) stop() { u.server.Stop() }

// ready polls the UI's health page until it answers.
func (u *webUI) ready(ctx context.Context) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		err := u.healthy(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

func (u *webUI) healthy(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+u.at.String()+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close() // fully read
	return err
}

// bracketed is how the UI server wants an IPv6 host.
func bracketed(ip string) string {
	if parsed := net.ParseIP(ip); parsed != nil && parsed.To4() == nil {
		return "[" + ip + "]"
	}
	return ip
}
