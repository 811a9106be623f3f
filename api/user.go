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
	add(s, route("PATCH /v1/users/{id}", "changeUser", "Change an account, for administrators"), s.changeUser)
}

// Account is an account as an administrator sees it.
type Account struct {
	User
	Active    bool             `json:"active"`
	Budget    Nullable[Budget] `json:"budget" doc:"of their own; null: their plan's"`
	CreatedAt time.Time        `json:"created_at"`
}

func accountView(u identity.User) Account {
	a := Account{User: userView(u), Active: u.Active, CreatedAt: u.CreatedAt.UTC()}
	if u.Budget != nil {
		a.Budget.V = (*Budget)(u.Budget)
	}
	return a
}

type listUsersInput struct {
	Tenant string `query:"tenant_id"`
	Email  string `query:"email"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" minimum:"1" maximum:"100"`
}

func (s *server) listUsers(ctx context.Context, in *listUsersInput) (Page[Account], error) {
	list, next, err := s.People.Users(ctx, viewerOf(ctx), identity.UserFilter{
		Tenant: in.Tenant, Email: in.Email, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return Page[Account]{}, err
	}
	return page(list, next, accountView), nil
}

type changeUserInput struct {
	ID   string `path:"id" format:"uuid"`
	Body struct {
		Role   *string `json:"role,omitempty" doc:"user, power or admin"`
		Plan   *string `json:"plan,omitempty"`
		Active *bool   `json:"active,omitempty" doc:"false: cannot sign in, nor use what is signed in"`
		Budget Given   `json:"budget,omitzero" doc:"null: the plan's"`
	}
}

func (s *server) changeUser(ctx context.Context, in *changeUserInput) (Account, error) {
	c := identity.UserChange{Plan: in.Body.Plan, Active: in.Body.Active}
	if in.Body.Role != nil {
		role := identity.Role(*in.Body.Role)
		c.Role = &role
	}
	v := viewerOf(ctx)
	if v.IsAdmin() && c.Plan != nil && !isPlan(*c.Plan) {
		return Account{}, fault.New(fault.Invalid, "There is no such plan.").With(map[string]any{"field": "plan"})
	}
	if in.Body.Budget.named {
		if err := in.Body.Budget.check(); err != nil {
			return Account{}, err
		}
		budget := (*identity.Budget)(in.Body.Budget.budget)
		c.Budget = &budget
	}
	u, err := s.People.ChangeUser(ctx, v, in.ID, c)
	if err != nil {
		return Account{}, err
	}
	return accountView(u), nil
}

// isPlan reports whether an account can have a plan of this name.
func isPlan(name string) bool {
	return name != quota.Unverified && slices.ContainsFunc(quota.Plans(), func(p quota.Plan) bool { return p.Name == name })
}
