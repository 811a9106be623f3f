package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"liminal/internal/capture"
	"liminal/internal/vault"
	"liminal/internal/view"
)

// viewsDir and epochsDir are the folders of plans, and of what is in force. Their files
// are sealed under the folder and their own name.
const viewsDir, epochsDir = "views", "epochs"

// readFile reads what a file of one of those folders says.
func readFile(keys *vault.Ring, file string, into any) error {
	raw, err := os.ReadFile(file)
	if err == nil {
		raw, err = capture.OpenFile(keys, sealedName(file), raw)
	}
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	return err
}

func sealedName(file string) string {
	return filepath.Base(filepath.Dir(file)) + "/" + filepath.Base(file)
}

// stamp tells two states of a file apart.
type stamp struct {
	info os.FileInfo
}

// same reports whether a file is as it was.
func (s stamp) same(info os.FileInfo) bool {
	return s.info != nil && os.SameFile(s.info, info) && s.info.ModTime().Equal(info.ModTime()) && s.info.Size() == info.Size()
}

// any reports whether there is a plan or an epoch of anybody.
func (v *viewer) any() bool {
	for _, dir := range []string{v.views, v.epochs} {
		if f, err := os.Open(dir); err == nil {
			names, _ := f.Readdirnames(1) // then none
			_ = f.Close()                 // only read
			if len(names) > 0 {
				return true
			}
		}
	}
	return false
}

// planOf is the plan of a client as it is now; nil: there is none that can be read.
func (v *viewer) planOf(c *viewed) *view.Plan {
	name := filepath.Join(v.views, c.file)
	info, err := os.Stat(name)
	if err != nil {
		c.plan, c.planned = nil, stamp{}
		return nil
	}
	if c.planned.same(info) {
		return c.plan
	}
	c.plan, c.planned = nil, stamp{info}
	var plan view.Plan
	err = readFile(v.keys, name, &plan)
	switch {
	case err != nil:
		v.log.Warn("the plan of a view cannot be read, so none begins", "file", name, "error", err)
	case plan.Client == c.key:
		c.plan = &plan
	}
	if c.plan != nil && plan.Epochs > 0 && len(c.list) == 0 && !c.lost {
		v.lose(c, errors.New("the platform knows of epochs, and the file is gone"))
	}
	return c.plan
}

// load reads what was in force when another process ended.
func (v *viewer) load(c *viewed) {
	if c.loaded {
		return
	}
	c.loaded = true
	err := readFile(v.keys, filepath.Join(v.epochs, c.file), &c.list)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err == nil && slices.ContainsFunc(c.list, func(e view.Epoch) bool { return e.Client != c.key }) {
		err = errors.New("it is another client's")
	}
	if err != nil {
		c.list = nil
		v.lose(c, err)
	}
}

// lose notes that nobody knows any more what was in force: the client's own requests are
// sent, and thinking that is bound to another history is dropped.
func (v *viewer) lose(c *viewed, err error) {
	c.lost = true
	v.counts.lost.Add(1)
	v.log.Warn("the epochs of a view are lost; its history is sent whole, and thinking that was bound to the view is dropped", "client", c.key, "file", filepath.Join(v.epochs, c.file), "error", err)
}

// save writes what is in force, so that it is on the disk when it is followed.
func (v *viewer) save(c *viewed, list []view.Epoch) error {
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := makeFolder(v.epochs); err != nil {
		return err
	}
	file := filepath.Join(v.epochs, c.file)
	if err := writeWhole(file, capture.SealFile(v.keys, sealedName(file), raw)); err != nil {
		return fmt.Errorf("the epochs of %s cannot be written: %w", c.key, err)
	}
	c.list, c.lost = list, false
	return nil
}

// writeWhole writes a file that is there as it was, or as it is to be, wherever the
// power fails; when it returns, it is as it is to be.
func writeWhole(name string, raw []byte) error {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, os.ErrInvalid) { // there are none such on this system
		err = nil
	}
	return errors.Join(err, d.Close())
}

// end ends the epoch that is in force.
func (v *viewer) end(c *viewed, why string) {
	list := slices.Clone(c.list)
	e := &list[len(list)-1]
	now := v.now().UTC()
	e.Ended, e.EndedAt = why, &now
	if err := v.save(c, list); err != nil {
		// In this process it has ended all the same; the next one looks anew.
		c.list = list
		v.log.Warn("the end of an epoch cannot be written", "client", c.key, "error", err)
	}
}

// why says why an epoch begins with a request; "": none does.
func why(plan *view.Plan, b *view.Body, cold bool) string {
	switch {
	case !b.NewTurn() || len(plan.Replace) == 0:
		return ""
	case plan.Asked:
		return view.Ordered
	case plan.Full:
		return view.Full
	case cold:
		return view.Cold
	case plan.Pays:
		return view.Pays
	}
	return ""
}

// open begins an epoch, if one is to begin with this request, and is what the request
// then is; nil: none begins.
func (v *viewer) open(c *viewed, plan *view.Plan, b *view.Body, cold bool) *forwarded {
	before := c.newest()
	if before != nil && before.Ended != "" && before.Ended != view.EndedPolicy && before.Lineage == plan.Lineage {
		return nil // this history is left alone
	}
	next := view.Epoch{
		Number: plan.Epochs + 1, Client: c.key, Lineage: plan.Lineage, Policy: plan.Policy, OpenedAt: v.now().UTC(), At: len(b.Messages), Recall: b.Recall,
	}
	if before != nil {
		next.Number = max(next.Number, before.Number+1)
	}
	if before != nil && before.Ended == "" {
		next.Born, next.SaidAgain, next.Cap, next.Kept = before.Born, before.SaidAgain, before.Cap, before.Kept
		next.Replace, next.Quotes = slices.Clone(before.Replace), slices.Clone(before.Quotes)
		if before.Lineage != plan.Lineage { // of what this history does not have
			next.Replace = slices.DeleteFunc(next.Replace, func(r view.Replacement) bool {
				return !mentions(b, r)
			})
		}
	}
	changed := v.begins(c, plan, b, &next, why(plan, b, cold))
	changed = bear(plan, b, &next) || changed
	if more := b.Quotes(plan.Quote, next.Replace, next.Quotes); len(more) > 0 {
		next.Quotes, changed = append(next.Quotes, more...), true
		if next.Why == "" {
			next.Why = view.Ordered
		}
	}
	if !changed {
		return nil
	}
	f, _ := v.splice(c, b, &next, v.isUnaware(b.Model))
	if f == nil {
		return nil
	}
	if err := v.save(c, append(slices.Clone(c.list), next)); err != nil {
		v.counts.invalid.Add(1)
		v.log.Error("an epoch does not begin", "client", c.key, "error", err)
		return nil
	}
	f.Opens = true
	v.counts.opened.Add(1)
	v.log.Info("an epoch of a view began", "client", c.key, "epoch", next.Number, "why", next.Why, "set_aside", len(next.Replace))
	return f
}

// begins adds to an epoch what the plan sets aside in this request, and reports whether
// that is anything.
func (v *viewer) begins(c *viewed, plan *view.Plan, b *view.Body, next *view.Epoch, because string) bool {
	if because == "" {
		return false
	}
	keep := map[string]bool{}
	if next.Born > 0 && !next.SaidAgain || plan.Birth.Duplicates {
		// What is pointed to stays, and so does what only points.
		_, sources, named := b.Repeats(next.Born, next.Replace)
		for _, set := range []map[string]bool{sources, named} {
			for id := range set {
				keep[id] = next.Born > 0
			}
		}
	}
	for _, r := range next.Replace {
		keep[r.Result] = true
	}
	set := b.SetAside(worth(plan, because), next.Recall, c.isMeant(v.seed), keep)
	if len(set.Done) == 0 {
		return false
	}
	next.Replace, next.Why, next.Predicted = append(next.Replace, set.Done...), because, plan.Estimate
	return true
}

// worth is what of a plan is to be set aside: the more a change of the past costs, the
// less of it is.
func worth(plan *view.Plan, because string) []view.Replacement {
	from := 0 // a person, and a context that is full, want all of it
	switch because {
	case view.Cold:
		from = plan.Cold
	case view.Pays:
		from = plan.Warm
	}
	return plan.Replace[min(max(from, 0), len(plan.Replace)):]
}

// bear has an epoch name repeated results, and cap long ones, from this request on, if
// there is one in what is new in it.
func bear(plan *view.Plan, b *view.Body, next *view.Epoch) bool {
	if !plan.Birth.Duplicates && plan.Birth.CapBytes <= 0 || next.Born > 0 && next.Born < len(b.Messages) {
		return false
	}
	begun := *next
	begun.Born, begun.SaidAgain, begun.Cap = b.New(), !plan.Birth.Duplicates, nil
	if plan.Birth.CapBytes > 0 {
		begun.Cap = &view.Cap{Bytes: plan.Birth.CapBytes, Whole: plan.Whole}
	}
	if edits, _, _ := born(b, &begun); len(edits) == 0 {
		return false
	}
	if *next = begun; next.Why == "" {
		next.Why = view.Named
	}
	return true
}

// born are the edits of results that are only named, or capped, and which those are.
func born(b *view.Body, e *view.Epoch) (edits []view.Edit, named map[string]bool, capped []view.Replacement) {
	if e.Born == 0 {
		return nil, nil, nil
	}
	named = map[string]bool{}
	if !e.SaidAgain {
		edits, _, named = b.Repeats(e.Born, e.Replace)
	}
	more, capped := b.Capped(e.Born, e.Cap, recalls(b, e), func(result string) bool {
		return named[result] || slices.ContainsFunc(e.Replace, func(r view.Replacement) bool { return r.Result == result })
	})
	return append(edits, more...), named, capped
}

// recalls tells that what stands in the place of results may name the tool that returns
// them.
func recalls(b *view.Body, e *view.Epoch) bool { return e.Recall && (b.Recall || b.Tools.Empty()) }
