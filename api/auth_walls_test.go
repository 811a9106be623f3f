package api

import (
	"net/http"
	"strings"

	"liminal/internal/id"
)

// accountWalls is the table's part of accounts, sessions and factors: what
// they name is the session of whoever asks, or a token that says it all.
var accountWalls = map[string]wall{
	"POST /v1/auth/signup":  ownOnly(http.StatusBadRequest, map[string]any{"email": "ada@example.org", "password": "x"}),
	"POST /v1/auth/login":   ownOnly(http.StatusUnauthorized, map[string]any{"email": "ada@example.org", "password": "wrong horse"}),
	"POST /v1/auth/refresh": ownOnly(http.StatusUnauthorized, map[string]any{"refresh_token": "wrong"}),
	"POST /v1/auth/logout":  nobodysToken,
	"GET /v1/auth/me":       ownOnly(http.StatusOK),
	"DELETE /v1/auth/me":    ownOnly(http.StatusBadRequest, map[string]any{"password": "wrong horse"}),

	"GET /v1/auth/sessions":         ownOnly(http.StatusOK),
	"DELETE /v1/auth/sessions":      ownOnly(http.StatusOK),
	"DELETE /v1/auth/sessions/{id}": byID(func(of belongings) string { return of.session }, nil),
	"GET /v1/keys":                  ownOnly(http.StatusOK),
	"POST /v1/keys":                 ownOnly(http.StatusBadRequest, map[string]any{"name": "x", "scopes": []string{"everything"}, "user_id": "ada"}),
	"DELETE /v1/keys/{id}":          byID(func(of belongings) string { return of.key }, nil),
	"GET /v1/oauth/consent":         ownOnly(http.StatusBadRequest), // of no program
	"POST /v1/oauth/consent": ownOnly(http.StatusBadRequest, map[string]any{
		"client_id": id.New(), "response_type": "code", "code_challenge": "x", "code_challenge_method": "S256", "resource": "x", "allow": true, "user_id": "ada",
	}),
	"GET /oauth/authorize":                          ownOnly(http.StatusBadRequest),
	"POST /oauth/register":                          ownOnly(http.StatusBadRequest, map[string]any{"redirect_uris": []string{}}),
	"POST /oauth/token":                             ownOnly(http.StatusBadRequest, "grant_type=refresh_token"),
	"POST /oauth/revoke":                            ownOnly(http.StatusBadRequest, "token=x"), // as JSON: TestACodeAndARefreshTokenCountOnce has forms
	"GET /.well-known/oauth-protected-resource/mcp": ownOnly(http.StatusOK),
	"GET /.well-known/oauth-protected-resource":     ownOnly(http.StatusOK),
	"GET /.well-known/oauth-authorization-server":   ownOnly(http.StatusOK),
	"GET /v1/settings":                              ownOnly(http.StatusOK),
	"PATCH /v1/settings":                            ownOnly(http.StatusOK, map[string]any{"locale": "de", "user_id": "ada"}),
	"GET /v1/users":                                 ownOnly(http.StatusForbidden),
	"GET /v1/insights":                              ownOnly(http.StatusForbidden),

	"GET /v1/sources":               ownOnly(http.StatusOK),
	"PUT /v1/sources/{name}/secret": ownOnly(http.StatusForbidden, map[string]any{"secret": "postgres://x"}),
	"POST /v1/sources/{name}/check": ownOnly(http.StatusForbidden, map[string]any{}),
	"GET /v1/backends":              ownOnly(http.StatusForbidden),

	"GET /v1/webhooks":                                          ownOnly(http.StatusOK),
	"POST /v1/webhooks":                                         ownOnly(http.StatusForbidden, map[string]any{"url": "https://example.org", "events": []string{"run.done"}, "tenant": true}),
	"GET /v1/webhooks/{id}":                                     byID(webhookOf, nil),
	"PATCH /v1/webhooks/{id}":                                   byID(webhookOf, map[string]any{"url": "https://stolen.example.org"}),
	"DELETE /v1/webhooks/{id}":                                  byID(webhookOf, nil),
	"POST /v1/webhooks/{id}/secret":                             byID(webhookOf, nil),
	"POST /v1/webhooks/{id}/test":                               byID(webhookOf, nil),
	"GET /v1/webhooks/{id}/deliveries":                          byID(webhookOf, nil),
	"POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": redeliveries,
	"GET /v1/notifications":                                     ownOnly(http.StatusOK),
	"PUT /v1/notifications":                                     ownOnly(http.StatusOK, map[string]any{"events": []string{"run.done"}, "after_minutes": 5}),
	"GET /v1/connections":                                       ownOnly(http.StatusOK),
	"POST /v1/connections/{name}/begin":                         ownOnly(http.StatusNotFound),
	"DELETE /v1/connections/{name}":                             ownOnly(http.StatusNotFound),
	"PUT /v1/connections/{name}/client":                         ownOnly(http.StatusForbidden, map[string]any{"client_id": "x", "client_secret": "y"}),
	"GET /v1/connections/{name}/callback": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/connections/x/callback?state=guessed&code=x", nil), want: 404}}
	},
	"POST /v1/backends":                ownOnly(http.StatusForbidden, map[string]any{"name": "x", "protocol": "vllm", "url": "http://127.0.0.1:1/v1"}),
	"GET /v1/backends/options":         ownOnly(http.StatusOK),
	"GET /v1/backends/changes":         ownOnly(http.StatusForbidden),
	"PATCH /v1/backends/{name}":        administrators("PATCH", "", map[string]any{"people_may_choose": true}),
	"DELETE /v1/backends/{name}":       administrators("DELETE", "", nil),
	"POST /v1/backends/{name}/default": administrators("POST", "/default", nil),
	"POST /v1/backends/{name}/test":    administrators("POST", "/test", nil),

	"PATCH /v1/users/{id}": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("PATCH", "/v1/users/"+of.user, map[string]any{"role": "admin"}), want: 403}}
	},

	"GET /v1/users/{id}": forbiddenOf("GET", "/v1/users/{id}"), "DELETE /v1/users/{id}/sessions": forbiddenOf("DELETE", "/v1/users/{id}/sessions"),
	"DELETE /v1/users/{id}/mfa": forbiddenOf("DELETE", "/v1/users/{id}/mfa"),
	"GET /v1/audit": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/audit", nil), want: 403}, {request: p.request("GET", "/v1/audit?user_id="+of.user, nil), want: 403}}
	},
	"GET /v1/plans": ownOnly(http.StatusForbidden),
	"PATCH /v1/plans/{name}": func(p *person, _ belongings) []attack {
		body := map[string]any{"version": 0, "numbers": map[string]any{"files": 5}}
		return []attack{{request: p.request("PATCH", "/v1/plans/free", body), want: 403}, {request: p.request("PATCH", "/v1/plans/gold", body), want: 403}}
	},

	// These take a token from a mail; without it they tell nothing and do
	// nothing, whoever's address they name.
	"POST /v1/auth/request_reset":        ownOnly(http.StatusOK, map[string]any{"email": "ada@example.org"}),
	"POST /v1/auth/complete_reset":       ownOnly(http.StatusBadRequest, map[string]any{"token": "wrong", "new_password": "wrong horse"}),
	"POST /v1/auth/request_verification": ownOnly(http.StatusOK, map[string]any{"email": "ada@example.org"}),
	"POST /v1/auth/verify_email":         ownOnly(http.StatusBadRequest, map[string]any{"token": "wrong"}),
	"POST /v1/auth/password":             ownOnly(http.StatusBadRequest, map[string]any{"old_password": "wrong horse", "new_password": "another horse"}),

	"GET /v1/auth/mfa":           ownOnly(http.StatusOK),
	"POST /v1/auth/mfa/enable":   ownOnly(http.StatusOK),
	"POST /v1/auth/mfa/verify":   ownOnly(http.StatusUnauthorized, map[string]any{"code": "000000", "ticket": "wrong"}),
	"POST /v1/auth/mfa/recovery": ownOnly(http.StatusConflict, map[string]any{"code": "000000"}),
	"POST /v1/auth/mfa/disable":  ownOnly(http.StatusConflict, map[string]any{"code": "000000", "password": "wrong horse"}),

	"GET /v1/auth/links": ownOnly(http.StatusOK),
	"DELETE /v1/auth/links/{provider}": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("DELETE", "/v1/auth/links/google", nil), want: 404}}
	},
	"GET /v1/auth/oauth": ownOnly(http.StatusOK),
	"POST /v1/auth/oauth/{provider}/start": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("POST", "/v1/auth/oauth/nowhere/start", map[string]any{}), want: 404}}
	},
	"GET /v1/auth/oauth/{provider}/callback": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/auth/oauth/nowhere/callback?state="+of.session, nil), want: 404}}
	},
}

// forbiddenOf is the wall of what administrators alone do to an account.
func forbiddenOf(method, path string) wall {
	return func(p *person, of belongings) []attack {
		return []attack{{request: p.request(method, strings.ReplaceAll(path, "{id}", of.user), nil), want: http.StatusForbidden}}
	}
}

// nobodysToken leaves by a token that is nobody's and without a session of its
// own, so that the test may go on.
func nobodysToken(p *person, of belongings) []attack {
	r := p.request("POST", "/v1/auth/logout", map[string]any{"refresh_token": of.session, "session_id": of.session})
	r.Header.Del("Authorization")
	return []attack{{request: r, want: http.StatusOK}}
}

// administrators is the wall of what only they do to a model backend.
func administrators(method, act string, body any) wall {
	return func(p *person, _ belongings) (list []attack) {
		for _, name := range []string{"environment", "nowhere"} {
			list = append(list, attack{request: p.request(method, "/v1/backends/"+name+act, body), want: http.StatusForbidden})
		}
		return list
	}
}
