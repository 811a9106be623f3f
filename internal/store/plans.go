package store

import (
	"context"
	"time"

	"liminal/internal/identity"
	"liminal/internal/quota"
)

var _ quota.PlanStore = (*Store)(nil)

// plans is the lock of the plans' versions, and the counter that every change
// of a plan or of somebody's own numbers moves.
const plans = "plans"

// PlanRevision implements quota.PlanStore.
func (s *Store) PlanRevision(ctx context.Context) (n int64, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		n, err = planRevision(tx)
		return err
	})
	return n, err
}

func planRevision(tx Tx) (n int64, err error) {
	_, err = first(tx, `SELECT value FROM counter WHERE name = @plans`, Args{"plans": plans}, &n)
	return n, err
}

// movePlans makes every process read the plans again.
func movePlans(tx Tx) error {
	_, err := tx.Exec(`INSERT INTO counter (name, value) VALUES (@plans, 1) ON CONFLICT (name) DO UPDATE SET value = counter.value + 1`,
		Args{"plans": plans})
	return err
}

const latestPlans = `SELECT p.plan, p.version, p.numbers, p.user_id, p.created_at FROM plan_version p
	WHERE p.plan > @none AND NOT EXISTS (SELECT 1 FROM plan_version later WHERE later.plan = p.plan AND later.version > p.version)`

// PlanChanges implements quota.PlanStore.
func (s *Store) PlanChanges(ctx context.Context) (c quota.PlanChanges, err error) {
	err = s.read(ctx, identity.System(), func(tx Tx) error {
		c = quota.PlanChanges{Plans: map[string]quota.PlanVersion{}, People: map[string]quota.Values{}}
		if c.Revision, err = planRevision(tx); err != nil {
			return err
		}
		if err := tx.Query(latestPlans, Args{"none": ""}, func(scan Scan) error {
			var p quota.PlanVersion
			var at time.Time
			if err := scan(&p.Plan, &p.Version, lenient{&p.Values}, text{&p.By}, when{&at}); err != nil {
				return err
			}
			p.At = at
			c.Plans[p.Plan] = p
			return nil
		}); err != nil {
			return err
		}
		return tx.Query(`SELECT user_id, numbers FROM person_numbers WHERE user_id > @none`, Args{"none": nobody}, func(scan Scan) error {
			var id string
			var own quota.Values
			if err := scan(&id, lenient{&own}); err != nil {
				return err
			}
			c.People[id] = own
			return nil
		})
	})
	return c, err
}

// lenient scans numbers by key. What somebody wrote there by hand and is none
// leaves no numbers: it must not keep the program from starting.
type lenient struct{ v *quota.Values }

// Scan implements sql.Scanner.
func (l lenient) Scan(src any) error {
	*l.v = nil
	if err := (decode{l.v}).Scan(src); err != nil {
		*l.v = nil
	}
	return nil
}

// SetPlan implements quota.PlanStore.
func (s *Store) SetPlan(ctx context.Context, by identity.Viewer, e quota.PlanEdit) error {
	numbers, err := encoded(e.Values, false)
	if err != nil {
		return err
	}
	return s.write(ctx, identity.System(), func(tx Tx) error {
		if err := tx.Lock(plans); err != nil {
			return err
		}
		var latest int
		if _, err := first(tx, `SELECT coalesce(max(version), 0) FROM plan_version WHERE plan = @plan`, Args{"plan": e.Plan}, &latest); err != nil {
			return err
		}
		if latest != e.Base {
			return quota.ErrPlanChanged()
		}
		if _, err := tx.Exec(`INSERT INTO plan_version (plan, version, numbers, user_id, created_at) VALUES (@plan, @version, @numbers, @by, @now)`,
			Args{"plan": e.Plan, "version": e.Base + 1, "numbers": numbers, "by": optional(by.UserID), "now": s.now()}); err != nil {
			return err
		}
		if err := movePlans(tx); err != nil {
			return err
		}
		return s.audit(tx, by.UserID, identity.AuditEvent{What: identity.PlanChanged, Plan: e.Plan, Was: facts(e.Was), Became: facts(e.Became)})
	})
}

// facts are numbers as an entry of the log has them.
func facts(v quota.Values) map[string]any {
	m := make(map[string]any, len(v))
	for key, n := range v {
		m[key] = n
	}
	return m
}

// personNumbers are the numbers of a person's own.
func personNumbers(tx Tx, userID string) (own map[string]float64, err error) {
	own = map[string]float64{}
	var v quota.Values
	_, err = first(tx, `SELECT numbers FROM person_numbers WHERE user_id = @user`, Args{"user": userID}, lenient{&v})
	for key, n := range v {
		own[key] = n
	}
	return own, err
}

func setPersonNumbers(tx Tx, userID string, own map[string]float64) error {
	if len(own) == 0 {
		if _, err := tx.Exec(`DELETE FROM person_numbers WHERE user_id = @user`, Args{"user": userID}); err != nil {
			return err
		}
		return movePlans(tx)
	}
	numbers, err := encoded(own, false)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO person_numbers (user_id, numbers) VALUES (@user, @numbers)
		ON CONFLICT (user_id) DO UPDATE SET numbers = excluded.numbers`, Args{"user": userID, "numbers": numbers}); err != nil {
		return err
	}
	return movePlans(tx)
}
