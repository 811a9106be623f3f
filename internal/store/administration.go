package store

import (
	"cmp"
	"context"
	"reflect"
	"strconv"
	"time"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

var _ identity.Administration = (*Store)(nil)

// audit writes an entry of the log of what administrators do. It is part of
// the transaction that does it: what is not written down has not been done.
func (s *Store) audit(tx Tx, by string, e identity.AuditEvent) error {
	was, err := encoded(e.Was, len(e.Was) == 0)
	if err != nil {
		return err
	}
	became, err := encoded(e.Became, len(e.Became) == 0)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO audit_event (at, by_id, what, user_id, plan, was, became) VALUES (@now, @by, @what, @user, @plan, @was, @became)`,
		Args{"now": s.now(), "by": cmp.Or(by, identity.SystemAccount), "what": e.What, "user": optional(e.UserID), "plan": e.Plan, "was": was, "became": became})
	return err
}

// auditUser writes down how an account differs from what it was, and returns
// the entry; none when it does not.
func (s *Store) auditUser(tx Tx, by string, was, is identity.User, own, owns map[string]float64) (identity.AuditEvent, error) {
	e := identity.AuditEvent{What: identity.UserChanged, By: by, UserID: is.ID, Was: map[string]any{}, Became: map[string]any{}}
	put := func(name string, before, after any) {
		if !reflect.DeepEqual(before, after) {
			e.Was[name], e.Became[name] = before, after
		}
	}
	put("role", string(was.Role), string(is.Role))
	put("plan", was.Plan, is.Plan)
	put("active", was.Active, is.Active)
	put("budget", was.Budget, is.Budget)
	put("limits", own, owns)
	if len(e.Became) == 0 {
		return identity.AuditEvent{}, nil
	}
	return e, s.audit(tx, by, e)
}

// EndUserSessions implements identity.Administration.
func (s *Store) EndUserSessions(ctx context.Context, by, userID string) (ended []string, err error) {
	if userID == identity.SystemAccount {
		return nil, errReserved()
	}
	err = s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(sessionsOf(userID)); err != nil {
			return err
		}
		if _, err := user(tx, userID); err != nil {
			return err
		}
		if ended, err = revoked(tx, `user_id = @user`, Args{"user": userID}, s.now()); err != nil {
			return err
		}
		return s.audit(tx, by, identity.AuditEvent{What: identity.UserSignedOut, UserID: userID, Was: map[string]any{"sessions": len(ended)}})
	})
	return ended, err
}

// ClearFactor implements identity.Administration.
func (s *Store) ClearFactor(ctx context.Context, by, userID string) error {
	return s.write(ctx, identity.System(), func(tx Tx) error {
		u, err := user(tx, userID)
		if err != nil {
			return err
		}
		n, err := tx.Exec(`DELETE FROM user_auth_factor WHERE user_id = @user AND enabled_at IS NOT NULL`, Args{"user": userID})
		if err != nil {
			return err
		}
		if n == 0 && !u.MFA {
			return fault.New(fault.Conflict, "This account has no second factor.").With(map[string]any{"reason": "no_factor"})
		}
		if err := mark(tx, userID, "mfa_enabled", false); err != nil {
			return err
		}
		return s.audit(tx, by, identity.AuditEvent{
			What: identity.FactorCleared, UserID: userID, Was: map[string]any{"mfa_enabled": true}, Became: map[string]any{"mfa_enabled": false},
		})
	})
}

// PeopleFigures implements identity.Administration.
func (s *Store) PeopleFigures(ctx context.Context, ids []string) (by map[string]identity.Figures, err error) {
	if len(ids) == 0 {
		return map[string]identity.Figures{}, nil
	}
	now := s.now()
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		by = make(map[string]identity.Figures, len(ids))
		for _, read := range []func(Tx, []string, time.Time, map[string]identity.Figures) error{seen, talked, used, kept, owned} {
			if err := read(tx, ids, now, by); err != nil {
				return err
			}
		}
		return nil
	})
	return by, err
}

// seen counts the sign-ins that are open, and when one was used last.
func seen(tx Tx, ids []string, now time.Time, by map[string]identity.Figures) error {
	args := Args{}
	families := map[string]bool{}
	return tx.Query(`SELECT `+sessionColumns+` FROM auth_session a WHERE a.user_id IN `+args.in("user", ids), args, func(scan Scan) error {
		var n identity.Session
		var m sessionMeta
		if err := scan(sessionDest(&n, &m)...); err != nil {
			return err
		}
		n = completed(n, m)
		f := by[n.UserID]
		f.LastSeen = later(f.LastSeen, n.UsedAt)
		if n.RevokedAt.IsZero() && n.ExpiresAt.After(now) && !families[n.FamilyID] {
			families[n.FamilyID] = true
			f.SignIns++
		}
		by[n.UserID] = f
		return nil
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// talked adds when a conversation of theirs moved last: ended sessions are
// swept, conversations stay.
func talked(tx Tx, ids []string, _ time.Time, by map[string]identity.Figures) error {
	args := Args{}
	return tx.Query(`SELECT k.user_id, max(k.updated_at) FROM conversation k WHERE k.user_id IN `+args.in("user", ids)+` GROUP BY k.user_id`, args, func(scan Scan) error {
		var id string
		var at time.Time
		err := scan(&id, when{&at})
		f := by[id]
		f.LastSeen = later(f.LastSeen, at)
		by[id] = f
		return err
	})
}

// used sums what model calls used today and this month, of UTC.
func used(tx Tx, ids []string, now time.Time, by map[string]identity.Figures) error {
	args := Args{"today": now.Format(time.DateOnly), "month": now.Format("2006-01") + "-01"}
	return tx.Query(`SELECT user_id, CASE WHEN day = @today THEN 1 ELSE 0 END, calls, input_tokens, output_tokens, cost_usd
		FROM spend WHERE day >= @month AND user_id IN `+args.in("user", ids), args, func(scan Scan) error {
		var id string
		var today int
		var u identity.Spent
		if err := scan(&id, &today, &u.Calls, &u.Input, &u.Output, &u.CostUSD); err != nil {
			return err
		}
		f := by[id]
		f.Month = f.Month.Add(u)
		if today == 1 {
			f.Today = f.Today.Add(u)
		}
		by[id] = f
		return nil
	})
}

// kept sums their files.
func kept(tx Tx, ids []string, _ time.Time, by map[string]identity.Figures) error {
	args := Args{}
	return tx.Query(`SELECT f.user_id, CAST(coalesce(sum(f.size), 0) AS BIGINT), count(*) FROM file f WHERE f.user_id IN `+args.in("user", ids)+` GROUP BY f.user_id`, args, func(scan Scan) error {
		var id string
		var bytes int64
		var files int
		err := scan(&id, &bytes, &files)
		f := by[id]
		f.StoredBytes, f.Files = bytes, files
		by[id] = f
		return err
	})
}

// owned reads the numbers that are their own.
func owned(tx Tx, ids []string, _ time.Time, by map[string]identity.Figures) error {
	args := Args{}
	return tx.Query(`SELECT user_id, numbers FROM person_numbers WHERE user_id IN `+args.in("user", ids), args, func(scan Scan) error {
		var id string
		var own quota.Values
		if err := scan(&id, lenient{&own}); err != nil {
			return err
		}
		f := by[id]
		f.Limits = own
		by[id] = f
		return nil
	})
}

// ListAudit implements identity.Administration: the newest first.
func (s *Store) ListAudit(ctx context.Context, f identity.AuditFilter) (list []identity.AuditEvent, next string, err error) {
	before := int64(1) << 62
	if f.Cursor != "" {
		if before, err = strconv.ParseInt(f.Cursor, 10, 64); err != nil || before <= 0 {
			return nil, "", badCursor()
		}
	}
	size := pageSize(f.Limit)
	args, whose := Args{"before": before, "limit": size + 1}, ""
	if f.UserID != "" {
		whose, args["user"] = ` AND e.user_id = @user`, f.UserID
	}
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		list, err = all(tx, `SELECT e.id, e.at, e.by_id, e.what, e.user_id, e.plan, e.was, e.became, b.email, u.email
			FROM audit_event e LEFT JOIN app_user b ON b.id = e.by_id LEFT JOIN app_user u ON u.id = e.user_id
			WHERE e.id < @before`+whose+` ORDER BY e.id DESC LIMIT @limit`, args, scanAudit)
		return err
	})
	if len(list) > size {
		list, next = list[:size], strconv.FormatInt(list[size-1].ID, 10)
	}
	return list, next, err
}

func scanAudit(scan Scan) (e identity.AuditEvent, err error) {
	err = scan(&e.ID, when{&e.At}, &e.By, &e.What, text{&e.UserID}, &e.Plan, decode{&e.Was}, decode{&e.Became}, text{&e.ByEmail}, text{&e.UserEmail})
	return e, err
}
