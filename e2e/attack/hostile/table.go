package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// noisy is the part of a core that others may take before a row says so.
const noisy = 0.3

// Table writes rows as they are measured, as Markdown.
type Table struct {
	out  io.Writer
	file *os.File
}

func newTable(out io.Writer, path string) (*Table, error) {
	t := &Table{out: out}
	if path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		t.file, t.out = f, io.MultiWriter(out, f)
	}
	fmt.Fprintln(t.out, "| graph | outcome | begun | runs | turns | quiet p50/p95 ms | hostile p50/p95 ms | ratio | failed | CPU ms a turn quiet/hostile | cores | others' cores | RSS MiB | gone s | idle s | verdict |")
	fmt.Fprintln(t.out, "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	return t, nil
}

func (w *Table) row(t *Ordeal) {
	verdict := "PASS"
	if len(t.Broken) > 0 {
		verdict = "FAIL: " + strings.Join(t.Broken, "; ")
	}
	if len(t.Broken) > 0 && t.War.Disk.Most() {
		verdict += "; " + t.War.Disk.String()
	}
	if t.Again {
		verdict = "AGAIN: " + strings.TrimPrefix(verdict, "FAIL: ")
	}
	if t.Peace.Foreign > noisy || t.War.Foreign > noisy {
		verdict += " (noisy)"
	}
	cores := t.War.CPU.Seconds() / max(t.War.Lasted, time.Millisecond).Seconds()
	cells := []string{
		t.Name, t.Outcome, fmt.Sprint(t.Began), fmt.Sprint(t.Runs), fmt.Sprintf("%d/%d", len(t.Quiet.Took), len(t.Hostile.Took)),
		pair(t.Quiet), pair(t.Hostile), fmt.Sprintf("%.1f", t.ratio()), fmt.Sprint(t.Hostile.Failed),
		each1(t.Peace, t.Quiet) + "/" + each1(t.War, t.Hostile), fmt.Sprintf("%.2f", cores),
		fmt.Sprintf("%.1f/%.1f", t.Peace.Foreign, t.War.Foreign), fmt.Sprint(t.War.RSS >> 20),
		seconds(t.Gone), seconds(t.Idle), verdict,
	}
	for i := range cells {
		cells[i] = strings.NewReplacer("|", "\\|", "\n", " ").Replace(cells[i])
	}
	fmt.Fprintln(w.out, "| "+strings.Join(cells, " | ")+" |")
}

func pair(t Turns) string {
	return fmt.Sprintf("%.0f/%.0f", 1000*t.at(0.5).Seconds(), 1000*t.at(0.95).Seconds())
}

// each1 is what a turn took of the processors, everything else included.
func each1(t Taken, turns Turns) string {
	if len(turns.Took) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", 1000*t.CPU.Seconds()/float64(len(turns.Took)))
}

func seconds(d time.Duration) string {
	if d < 0 {
		return "never"
	}
	return fmt.Sprintf("%.1f", d.Seconds())
}
