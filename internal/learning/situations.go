package learning

import (
	"context"
	"time"

	"liminal/internal/identity"
)

// Case is an event with the two texts it is about, as clusters and lessons read
// it.
type Case struct {
	Event
	Question  string // what the person had said, at most 8 KiB
	Answer    string // what they think of, at most 16 KiB
	Situation string // the task in a few words, by a model; empty without one
	Excluded  bool   // the person said that nothing is to be learnt from it
}

// ClusterStatus is whether a cluster still stands.
type ClusterStatus string

// The states of a cluster. A retired one keeps its id and takes no more events.
const (
	ClusterActive  ClusterStatus = "active"
	ClusterRetired ClusterStatus = "retired"
)

// Who gave a cluster its label, or a lesson its words. What a person wrote stays.
const (
	ByRule   = "rule"
	ByModel  = "model"
	ByPerson = "person"
)

// Cluster is a situation that one person, or everybody, comes back to (CLUS-01).
type Cluster struct {
	ID          string
	UserID      string    // empty: of everybody (CLUS-02)
	Centroid    []float32 // embed.Dim numbers, a unit vector
	Size        int       // events
	Label       string    // at most 80 characters
	Description string    // one sentence
	LabelBy     string    // ByRule, ByModel, ByPerson; empty: it has none yet
	Samples     []string  // ids of up to 5 messages nearest to the centroid
	Status      ClusterStatus
	Reach       float64 // the cosine from which a turn belongs to it
	Strength    float64 // 0 to 1: how well one half of its events predicts the other
	Encoder     string  // version of the encoder of the centroid
	CreatedAt   time.Time
	UpdatedAt   time.Time
	// Together and Apart are pairs of event ids that the person said belong, or
	// do not belong, to one cluster: constraints of every later run.
	Together [][2]int64
	Apart    [][2]int64
}

// Clustering is what one run of the clusterer found; it is stored whole.
type Clustering struct {
	Clusters []Cluster        // to store, with their ids: new and changed ones, and those that retire
	Of       map[int64]string // the cluster of each event that was looked at; "": none
}

// Situations keeps clusters and what they are made of.
type Situations interface {
	// Cases returns the viewer's newest events, at most limit, by ascending id,
	// without those that are excluded or whose answer was withheld.
	Cases(ctx context.Context, v identity.Viewer, limit int) ([]Case, error)
	// SharedCases returns events of all people who allow it (Settings.Shared), at
	// most each per person, by ascending id. For the system only.
	SharedCases(ctx context.Context, v identity.Viewer, each int) ([]Case, error)
	// Exclude leaves an event of the viewer's out of everything that is learnt,
	// or takes it in again; NotFound if it is not theirs.
	Exclude(ctx context.Context, v identity.Viewer, eventID int64, excluded bool) error
	// Situate stores what the tasks of events are, in a few words each.
	Situate(ctx context.Context, v identity.Viewer, of map[int64]string) error
	// ListClusters returns the viewer's clusters, or those of everybody, active
	// and retired, by id.
	ListClusters(ctx context.Context, v identity.Viewer, global bool) ([]Cluster, error)
	// PutClustering stores what a run found, in one transaction. Events of other
	// people are left alone (CLUS-02). Storing it twice changes nothing.
	PutClustering(ctx context.Context, v identity.Viewer, c Clustering) error
	// PutCluster changes label, description, LabelBy, status, Together and Apart
	// of one cluster of the viewer's; NotFound if it is not theirs.
	PutCluster(ctx context.Context, v identity.Viewer, c Cluster) error
}
