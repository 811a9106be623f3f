package api

import (
	"cmp"
	"context"
	"encoding/base64"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

func (s *server) factorRoutes() {
	add(s, route("GET /v1/auth/mfa", "mfa", "Whether sign-ins of this account need a second factor"), s.mfa)
	add(s, route("POST /v1/auth/mfa/enable", "enableMFA", "A secret for an authenticator; it counts once its first code was verified"), s.enableMFA)
	add(s, public(route("POST /v1/auth/mfa/verify", "verifyMFA", "Show a code: in a session, or with the ticket of a sign-in that asked for one")), s.verifyMFA)
	add(s, route("POST /v1/auth/mfa/recovery", "renewRecoveryCodes", "New recovery codes; the old ones count no more"), s.renewRecovery)
	add(s, route("POST /v1/auth/mfa/disable", "disableMFA", "Give the second factor up"), s.disableMFA)
}

// MFA is how an account stands.
type MFA struct {
	Enabled      bool `json:"enabled"`
	RecoveryLeft int  `json:"recovery_codes_left"`
}

func (s *server) mfa(ctx context.Context, _ *struct{}) (MFA, error) {
	f, err := s.factors()
	if err != nil {
		return MFA{}, err
	}
	got, err := f.FactorState(ctx, viewerOf(ctx))
	return MFA{Enabled: got.Enabled, RecoveryLeft: got.RecoveryLeft}, err
}

func (s *server) factors() (Factors, error) {
	if s.Factors == nil {
		return nil, fault.New(fault.Conflict, "This server keeps no second factors.")
	}
	return s.Factors, nil
}

// tryFactor is factors for a request that proves something: it spends of the
// person's tries and of the address's.
func (s *server) tryFactor(ctx context.Context, who string) (Factors, error) {
	req := requestOf(ctx)
	if err := cmp.Or(s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()), s.Limits.Spend(ctx, quota.SignIn(), "mfa "+who)); err != nil {
		return nil, err
	}
	return s.factors()
}

// Enrolment is what an authenticator needs to know, told this once (AUTH-12).
type Enrolment struct {
	Secret string `json:"secret" doc:"base32, to type in"`
	URI    string `json:"otpauth_uri"`
	QR     string `json:"qr" doc:"of otpauth_uri; a data: URL of a PNG"`
}

func (s *server) enableMFA(ctx context.Context, _ *struct{}) (Enrolment, error) {
	v := viewerOf(ctx)
	f, err := s.tryFactor(ctx, v.UserID)
	if err != nil {
		return Enrolment{}, err
	}
	got, err := f.EnrolFactor(ctx, v)
	if err != nil {
		return Enrolment{}, err
	}
	return Enrolment{Secret: got.Secret, URI: got.URI, QR: "data:image/png;base64," + base64.StdEncoding.EncodeToString(got.QR)}, nil
}

// Proof is what a person shows of their second factor.
type Proof struct {
	Code     string `json:"code,omitempty" doc:"six digits of the authenticator; good once"`
	Recovery string `json:"recovery_code,omitempty" doc:"instead of code; good once"`
}

func (p Proof) shown() (identity.Proof, error) {
	if p.Code == "" && p.Recovery == "" {
		return identity.Proof{}, fault.New(fault.Invalid, "Give the code of the authenticator, or a recovery code.").
			With(map[string]any{"field": "code"})
	}
	return identity.Proof{Code: p.Code, Recovery: p.Recovery}, nil
}

type verifyInput struct {
	Body struct {
		Proof
		Ticket string `json:"ticket,omitempty" doc:"of the details of mfa_required; without it the session proves itself"`
	}
}

// Proved is a new session that has shown its second factor (AUTH-13).
type Proved struct {
	Credentials
	RecoveryCodes []string `json:"recovery_codes,omitempty" doc:"told this once, when the first code puts the factor to use; every other session has ended then"`
	RecoveryLeft  int      `json:"recovery_codes_left"`
}

// verifyMFA opens a session: in place of the one that shows the code, or the
// one a ticket stands for.
func (s *server) verifyMFA(ctx context.Context, in *verifyInput) (Proved, error) {
	p, err := in.Body.shown()
	if err != nil {
		return Proved{}, err
	}
	req := requestOf(ctx)
	if in.Body.Ticket != "" {
		f, err := s.factors()
		if err = cmp.Or(s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()), err); err != nil {
			return Proved{}, err
		}
		got, err := f.ProveTicket(ctx, in.Body.Ticket, p, req.device())
		return s.provedAs(req, got, err)
	}
	if err := s.enter(ctx, bearer(req.raw.Header.Get("Authorization"))); err != nil {
		return Proved{}, err
	}
	f, err := s.tryFactor(ctx, req.viewer.UserID)
	if err != nil {
		return Proved{}, err
	}
	got, err := f.ProveSession(ctx, req.viewer, p, req.device())
	return s.provedAs(req, got, err)
}

func (s *server) provedAs(req *request, got identity.Proved, err error) (Proved, error) {
	in, err := s.signedInAs(req, got.SignIn, err)
	return Proved{Credentials: in, RecoveryCodes: got.RecoveryCodes, RecoveryLeft: got.RecoveryLeft}, err
}

type proofInput struct{ Body Proof }

// RecoveryCodes are codes that stand for the authenticator, each good once.
type RecoveryCodes struct {
	Codes []string `json:"recovery_codes" doc:"told this once"`
}

func (s *server) renewRecovery(ctx context.Context, in *proofInput) (RecoveryCodes, error) {
	v := viewerOf(ctx)
	p, err := in.Body.shown()
	if err != nil {
		return RecoveryCodes{}, err
	}
	f, err := s.tryFactor(ctx, v.UserID)
	if err != nil {
		return RecoveryCodes{}, err
	}
	codes, err := f.RenewRecovery(ctx, v, p)
	return RecoveryCodes{Codes: codes}, err
}

type disableInput struct {
	Body struct {
		Proof
		Password string `json:"password,omitempty" doc:"of the account, when it has one"`
	}
}

func (s *server) disableMFA(ctx context.Context, in *disableInput) (MFA, error) {
	v := viewerOf(ctx)
	p, err := in.Body.shown()
	if err != nil {
		return MFA{}, err
	}
	f, err := s.tryFactor(ctx, v.UserID)
	if err != nil {
		return MFA{}, err
	}
	return MFA{}, f.DisableFactor(ctx, v, in.Body.Password, p)
}
