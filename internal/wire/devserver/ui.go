package devserver

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	"github.com/temporalio/ui-server/v2/server/auth"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/cors"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"

	"liminal/internal/origin"
)

// headerTime bounds how long a browser may take to say what it wants.
const headerTime = 10 * time.Second

type webUI struct {
	at     address
	server *http.Server
}

// startUI serves Temporal's web UI to the pages and names of this machine: it
// knows no people, and lets whoever reaches it start and signal runs.
func startUI(ctx context.Context, at, frontend address, urls, hosts []string) (*webUI, error) {
	handler, err := uiHandler(&uiconfig.Config{
		Host:                at.ip.String(),
		Port:                at.port,
		TemporalGRPCAddress: frontend.String(),
		DefaultNamespace:    Namespace,
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true, // nothing here may need a network
		CORS:                uiconfig.CORS{CookieInsecure: true},
	})
	if err != nil {
		return nil, err
	}
	listens := net.JoinHostPort(at.ip.String(), at.portText())
	pages := origin.New(origin.Options{Listen: listens, URLs: urls, Hosts: hosts, Local: true})
	l, err := listen(ctx, "Temporal web UI", listens)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: pages.Guard(handler), ReadHeaderTimeout: headerTime}
	go func() { _ = server.Serve(l) }() // it returns only after stop
	return &webUI{at: at, server: server}, nil
}

// uiHandler is what ui-server's NewServer makes, which listens by itself and
// lets nobody stand in front.
func uiHandler(c *uiconfig.Config) (http.Handler, error) {
	provider, err := uiconfig.NewConfigProviderWithRefresh(c)
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.Use(middleware.Recover(), middleware.Gzip(), cors.CORSMiddleware(cors.CORSConfig{
		AllowHeaders:     []string{echo.HeaderOrigin, echo.HeaderContentType, echo.HeaderAccept, echo.HeaderXCSRFToken},
		AllowCredentials: true,
		ConfigProvider:   provider,
	}), middleware.Secure(), csrf.EnsureTokenCookie(false), middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	e.Pre(route.PublicPath(c.PublicPath))
	route.SetHealthRoute(e)
	forwarded := headers.WithForwardHeaders([]string{auth.AuthorizationExtrasHeader, "Caller-Type"})
	if err := route.SetAPIRoutes(e, provider, []api.Middleware{forwarded}); err != nil {
		return nil, err
	}
	route.SetAuthRoutes(e, provider)
	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	if assets, err = fs.Sub(assets, "local"); err != nil {
		return nil, err
	}
	if err := route.SetUIRoutes(e, c.PublicPath, assets, provider); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "/")
	return e, nil
}

func (u *webUI) stop() { _ = u.server.Close() }

// ready returns once the UI answers.
func (u *webUI) ready(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+u.at.String()+"/healthz", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close())
}
