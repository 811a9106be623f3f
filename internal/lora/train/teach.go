package train

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"liminal/internal/fault"
	"liminal/internal/lora/batches"
	"liminal/internal/lora/fit"
	"liminal/internal/lora/llm"
	"liminal/internal/lora/peft"
	"liminal/internal/lora/serve"
)

// TeachersDir is where the adapters that teach lie in the folder of a job, each
// under its number.
const TeachersDir = "teachers"

// Teacher is an adapter whose answers a job imitates.
type Teacher struct {
	Dir    string `json:"dir"`    // of a PEFT folder, seen from the job's
	SHA256 string `json:"sha256"` // of its weights
}

// Teach copies the adapters in the folders from into that of a job, for which they
// teach in this order. They stay there when those are replaced or deleted.
func Teach(dir string, from ...string) ([]Teacher, error) {
	out := make([]Teacher, 0, len(from))
	for i, folder := range from {
		t := Teacher{Dir: TeacherDir(i)}
		to := filepath.Join(dir, filepath.FromSlash(t.Dir))
		if err := os.MkdirAll(to, 0o700); err != nil {
			return nil, err
		}
		for _, name := range []string{peft.ConfigFile, peft.WeightsFile} {
			var err error
			if t.SHA256, err = copyFile(filepath.Join(to, name), filepath.Join(folder, name)); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// TeacherDir is the folder of a teacher by its number, below a job's.
func TeacherDir(i int) string { return fmt.Sprintf("%s/%d", TeachersDir, i) }

// readTeachers reads the adapters that teach, as they are heard.
func (r *runner) readTeachers() error {
	for i, t := range r.job.Teachers {
		folder := path(r.dir, t.Dir)
		sum, err := serve.Sum(filepath.Join(folder, peft.WeightsFile))
		if err == nil && sum != t.SHA256 {
			err = errors.New("it is not the one that the job names: its checksum differs")
		}
		var a *llm.Adapter
		if err == nil {
			a, err = peft.Read(folder, r.base)
		}
		if err != nil {
			return unreadable(err, "The teacher %d of the job %s cannot be read: %v.", i, r.job.ID, err)
		}
		r.teachers = append(r.teachers, scaled(a, r.job.Served(nil).Gate))
	}
	return nil
}

// taughtBy refuses a batch of a teacher that the job does not have.
func (r *runner) taughtBy(b batches.Batch) error {
	if b.Teacher < 0 || b.Teacher > 0 && b.Teacher >= len(r.teachers) {
		return fault.New(fault.Invalid, "A batch of the job %s is of its teacher %d, and it has %d.", r.job.ID, b.Teacher, len(r.teachers))
	}
	return nil
}

// taughtBatch is a batch with the number of who teaches it.
type taughtBatch struct {
	fit.Batch
	teacher int
}

// taught is what the teacher of a batch makes of it.
func (r *runner) taught(l taughtBatch) []float32 {
	return r.pass.Taught(l.Batch, r.teachers[l.teacher])
}
