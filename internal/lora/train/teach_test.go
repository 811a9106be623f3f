package train_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/train"
)

// back are texts of another rule: the answer counts back from the last token.
func back(n int, seed uint64) []batches.Text {
	list := texts(n, seed)
	for i := range list {
		list[i].Prompt[0], list[i].Prompt[1] = 60, 60 // it is told apart by how it begins
		for k := range list[i].Target {
			list[i].Target[k] = max(0, list[i].Prompt[2]-1-k)
		}
	}
	return list
}

func ofTeacher(list []batches.Text, n int) []batches.Text {
	for i := range list {
		list[i].Teacher, list[i].Source = n, list[i].Source+int64(1000*n)
	}
	return list
}

// rewritten is a folder with other batches.
func rewritten(t *testing.T, dir string, sets batches.Sets, change func(j *train.Job)) string {
	t.Helper()
	j, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, batches.Dir)); err != nil {
		t.Fatal(err)
	}
	sum, err := batches.Write(filepath.Join(dir, batches.Dir), shape.Vocab, sets)
	if err != nil {
		t.Fatal(err)
	}
	j.Files[batches.Dir+"/"+batches.ManifestFile] = sum
	if change != nil {
		change(&j)
	}
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	return dir
}

// distilled is a folder with a job that two trained adapters teach, and theirs.
func distilled(t *testing.T) (dir string, teachers []string) {
	t.Helper()
	on := job(t, nil)
	off := rewritten(t, job(t, nil), batches.Sets{batches.Train: batches.Cut(back(24, 1), 4, 64)}, nil)
	for _, d := range []string{on, off} {
		run(t, d, train.Options{})
		teachers = append(teachers, filepath.Join(d, train.ResultDir))
	}
	dir = rewritten(t, job(t, nil), batches.Sets{
		batches.Train: append(batches.Cut(texts(24, 1), 4, 64), batches.Cut(ofTeacher(back(24, 1), 1), 4, 64)...),
		batches.Held:  append(batches.Cut(texts(6, 2), 4, 64), batches.Cut(ofTeacher(back(6, 2), 1), 4, 64)...),
	}, nil)
	list, err := train.Teach(dir, teachers...)
	if err != nil {
		t.Fatal(err)
	}
	j, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	j.Teachers, j.Loss.Kind, j.Init, j.Steps = list, train.Distil, train.TeacherDir(0), 240
	if err := train.WriteJob(dir, j); err != nil {
		t.Fatal(err)
	}
	return dir, teachers
}

// One adapter learns what two others answer, each of its own texts; killed and
// begun again it comes to the same, bit for bit.
//
// Requirements: CLUS-06 (the training of one by others), TRAIN-14 (a restart)
func TestOneAdapterLearnsWhatTwoAnswer(t *testing.T) {
	t.Parallel()
	dir, teachers := distilled(t)
	killed := copied(t, dir)
	m := run(t, dir, train.Options{})
	if *m.HeldOut.After > 0.5**m.HeldOut.Before {
		t.Errorf("of its teachers it was %v apart, and is %v", *m.HeldOut.Before, *m.HeldOut.After)
	}
	j, err := train.ReadJob(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := llm.Open(j.Base.Dir)
	if err != nil {
		t.Fatal(err)
	}
	student, err := train.Check(dir, j, b)
	if err != nil {
		t.Fatal(err)
	}
	// Of each rule it is about as good as who taught it, and better than the other.
	loss := func(folder string, list []batches.Text) (sum float64) {
		a := student.Adapter
		if folder != "" {
			if a, err = peft.Read(folder, peft.Base{Config: shape, Fingerprint: j.Base.SHA256}); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for _, r := range train.Score(b, batches.Cut(list, 4, 64), llm.Gated{Adapter: a, Gate: 1}) {
			sum, n = sum-r.LogProb, n+r.Tokens
		}
		return sum / float64(n)
	}
	for i, list := range [][]batches.Text{texts(6, 2), back(6, 2)} {
		own, other, now := loss(teachers[i], list), loss(teachers[1-i], list), loss("", list)
		if now > (own+other)/2 || now > own+0.5 {
			t.Errorf("of rule %d its loss is %.2f; its teacher's %.2f, the other's %.2f", i, now, own, other)
		}
		t.Logf("rule %d: %.2f, its teacher %.2f, the other %.2f", i, now, own, other)
	}

	cmd, lines, _ := start(t, 2, "train-folder", killed, "50")
	for lines.Scan() {
		if lines.Text() == "50" {
			_ = cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	first := 0
	run(t, killed, train.Options{Report: func(m train.Metric) {
		if first == 0 {
			first = m.Step
		}
	}})
	if first < 41 {
		t.Errorf("it went on with step %d", first)
	}
	same(t, dir, killed)
}

func TestAJobWithWrongTeachersIsRefused(t *testing.T) {
	t.Parallel()
	dir, _ := distilled(t)
	for words, change := range map[string]func(t *testing.T, dir string, j *train.Job){
		"it has 0 teachers":               func(_ *testing.T, _ string, j *train.Job) { j.Teachers = nil },
		"it has 2 teachers":               func(_ *testing.T, _ string, j *train.Job) { j.Loss.Kind = train.SFT },
		"is of its teacher 1, and it has": func(_ *testing.T, _ string, j *train.Job) { j.Teachers = j.Teachers[:1] },
		"its checksum differs": func(t *testing.T, dir string, _ *train.Job) {
			f, err := os.OpenFile(filepath.Join(dir, train.TeacherDir(1), peft.WeightsFile), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("x")
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"no such file": func(t *testing.T, dir string, _ *train.Job) {
			if err := os.RemoveAll(filepath.Join(dir, train.TeacherDir(0))); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			dir := copied(t, dir)
			j, err := train.ReadJob(dir)
			if err != nil {
				t.Fatal(err)
			}
			change(t, dir, &j)
			if err := train.WriteJob(dir, j); err != nil {
				t.Fatal(err)
			}
			if _, err := train.Run(t.Context(), dir, train.Options{}); !errors.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
				t.Errorf("%v", err)
			}
		})
	}
}
