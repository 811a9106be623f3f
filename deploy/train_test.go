package deploy_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"liminal/internal/config"
	"liminal/internal/lora/train"
)

// The image and the manifest of the trainer name settings there are, and a command
// that reads as one: with the folder of the job, and the program that the image
// has at that place.
func TestTheTrainersFilesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("train/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	dockerfile := string(raw)
	known := settings()
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`([A-Z_]+)=("[^"]*"|\S+)`).FindAllStringSubmatch(dockerfile, -1) {
		env[m[1]] = strings.Trim(m[2], `"`)
	}
	for name := range env {
		if ours.MatchString(name) && !known[name] {
			t.Errorf("the image sets %s, which is no setting of the program", name)
		}
	}
	var commands []string
	for _, doc := range documents(t, "train/kubernetes.yaml") {
		if doc["kind"] != "Deployment" {
			continue
		}
		var d struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Args []string
							Env  []struct{ Name, Value string }
						}
					}
				}
			}
		}
		raw, err := yaml.Marshal(doc)
		if err != nil || yaml.Unmarshal(raw, &d) != nil {
			t.Fatal(err)
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			var environ []string
			for _, e := range c.Env {
				environ = append(environ, e.Name+"="+e.Value)
			}
			conf, err := config.Load(environ, nil)
			if err != nil || conf.Adapters.Trainer != "command" {
				t.Errorf("the manifest's settings are %+v, %v", conf.Adapters, err)
			}
			commands = append(commands, conf.Adapters.Command)
			if want := "CMD [\"" + strings.Join(c.Args, `", "`) + `"]`; !strings.Contains(dockerfile, want) {
				t.Errorf("the manifest runs %v, the image another command", c.Args)
			}
		}
	}
	for _, line := range append(commands, env["LIMINAL_TRAIN_COMMAND"]) {
		c, err := train.ParseCommand(line)
		if err != nil || !slices.Equal(c.Args, []string{"python3", "/opt/train/train.py", "{dir}"}) {
			t.Errorf("%q: %v", line, err)
		}
	}
	for _, copied := range []string{"requirements.txt", "train.py"} {
		if _, err := os.Stat("train/" + copied); err != nil || !strings.Contains(dockerfile, "COPY "+copied+" /opt/train/") {
			t.Errorf("the image has no %s: %v", copied, err)
		}
	}
	// The versions are those that scripts/lora-parity.sh compares with.
	script, err := os.ReadFile("../scripts/lora-parity.sh")
	if err != nil {
		t.Fatal(err)
	}
	pinned, err := os.ReadFile("train/requirements.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(pinned)) {
		if strings.Contains(line, "==") && !strings.Contains(string(script), line) {
			t.Errorf("the image has %s, and scripts/lora-parity.sh another", line)
		}
	}
}
