package devserver_test

import (
	"strings"
	"testing"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/server/common/archiver/gcloud/connector"
	"go.temporal.io/server/common/archiver/s3store"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	esclient "go.temporal.io/server/common/persistence/visibility/store/elasticsearch/client"
)

// Somebody who turns on what is left out of the server is told so at the start.
func TestWhatIsLeftOutOfTheServerSaysSo(t *testing.T) {
	t.Parallel()
	_, history := s3store.NewHistoryArchiver(nil, log.NewNoopLogger(), metrics.NoopMetricsHandler, &config.S3Archiver{Region: "eu-central-1"})
	_, visibility := s3store.NewVisibilityArchiver(log.NewNoopLogger(), metrics.NoopMetricsHandler, &config.S3Archiver{Region: "eu-central-1"})
	_, google := connector.NewClient(t.Context(), &config.GstorageArchiver{})
	_, elastic := esclient.NewAwsHttpClient(esclient.ESAWSRequestSigningConfig{Enabled: true, Region: "eu-central-1", CredentialProvider: "aws-sdk-default"})
	for what, err := range map[string]error{
		"histories in S3": history, "lists in S3": visibility, "Google Cloud Storage": google, "an Elasticsearch of AWS": elastic,
	} {
		if err == nil || !strings.Contains(err.Error(), "left out of this Temporal server") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestADeploymentVersionCannotBeScaled(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), nil)
	defer stop(t, s)
	_, err := dial(t, s).WorkflowService().ValidateWorkerDeploymentVersionComputeConfig(t.Context(), &workflowservice.ValidateWorkerDeploymentVersionComputeConfigRequest{
		Namespace:         s.Namespace(),
		DeploymentVersion: &deployment.WorkerDeploymentVersion{DeploymentName: "answers", BuildId: "1"},
	})
	if err == nil || !strings.Contains(err.Error(), "left out of this Temporal server") {
		t.Errorf("it answers %v", err)
	}
}
