package deploy_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"liminal/internal/telemetry"
)

// pod is what of a pod's template the files here use.
type pod struct {
	Metadata struct {
		Labels, Annotations map[string]string
	}
	Spec struct {
		SecurityContext struct {
			RunAsNonRoot bool `yaml:"runAsNonRoot"`
			FSGroup      int  `yaml:"fsGroup"`
		} `yaml:"securityContext"`
		Containers []struct {
			Image   string
			Args    []string
			EnvFrom []struct {
				ConfigMap struct{ Name string } `yaml:"configMapRef"`
				Secret    struct{ Name string } `yaml:"secretRef"`
			} `yaml:"envFrom"`
			Ports           []port
			Readiness       probe `yaml:"readinessProbe"`
			Liveness        probe `yaml:"livenessProbe"`
			SecurityContext struct {
				Escalation   *bool `yaml:"allowPrivilegeEscalation"`
				ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
				Capabilities struct{ Drop []string }
			} `yaml:"securityContext"`
			Mounts []struct {
				Name string
				Path string `yaml:"mountPath"`
			} `yaml:"volumeMounts"`
		}
		Volumes []volume
	}
}

type port struct {
	Name   string
	Number int `yaml:"containerPort"`
}

type volume struct {
	Name  string
	Claim struct {
		Name string `yaml:"claimName"`
	} `yaml:"persistentVolumeClaim"`
}

type probe struct {
	HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
	TCP     struct{ Port string }       `yaml:"tcpSocket"`
}

// manifests are all documents of the folder, by kind, and its pods by name.
func manifests(t *testing.T) (byKind map[string][]object, pods map[string]pod) {
	t.Helper()
	files, err := filepath.Glob("kubernetes/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "train/kubernetes.yaml")
	byKind, pods = map[string][]object{}, map[string]pod{}
	for _, file := range files {
		for _, doc := range documents(t, file) {
			kind := doc["kind"].(string)
			byKind[kind] = append(byKind[kind], doc)
			if kind != "Deployment" && kind != "Job" {
				continue
			}
			var whole struct {
				Metadata struct{ Name string }
				Spec     struct{ Template pod }
			}
			raw, err := yaml.Marshal(doc)
			if err != nil || yaml.Unmarshal(raw, &whole) != nil {
				t.Fatalf("%s: %v", file, err)
			}
			pods[whole.Metadata.Name] = whole.Spec.Template
		}
	}
	return byKind, pods
}

func named(docs []object) (names []string) {
	for _, doc := range docs {
		names = append(names, doc["metadata"].(object)["name"].(string))
	}
	return names
}

// listens are the ports of the program's two listeners, by the name they have in
// the manifests, as the settings of the manifests and of the image have them.
func listens(t *testing.T, byKind map[string][]object) map[string]int {
	t.Helper()
	settings := byKind["ConfigMap"][0]["data"].(object)
	dockerfile, err := os.ReadFile("container/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]int{}
	for name, setting := range map[string]string{"http": "LIMINAL_LISTEN", "ops": "LIMINAL_OPS_LISTEN"} {
		address, _ := settings[setting].(string)
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatalf("%s=%s: %v", setting, address, err)
		}
		if !strings.Contains(string(dockerfile), " "+setting+"="+address) || !regexp.MustCompile(`(?m)^EXPOSE .*\b`+port+`\b`).Match(dockerfile) {
			t.Errorf("%s=%s is not what the image has", setting, address)
		}
		if ports[name], err = strconv.Atoi(port); err != nil {
			t.Fatal(err)
		}
	}
	return ports
}

// images are those that pods run.
var images = map[string]string{
	"liminal-server": "liminal:latest", "liminal-worker": "liminal:latest", "liminal-tools": "liminal:latest", "liminal-migrate": "liminal:latest", "liminal-training": "liminal-train:latest",
}

// What one file names in another is there, and ports are those that the program
// listens on.
//
// Requirements: OPS-10
func TestThePodsFindWhatTheyName(t *testing.T) {
	t.Parallel()
	byKind, pods := manifests(t)
	ports := listens(t, byKind)
	ops := telemetry.Ops(telemetry.NewVitals(telemetry.VitalsOptions{}), telemetry.NewMetrics("test"))
	for name, p := range pods {
		if at := p.Metadata.Annotations["prometheus.io/port"]; at != "" && at != strconv.Itoa(ports["ops"]) {
			t.Errorf("%s is scraped at %s", name, at)
		}
		for _, v := range p.Spec.Volumes {
			if v.Claim.Name != "" && !slices.Contains(named(byKind["PersistentVolumeClaim"]), v.Claim.Name) {
				t.Errorf("%s claims %s", name, v.Claim.Name)
			}
		}
		for _, c := range p.Spec.Containers {
			if _, err := os.Stat("../cmd/liminald/" + c.Args[0] + ".go"); err != nil || c.Image != images[name] {
				t.Errorf("%s runs %s %v: %v", name, c.Image, c.Args, err)
			}
			has := map[string]bool{"": true}
			for _, p := range c.Ports {
				has[p.Name] = true
				if ports[p.Name] != p.Number {
					t.Errorf("%s has the port %d as %s; the program's are %v", name, p.Number, p.Name, ports)
				}
			}
			for _, probe := range []probe{c.Readiness, c.Liveness} {
				if !has[probe.HTTPGet.Port] || !has[probe.TCP.Port] {
					t.Errorf("%s is probed on a port it has not: %+v", name, probe)
				}
				if path := probe.HTTPGet.Path; path != "" {
					answer := httptest.NewRecorder()
					ops.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
					if probe.HTTPGet.Port != "ops" || answer.Code != http.StatusOK {
						t.Errorf("%s is asked %s on %s, which answers %d", name, path, probe.HTTPGet.Port, answer.Code)
					}
				}
			}
			for _, from := range c.EnvFrom {
				if n := from.ConfigMap.Name; n != "" && !slices.Contains(named(byKind["ConfigMap"]), n) {
					t.Errorf("%s takes settings of %s", name, n)
				}
				if n := from.Secret.Name; n != "" && !slices.Contains(named(byKind["Secret"]), n) {
					t.Errorf("%s takes secrets of %s", name, n)
				}
			}
			for _, m := range c.Mounts {
				if !slices.ContainsFunc(p.Spec.Volumes, func(v volume) bool { return v.Name == m.Name }) {
					t.Errorf("%s mounts %s", name, m.Name)
				}
			}
		}
	}
}

// Whoever reaches a pod reaches a port that it has.
func TestServicesAndWallsNameThePortsOfTheirPods(t *testing.T) {
	t.Parallel()
	byKind, pods := manifests(t)
	ports := listens(t, byKind)
	// open reports whether every pod with these labels has a port of that name or
	// number.
	open := func(labels, want any) bool {
		found := false
		for _, p := range pods {
			if !matches(labels.(object), p.Metadata.Labels) {
				continue
			}
			found = true
			if !slices.ContainsFunc(p.Spec.Containers[0].Ports, func(c port) bool { return c.Name == want || c.Number == want }) {
				return false
			}
		}
		return found
	}
	services := map[string][]string{}
	for i, doc := range byKind["Service"] {
		spec, name := doc["spec"].(object), named(byKind["Service"])[i]
		for _, p := range asList(spec["ports"]) {
			services[name] = append(services[name], p.(object)["name"].(string))
			if !open(spec["selector"], p.(object)["targetPort"]) {
				t.Errorf("the service %s leads to %v, which its pods lack", name, p)
			}
		}
	}
	for _, doc := range byKind["NetworkPolicy"] {
		spec := doc["spec"].(object)
		for _, rule := range asList(spec["ingress"]) {
			for _, p := range asList(rule.(object)["ports"]) {
				if !open(spec["podSelector"].(object)["matchLabels"], p.(object)["port"]) {
					t.Errorf("%v lets in to %v, which its pods lack", doc["metadata"], p)
				}
			}
		}
	}
	for _, doc := range byKind["PodDisruptionBudget"] {
		found := false
		for _, p := range pods {
			found = found || matches(doc["spec"].(object)["selector"].(object)["matchLabels"].(object), p.Metadata.Labels)
		}
		if !found {
			t.Errorf("%v is about no pod", doc["metadata"])
		}
	}
	for _, rule := range asList(byKind["Ingress"][0]["spec"].(object)["rules"]) {
		for _, path := range asList(rule.(object)["http"].(object)["paths"]) {
			to := path.(object)["backend"].(object)["service"].(object)
			if !slices.Contains(services[to["name"].(string)], to["port"].(object)["name"].(string)) {
				t.Errorf("the ingress leads to %v", to)
			}
		}
	}
	proxy := documents(t, "compose/compose.yml")[0]["services"].(object)["proxy"].(object)
	if to := proxy["environment"].(object)["LIMINAL_SERVERS"]; to != "server:"+strconv.Itoa(ports["http"]) {
		t.Errorf("the proxy of the compose file leads to %v", to)
	}
}

func matches(selector object, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// The program runs as nobody in particular, may not become more, and writes to
// its volume and to /tmp: in Kubernetes as on one host with Compose.
func TestEverythingOfOursIsConfined(t *testing.T) {
	t.Parallel()
	_, pods := manifests(t)
	for name, p := range pods {
		if !p.Spec.SecurityContext.RunAsNonRoot || p.Spec.SecurityContext.FSGroup != 65532 {
			t.Errorf("%s runs as %+v", name, p.Spec.SecurityContext)
		}
		for _, c := range p.Spec.Containers {
			s := c.SecurityContext
			if s.Escalation == nil || *s.Escalation || !s.ReadOnly || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) {
				t.Errorf("%s may %+v", name, s)
			}
			var paths []string
			for _, m := range c.Mounts {
				paths = append(paths, m.Path)
			}
			if slices.Sort(paths); !slices.Equal(paths, []string{"/data", "/tmp"}) {
				t.Errorf("%s writes to %v", name, paths)
			}
		}
	}
	if len(pods) != len(images) {
		t.Errorf("%d pods", len(pods))
	}
	services := documents(t, "compose/compose.yml")[0]["services"].(object)
	for _, name := range []string{"migrate", "server", "worker", "tools"} {
		s, _ := services[name].(object)
		is := func(key string, want ...any) bool { return slices.Equal(asList(s[key]), want) }
		if s["read_only"] != true || !is("cap_drop", "ALL") || !is("security_opt", "no-new-privileges:true") || !is("tmpfs", "/tmp") || !is("volumes", "data:/data") {
			t.Errorf("%s runs as %v", name, s)
		}
	}
}
