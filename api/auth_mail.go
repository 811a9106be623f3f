package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"liminal/internal/quota"
)

func (s *server) mailRoutes() {
	add(s, public(route("POST /v1/auth/request_reset", "requestReset", "Mail a link to set a new password")), s.requestReset)
	add(s, public(route("POST /v1/auth/complete_reset", "completeReset", "Set a new password by the token of that mail")), s.completeReset)
	add(s, public(route("POST /v1/auth/request_verification", "requestVerification", "Mail a new link to confirm an address")), s.requestVerification)
	add(s, public(route("POST /v1/auth/verify_email", "verifyEmail", "Confirm an address by the token of a mail")), s.verifyEmail)
	add(s, route("POST /v1/auth/password", "changePassword", "Change the password, and end the other sessions"), s.changePassword)
}

// letter is the rule for mails one caller asks for, by the address they go to.
func letter() quota.Rule { return quota.Rule{Name: "auth.mail", Burst: 5, Per: 15 * time.Minute} }

// mailbox is the rule for mails to one address, whoever asks: many callers
// together must not flood it.
func mailbox() quota.Rule { return quota.Rule{Name: "auth.mailbox", Burst: 20, Per: time.Hour} }

// tokenTry is the rule for tokens of mails and old passwords, by who tries them:
// they cannot be guessed, but each try is work.
func tokenTry() quota.Rule { return quota.Rule{Name: "auth.token", Burst: 20, Per: 5 * time.Minute} }

type mailInput struct {
	Body struct {
		Email string `json:"email"`
	}
}

// spendLetter counts a mail that is asked for, whether or not one is sent.
func (s *server) spendLetter(ctx context.Context, email string) error {
	req := requestOf(ctx)
	if err := s.Limits.Spend(ctx, quota.SignInByAddress(), req.origin()); err != nil {
		return err
	}
	to := mailboxOf(email)
	if err := s.Limits.Spend(ctx, letter(), req.origin()+" "+to); err != nil {
		return err
	}
	return s.Limits.Spend(ctx, mailbox(), to)
}

// mailboxOf names what somebody gave as an address in what is counted: it may
// be long, or another person's, and a ledger should hold neither.
func mailboxOf(email string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(email))))
	return hex.EncodeToString(sum[:16])
}

// requestReset answers before anything is looked up: neither the answer nor
// its time tells whether the address has an account (AUTH-08).
func (s *server) requestReset(ctx context.Context, in *mailInput) (Nothing, error) {
	if err := s.spendLetter(ctx, in.Body.Email); err != nil {
		return Nothing{}, err
	}
	s.Passwords.RequestReset(ctx, in.Body.Email)
	return Nothing{}, nil
}

func (s *server) requestVerification(ctx context.Context, in *mailInput) (Nothing, error) {
	if err := s.spendLetter(ctx, in.Body.Email); err != nil {
		return Nothing{}, err
	}
	s.Passwords.RequestConfirmation(ctx, in.Body.Email)
	return Nothing{}, nil
}

type resetInput struct {
	Body struct {
		Token    string `json:"token" maxLength:"100"`
		Password string `json:"new_password"`
	}
}

func (s *server) completeReset(ctx context.Context, in *resetInput) (Nothing, error) {
	if err := s.Limits.Spend(ctx, tokenTry(), requestOf(ctx).origin()); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Passwords.CompleteReset(ctx, in.Body.Token, in.Body.Password)
}

type confirmInput struct {
	Body struct {
		Token string `json:"token" maxLength:"100"`
	}
}

func (s *server) verifyEmail(ctx context.Context, in *confirmInput) (Nothing, error) {
	if err := s.Limits.Spend(ctx, tokenTry(), requestOf(ctx).origin()); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Passwords.ConfirmEmail(ctx, in.Body.Token)
}

type passwordInput struct {
	Body struct {
		Old string `json:"old_password"`
		New string `json:"new_password"`
	}
}

func (s *server) changePassword(ctx context.Context, in *passwordInput) (Nothing, error) {
	v := viewerOf(ctx)
	if err := s.Limits.Spend(ctx, tokenTry(), v.UserID); err != nil {
		return Nothing{}, err
	}
	return Nothing{}, s.Passwords.ChangePassword(ctx, v, in.Body.Old, in.Body.New)
}
