package store

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

var _ identity.Store = (*Store)(nil)

// accounts is the lock of what must hold over all accounts: who is first, and
// that an administrator is left.
const accounts = "accounts"

// CreateUser implements identity.Store.
func (s *Store) CreateUser(ctx context.Context, asked identity.User, c identity.Credential) (u identity.User, err error) {
	asked.Email = strings.ToLower(asked.Email)
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		u = asked
		u.CreatedAt = s.now()
		if err := firstIsAdmin(tx, &u); err != nil {
			return err
		}
		return insertUser(tx, u, c)
	})
	if fault.CodeOf(err) == fault.Conflict {
		err = fault.Wrap(fault.Conflict, err, "There is an account with this email already; sign in instead.").
			With(map[string]any{"field": "email", "reason": "taken"})
	}
	return u, err
}

func insertUser(tx Tx, u identity.User, c identity.Credential) error {
	about := userMeta(nil, u)
	meta, err := encoded(about, len(about) == 0)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO app_user (id, tenant_id, email, handle, role, plan_tier, is_active, created_at, meta)
		VALUES (@id, @tenant, @email, @handle, @role, @plan, @active, @now, @meta)`,
		Args{
			"id": u.ID, "tenant": u.TenantID, "email": u.Email, "handle": u.Handle, "role": string(u.Role),
			"plan": u.Plan, "active": u.Active, "now": u.CreatedAt, "meta": meta,
		}); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO user_auth_credential (user_id, password_hash, password_algo, created_at)
		VALUES (@id, @hash, @algorithm, @now)`,
		Args{"id": u.ID, "hash": optional(c.Hash), "algorithm": optional(c.Algorithm), "now": u.CreatedAt}); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO user_settings (user_id, locale) VALUES (@id, @locale)`,
		Args{"id": u.ID, "locale": optional(u.Locale)})
	return err
}

// firstIsAdmin completes a new account: whoever comes first owns the place,
// and has nobody to ask for a mail that confirms it.
func firstIsAdmin(tx Tx, u *identity.User) error {
	if err := tx.Lock(accounts); err != nil {
		return err
	}
	var someone int
	if _, err := first(tx, `SELECT count(*) FROM (SELECT id FROM app_user WHERE id <> @steward LIMIT 1) AS u`,
		Args{"steward": identity.SystemAccount}, &someone); err != nil {
		return err
	}
	switch {
	case someone == 0:
		u.Role, u.Unverified = identity.RoleAdmin, false
	case u.Role == "":
		u.Role = identity.RoleUser
	}
	if u.Plan == "" {
		u.Plan = "free"
	}
	if u.TenantID == "" {
		u.TenantID = "default"
	}
	return nil
}

const (
	userColumns = `u.id, u.tenant_id, u.email, u.handle, u.role, u.plan_tier, u.is_active, t.locale, u.created_at, u.meta`
	userTables  = ` FROM app_user u LEFT JOIN user_settings t ON t.user_id = u.id`
)

func userDest(u *identity.User) []any {
	return []any{
		&u.ID, &u.TenantID, &u.Email, &u.Handle, &u.Role, &u.Plan, &u.Active, text{&u.Locale}, when{&u.CreatedAt}, decode{(*userFlags)(u)},
	}
}

func scanUser(scan Scan) (u identity.User, err error) {
	err = scan(userDest(&u)...)
	return u, err
}

// credentialDest scans the columns of a credential.
func credentialDest(c *identity.Credential) []any {
	return []any{&c.UserID, text{&c.Hash}, text{&c.Algorithm}}
}

const credentialColumns = `, c.user_id, c.password_hash, c.password_algo`

// User implements identity.Store.
func (s *Store) User(ctx context.Context, id string) (u identity.User, c identity.Credential, err error) {
	return s.account(ctx, `SELECT `+userColumns+credentialColumns+userTables+`
		JOIN user_auth_credential c ON c.user_id = u.id WHERE u.id = @key`, id)
}

// UserByEmail implements identity.Store.
func (s *Store) UserByEmail(ctx context.Context, email string) (u identity.User, c identity.Credential, err error) {
	return s.account(ctx, `SELECT `+userColumns+credentialColumns+userTables+`
		JOIN user_auth_credential c ON c.user_id = u.id WHERE u.email = @key`, strings.ToLower(email))
}

func (s *Store) account(ctx context.Context, query, key string) (u identity.User, c identity.Credential, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		found, err := first(tx, query, Args{"key": key}, append(userDest(&u), credentialDest(&c)...)...)
		if err == nil && !found {
			err = missing("account")
		}
		return err
	})
	return u, c, err
}

// Viewer is who a person is now: runs that are started without a request, by
// the reconciler, act as them. An account that is switched off is NotFound. The
// system's own account acts as the system.
func (s *Store) Viewer(ctx context.Context, userID string) (v identity.Viewer, err error) {
	if userID == identity.SystemAccount {
		return identity.Steward(), nil
	}
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		u, err := user(tx, userID)
		if err == nil && !u.Active {
			err = missing("account")
		}
		v = u.Viewer("")
		return err
	})
	return v, err
}

func user(tx Tx, id string) (identity.User, error) {
	list, err := all(tx, `SELECT `+userColumns+userTables+` WHERE u.id = @id`, Args{"id": id}, scanUser)
	return only(list, err, "account")
}

// Accounts reports whether any account of a person exists: a page without one
// offers to create the first.
func (s *Store) Accounts(ctx context.Context) (some bool, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		var id string
		some, err = first(tx, `SELECT id FROM app_user WHERE id <> @steward LIMIT 1`, Args{"steward": identity.SystemAccount}, &id)
		return err
	})
	return some, err
}

// ListUsers implements identity.Store. Ids grow with time, so their order is
// that of the sign-ups.
func (s *Store) ListUsers(ctx context.Context, f identity.UserFilter) (list []identity.User, next string, err error) {
	if f.Cursor != "" && !id.Valid(f.Cursor) {
		return nil, "", badCursor()
	}
	size := pageSize(f.Limit)
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT `+userColumns+userTables+`
			WHERE u.id > @after AND u.id <> @steward AND (@tenant = '' OR u.tenant_id = @tenant) AND (@email = '' OR u.email = @email)
			AND (@search = '' OR lower(u.email) LIKE @like ESCAPE '!' OR lower(u.handle) LIKE @like ESCAPE '!')
			AND (@role = '' OR u.role = @role) AND (@plan = '' OR u.plan_tier = @plan) AND (@state = '' OR u.is_active = @active)
			ORDER BY u.id LIMIT @limit`,
			Args{
				"after": orNil(f.Cursor), "steward": identity.SystemAccount, "tenant": f.Tenant,
				"email": strings.ToLower(f.Email), "search": writable(f.Search), "like": containing(writable(f.Search)), "role": string(f.Role),
				"plan": f.Plan, "state": f.State, "active": f.State == "active", "limit": size + 1,
			}, scanUser)
		return err
	})
	if len(list) > size {
		list, next = list[:size], list[size-1].ID
	}
	return list, next, err
}

// containing is the pattern of texts that a text is part of, in lower case.
func containing(part string) string {
	return "%" + strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(strings.ToLower(part)) + "%"
}

// ChangeUser implements identity.Store.
func (s *Store) ChangeUser(ctx context.Context, id string, c identity.UserChange) (identity.User, error) {
	u, _, err := s.ChangeAccount(ctx, id, c)
	return u, err
}

// ChangeAccount implements identity.Administration.
func (s *Store) ChangeAccount(ctx context.Context, id string, c identity.UserChange) (u identity.User, e identity.AuditEvent, err error) {
	if id == identity.SystemAccount {
		return u, e, errReserved()
	}
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(accounts); err != nil {
			return err
		}
		if u, err = user(tx, id); err != nil {
			return err
		}
		was, ruled := u, u.Active && u.Role == identity.RoleAdmin
		set(&u.Role, c.Role)
		set(&u.Plan, c.Plan)
		set(&u.Active, c.Active)
		set(&u.Unverified, c.Unverified)
		set(&u.MFA, c.MFA)
		set(&u.SingleSession, c.SingleSession)
		set(&u.Budget, c.Budget)
		if rules := u.Active && u.Role == identity.RoleAdmin; ruled && !rules {
			if err := anotherRules(tx, id); err != nil {
				return err
			}
		}
		if err := updateUser(tx, u, c); err != nil || c.By == "" {
			return err
		}
		own, err := personNumbers(tx, id)
		if err != nil {
			return err
		}
		owns := own
		if c.Limits != nil && !maps.Equal(own, *c.Limits) {
			owns = *c.Limits
			if err := setPersonNumbers(tx, id, owns); err != nil {
				return err
			}
		}
		e, err = s.auditUser(tx, c.By, was, u, own, owns)
		return err
	})
	return u, e, err
}

// anotherRules is a Conflict when nobody but id administers this place.
func anotherRules(tx Tx, id string) error {
	var other string
	found, err := first(tx, `SELECT id FROM app_user WHERE role = 'admin' AND is_active AND id <> @id LIMIT 1`, Args{"id": id}, &other)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "This is the last administrator. Make somebody else one first.").
			With(map[string]any{"reason": "last_administrator"})
	}
	return err
}

func updateUser(tx Tx, u identity.User, c identity.UserChange) error {
	meta := map[string]any{}
	if _, err := first(tx, `SELECT meta FROM app_user WHERE id = @id`, Args{"id": u.ID}, decode{&meta}); err != nil {
		return err
	}
	meta = userMeta(meta, u)
	if c.Unverified != nil { // AUTH-10: it was asked and answered, not only assumed
		meta["email_verified"] = !*c.Unverified
	}
	doc, err := encoded(meta, len(meta) == 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`UPDATE app_user SET role = @role, plan_tier = @plan, is_active = @active, meta = @meta WHERE id = @id`,
		Args{"id": u.ID, "role": string(u.Role), "plan": u.Plan, "active": u.Active, "meta": doc})
	return err
}

// DeleteUser implements identity.Store. What refers to the account goes with
// it; what only names it is removed here (DATA-01). Of what they did to
// proposals the id stays, without a name (CFG-16).
func (s *Store) DeleteUser(ctx context.Context, id string) (ended []string, err error) {
	if id == identity.SystemAccount {
		return nil, errReserved()
	}
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := errors.Join(tx.Lock(accounts), tx.Lock(sessionsOf(id))); err != nil {
			return err
		}
		u, err := user(tx, id)
		if err != nil {
			return err
		}
		if u.Role == identity.RoleAdmin && u.Active {
			if err := leavesOrder(tx, id); err != nil {
				return err
			}
		}
		if ended, err = revoked(tx, `user_id = @user`, Args{"user": id}, s.now()); err != nil {
			return err
		}
		if err := s.leavePatches(tx, id); err != nil {
			return err
		}
		return removeUser(tx, id)
	})
	return ended, err
}

// errReserved refuses what would make a person of the system's own account.
func errReserved() error {
	return fault.New(fault.Forbidden, "This account is the system's own: nobody signs in as it, and it can neither be changed nor deleted.")
}

func removeUser(tx Tx, id string) error {
	for _, text := range []string{
		`DELETE FROM artifact WHERE owner_user_id = @user`,
		`DELETE FROM semantic_cluster WHERE user_id = @user`,
		`DELETE FROM idempotency WHERE user_id = @user`,
		`UPDATE config_patch_event SET name = '' WHERE user_id = @user`,
		`UPDATE config_patch_approval SET name = '' WHERE user_id = @user`,
		`DELETE FROM app_user WHERE id = @user`,
	} {
		if _, err := tx.Exec(text, Args{"user": id}); err != nil {
			return err
		}
	}
	return nil
}

// leavesOrder lets the last administrator go only as the last of all.
func leavesOrder(tx Tx, id string) error {
	var other string
	found, err := first(tx, `SELECT id FROM app_user WHERE id <> @id AND id <> @steward LIMIT 1`,
		Args{"id": id, "steward": identity.SystemAccount}, &other)
	if err != nil || !found {
		return err
	}
	return anotherRules(tx, id)
}

// SetPassword implements identity.Store.
func (s *Store) SetPassword(ctx context.Context, c identity.Credential, but string) (ended []string, err error) {
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(sessionsOf(c.UserID)); err != nil {
			return err
		}
		n, err := tx.Exec(`UPDATE user_auth_credential SET password_hash = @hash, password_algo = @algorithm, last_updated_at = @now
			WHERE user_id = @user`,
			Args{"user": c.UserID, "hash": optional(c.Hash), "algorithm": optional(c.Algorithm), "now": s.now()})
		if err == nil && n == 0 {
			err = missing("account")
		}
		if err != nil {
			return err
		}
		ended, err = revoked(tx, `user_id = @user AND family_id <> @but`, Args{"user": c.UserID, "but": orNil(but)}, s.now())
		return err
	})
	return ended, err
}

// userFlags reads the part of app_user.meta that is fields of a User.
type userFlags identity.User

// UnmarshalJSON reads what userMeta wrote.
func (u *userFlags) UnmarshalJSON(raw []byte) error {
	var m struct {
		Verified *bool `json:"email_verified"`
		MFA      bool  `json:"mfa_enabled"`
		Single   bool  `json:"single_session"`

		Budget *identity.Budget `json:"budget"`
	}
	err := json.Unmarshal(raw, &m)
	u.Unverified = m.Verified != nil && !*m.Verified
	u.MFA, u.SingleSession, u.Budget = m.MFA, m.Single, m.Budget
	return err
}

// userMeta lays a user's flags over the meta there is; what is not set and
// never was is left out.
func userMeta(meta map[string]any, u identity.User) map[string]any {
	meta = maps.Clone(meta)
	if meta == nil {
		meta = map[string]any{}
	}
	for name, f := range map[string]struct{ value, plain bool }{
		"email_verified": {!u.Unverified, true}, "mfa_enabled": {u.MFA, false}, "single_session": {u.SingleSession, false},
	} {
		if _, was := meta[name]; was || f.value != f.plain {
			meta[name] = f.value
		}
	}
	if delete(meta, "budget"); u.Budget != nil {
		meta["budget"] = u.Budget
	}
	return meta
}
