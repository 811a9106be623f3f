package api

import (
	"context"
	"slices"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

func (s *server) userRoutes() {
	add(s, route("GET /v1/users", "listUsers", "All accounts, for administrators"), s.listUsers)
	add(s, route("GET /v1/users/{id}", "user", "One account, for administrators"), s.user)
	add(s, route("PATCH /v1/users/{id}", "changeUser", "Change an account, for administrators"), s.changeUser)
	add(s, route("DELETE /v1/users/{id}/sessions", "signOutUser", "Sign a person out everywhere, for administrators"), s.signOutUser)
	add(s, route("DELETE /v1/users/{id}/mfa", "clearFactor", "Take the second factor off an account, for administrators"), s.clearFactor)
	add(s, route("GET /v1/audit", "listAudit", "What administrators did, latest first, for administrators", scopeAdmin), s.listAudit)
}

// Account is an account as an administrator sees it.
type Account struct {
	User
	Active    bool               `json:"active"`
	Budget    Nullable[Budget]   `json:"budget" doc:"of their own; null: their plan's"`
	Limits    map[string]float64 `json:"limits" doc:"numbers of their own instead of their plan's, by key"`
	CreatedAt time.Time          `json:"created_at"`
	LastSeen  *time.Time         `json:"last_seen_at" nullable:"true" doc:"to half an hour; null: never"`
	SignIns   int                `json:"sign_ins" doc:"that are open"`
	Today     Use                `json:"today" doc:"what model calls used today, of UTC"`
	Month     Use                `json:"month" doc:"and this month"`
	Allowed   Budget             `json:"allowed" doc:"the budget that holds: their own, or their plan's"`
	Storage   Storage            `json:"storage"`
}

// accountsOf tells of accounts with what their people used.
func (s *server) accountsOf(ctx context.Context, users ...identity.User) ([]Account, error) {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.ID
	}
	figures, err := s.Administration.Figures(ctx, viewerOf(ctx), ids)
	if err != nil {
		return nil, err
	}
	list := make([]Account, len(users))
	for i, u := range users {
		list[i] = s.accountView(u, figures[u.ID])
	}
	return list, nil
}

func (s *server) accountView(u identity.User, f identity.Figures) Account {
	v := u.Viewer("")
	if u.Unverified {
		v.Plan = quota.Unverified
	}
	plan := s.Plans.Of(v)
	a := Account{
		User: userView(u), Active: u.Active, CreatedAt: u.CreatedAt.UTC(), Limits: f.Limits, SignIns: f.SignIns,
		Today: useView(quota.Use(f.Today)), Month: useView(quota.Use(f.Month)),
		Storage: Storage{UsedBytes: f.StoredBytes, MaxBytes: plan.MaxStorageBytes, Files: f.Files, MaxFiles: plan.MaxFiles},
	}
	if a.Limits == nil {
		a.Limits = map[string]float64{}
	}
	if u.Budget != nil {
		a.Budget.V = (*Budget)(u.Budget)
	}
	if s.Budgets != nil {
		a.Allowed = Budget(s.Budgets.Of(v, u.Budget))
	}
	if !f.LastSeen.IsZero() {
		seen := f.LastSeen.UTC()
		a.LastSeen = &seen
	}
	return a
}

type listUsersInput struct {
	Tenant string `query:"tenant_id"`
	Email  string `query:"email" doc:"the account of this address"`
	Search string `query:"q" maxLength:"200" doc:"part of an address or a name"`
	Role   string `query:"role" doc:"user, power or admin"`
	Plan   string `query:"plan"`
	State  string `query:"state" doc:"active or suspended"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100"`
}

func (s *server) listUsers(ctx context.Context, in *listUsersInput) (Page[Account], error) {
	if !slices.Contains([]string{"", "active", "suspended"}, in.State) {
		return Page[Account]{}, invalidField("state", "The state is active or suspended, or nothing for both, not %q.", in.State)
	}
	users, next, err := s.People.Users(ctx, viewerOf(ctx), identity.UserFilter{
		Tenant: in.Tenant, Email: in.Email, Search: in.Search, Role: identity.Role(in.Role), Plan: in.Plan, State: in.State,
		Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return Page[Account]{}, err
	}
	list, err := s.accountsOf(ctx, users...)
	return page(list, next, func(a Account) Account { return a }), err
}

type userInput struct {
	ID string `path:"id" format:"uuid"`
}

func (s *server) user(ctx context.Context, in *userInput) (Account, error) {
	u, err := s.Administration.UserOf(ctx, viewerOf(ctx), in.ID)
	if err != nil {
		return Account{}, err
	}
	return s.accountOf(ctx, u)
}

func (s *server) accountOf(ctx context.Context, u identity.User) (Account, error) {
	list, err := s.accountsOf(ctx, u)
	if err != nil {
		return Account{}, err
	}
	return list[0], nil
}

type changeUserInput struct {
	ID   string `path:"id" format:"uuid"`
	Body struct {
		Role   *string             `json:"role,omitempty" doc:"user, power or admin"`
		Plan   *string             `json:"plan,omitempty"`
		Active *bool               `json:"active,omitempty" doc:"false: cannot sign in, nor use what is signed in"`
		Budget Given               `json:"budget,omitzero" doc:"null: the plan's"`
		Limits *map[string]float64 `json:"limits,omitempty" doc:"numbers of their own, all of them, by key as GET /v1/plans has them; an empty object: the plan's"`
	}
}

func (s *server) changeUser(ctx context.Context, in *changeUserInput) (Account, error) {
	c := identity.UserChange{Plan: in.Body.Plan, Active: in.Body.Active, Limits: in.Body.Limits}
	if in.Body.Role != nil {
		role := identity.Role(*in.Body.Role)
		c.Role = &role
	}
	v := viewerOf(ctx)
	if v.IsAdmin() && c.Plan != nil && !isPlan(*c.Plan) {
		return Account{}, fault.New(fault.Invalid, "There is no such plan.").With(map[string]any{"field": "plan"})
	}
	if v.IsAdmin() && c.Limits != nil {
		if err := quota.CheckPersonal(*c.Limits); err != nil {
			return Account{}, err
		}
	}
	if in.Body.Budget.named {
		if err := in.Body.Budget.check(); err != nil {
			return Account{}, err
		}
		budget := (*identity.Budget)(in.Body.Budget.budget)
		c.Budget = &budget
	}
	u, err := s.People.ChangeUser(ctx, v, in.ID, c)
	if err == nil && c.Limits != nil {
		err = s.Plans.Load(ctx)
	}
	if err != nil {
		return Account{}, err
	}
	return s.accountOf(ctx, u)
}

// isPlan reports whether an account can have a plan of this name.
func isPlan(name string) bool {
	return name != quota.Unverified && slices.Contains(quota.PlanNames(), name)
}

// SignedOut is what a sign-out of somebody else ended.
type SignedOut struct {
	Sessions int `json:"sessions" doc:"that were open"`
}

func (s *server) signOutUser(ctx context.Context, in *userInput) (SignedOut, error) {
	n, err := s.Administration.SignOutUser(ctx, viewerOf(ctx), in.ID)
	return SignedOut{n}, err
}

func (s *server) clearFactor(ctx context.Context, in *userInput) (Account, error) {
	v := viewerOf(ctx)
	if err := s.Administration.ClearFactor(ctx, v, in.ID); err != nil {
		return Account{}, err
	}
	return s.user(ctx, in)
}

// AuditEntry is what an administrator did, once.
type AuditEntry struct {
	ID     int64          `json:"id"`
	At     time.Time      `json:"at"`
	By     AuditPerson    `json:"by"`
	What   string         `json:"what" enum:"user.changed,user.signed_out,user.factor_cleared,plan.changed,key.created,key.revoked"`
	User   *AuditPerson   `json:"user,omitempty" doc:"whose account"`
	Plan   string         `json:"plan,omitempty" doc:"which plan"`
	Was    map[string]any `json:"was" doc:"what changed, before"`
	Became map[string]any `json:"became" doc:"and after"`
}

// AuditPerson is somebody in the log.
type AuditPerson struct {
	ID    string `json:"id" format:"uuid"`
	Email string `json:"email" doc:"empty: the account is gone"`
}

func auditView(e identity.AuditEvent) AuditEntry {
	out := AuditEntry{
		ID: e.ID, At: e.At.UTC(), By: AuditPerson{e.By, e.ByEmail}, What: e.What, Plan: e.Plan, Was: e.Was, Became: e.Became,
	}
	if e.UserID != "" {
		out.User = &AuditPerson{e.UserID, e.UserEmail}
	}
	if out.Was == nil {
		out.Was = map[string]any{}
	}
	if out.Became == nil {
		out.Became = map[string]any{}
	}
	return out
}

type listAuditInput struct {
	User   string `query:"user_id" format:"uuid" doc:"entries about this account"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100"`
}

func (s *server) listAudit(ctx context.Context, in *listAuditInput) (Page[AuditEntry], error) {
	list, next, err := s.Administration.Audit(ctx, viewerOf(ctx), identity.AuditFilter{UserID: in.User, Cursor: in.Cursor, Limit: in.Limit})
	return page(list, next, auditView), err
}
