package store

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/learning"
)

const clusterColumns = `id, user_id, centroid, size, label, description, label_by, sample_message_ids, status, reach, strength,
	encoder, created_at, updated_at, meta`

// clusterMeta is what a person said of the members of a cluster.
type clusterMeta struct {
	Together [][2]int64 `json:"together,omitempty"`
	Apart    [][2]int64 `json:"apart,omitempty"`
}

func scanCluster(scan Scan) (c learning.Cluster, err error) {
	var vec []byte
	var said clusterMeta
	err = scan(&c.ID, text{&c.UserID}, &vec, &c.Size, &c.Label, &c.Description, &c.LabelBy, decode{&c.Samples}, &c.Status, &c.Reach, &c.Strength,
		&c.Encoder, when{&c.CreatedAt}, when{&c.UpdatedAt}, decode{&said})
	if err == nil {
		c.Centroid, err = unpacked(vec)
	}
	c.Together, c.Apart = said.Together, said.Apart
	return c, err
}

// clusterOwned are the clusters that a viewer's are: their own, and everybody's
// for the house.
const clusterOwned = `(user_id = @user OR (user_id IS NULL AND @house))`

// ListClusters implements learning.Situations.
func (s *Store) ListClusters(ctx context.Context, v identity.Viewer, global bool) (list []learning.Cluster, err error) {
	err = s.read(ctx, v, func(tx Tx) error {
		if global {
			list, err = all(tx, `SELECT `+clusterColumns+` FROM semantic_cluster WHERE user_id IS NULL ORDER BY id`, nil, scanCluster)
			return err
		}
		list, err = all(tx, `SELECT `+clusterColumns+` FROM semantic_cluster WHERE user_id = @user ORDER BY id`, Args{"user": v.UserID}, scanCluster)
		return err
	})
	return list, err
}

// PutClustering implements learning.Situations. What a person named stays
// named while it stands, what they retired stays so, and their constraints stay
// theirs to change.
func (s *Store) PutClustering(ctx context.Context, v identity.Viewer, found learning.Clustering) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		had, err := clusters(tx, v, v.IsSystem())
		if err != nil {
			return err
		}
		for _, c := range found.Clusters {
			if err := s.putFound(tx, v, had, c); err != nil {
				return err
			}
		}
		if v.IsSystem() { // events are their people's
			return nil
		}
		return placeEvents(tx, v, had, found.Of)
	})
}

// clusters are those of the viewer's, or of everybody for the house, by id.
func clusters(tx Tx, v identity.Viewer, house bool) (map[string]learning.Cluster, error) {
	list, err := all(tx, `SELECT `+clusterColumns+` FROM semantic_cluster WHERE `+clusterOwned,
		Args{"user": v.UserID, "house": house}, scanCluster)
	by := make(map[string]learning.Cluster, len(list))
	for _, c := range list {
		by[c.ID] = c
	}
	return by, err
}

// putFound stores a cluster as a run found it, if it differs from what is had,
// and notes it there.
func (s *Store) putFound(tx Tx, v identity.Viewer, had map[string]learning.Cluster, c learning.Cluster) error {
	was, known := had[c.ID]
	c.UserID, c.CreatedAt = v.UserID, s.now()
	if c.Status == "" {
		c.Status = learning.ClusterActive
	}
	if known {
		c.CreatedAt, c.UpdatedAt = was.CreatedAt, was.UpdatedAt
		c.Together, c.Apart = was.Together, was.Apart
		if was.LabelBy == learning.ByPerson {
			c = asNamed(c, was)
		}
	}
	had[c.ID] = c
	if known && sameCluster(was, c) {
		return nil
	}
	c.UpdatedAt = s.now()
	args, err := clusterArgs(c)
	if err != nil {
		return err
	}
	args["user"], args["house"], args["owner"] = v.UserID, v.IsSystem(), optional(v.UserID)
	if known {
		_, err = tx.Exec(`UPDATE semantic_cluster SET centroid = @centroid, size = @size, label = @label, description = @description,
			label_by = @by, sample_message_ids = @samples, status = @status, reach = @reach, strength = @strength, encoder = @encoder,
			updated_at = @updated WHERE id = @id AND `+clusterOwned, args)
		return err
	}
	_, err = tx.Exec(`INSERT INTO semantic_cluster (`+clusterColumns+`) VALUES (@id, @owner, @centroid, @size, @label, @description, @by,
		@samples, @status, @reach, @strength, @encoder, @created, @updated, @meta)`, args)
	return err
}

// asNamed is a cluster as a run found it, with what its person said of it. A
// label by a person says of a retired one that they retired it.
func asNamed(c, was learning.Cluster) learning.Cluster {
	c.Label, c.Description = was.Label, was.Description
	if was.Status == learning.ClusterRetired {
		c.Status = was.Status
	}
	if c.Status == was.Status {
		c.LabelBy = was.LabelBy
	}
	return c
}

// sameCluster compares what is stored of clusters. A list that is empty is as
// one that is none.
func sameCluster(a, b learning.Cluster) bool {
	return slices.Equal(a.Centroid, b.Centroid) && slices.Equal(a.Samples, b.Samples) && reflect.DeepEqual(bare(a), bare(b))
}

func bare(c learning.Cluster) learning.Cluster {
	c.Centroid, c.Samples, c.UserID = nil, nil, ""
	return c
}

func clusterArgs(c learning.Cluster) (Args, error) {
	samples, err := encoded(append([]string{}, c.Samples...), false)
	if err != nil {
		return nil, err
	}
	meta, err := encoded(clusterMeta{c.Together, c.Apart}, len(c.Together)+len(c.Apart) == 0)
	return Args{
		"id": c.ID, "centroid": packed(c.Centroid), "size": c.Size, "label": writable(c.Label), "description": writable(c.Description), "by": c.LabelBy,
		"samples": samples, "status": string(c.Status), "reach": c.Reach, "strength": c.Strength, "encoder": c.Encoder,
		"created": c.CreatedAt, "updated": c.UpdatedAt, "meta": meta,
	}, err
}

// placeEvents writes which cluster each event of the viewer's is in.
func placeEvents(tx Tx, v identity.Viewer, had map[string]learning.Cluster, of map[int64]string) error {
	in := map[string][]int64{}
	for event, cluster := range of {
		if _, known := had[cluster]; !known && cluster != "" {
			return fault.New(fault.Invalid, "Event %d was put into the cluster %s, which is not there.", event, cluster)
		}
		in[cluster] = append(in[cluster], event)
	}
	for _, cluster := range slices.Sorted(maps.Keys(in)) {
		events := in[cluster]
		slices.Sort(events)
		for some := range slices.Chunk(events, idsAtOnce) {
			args := Args{"user": v.UserID, "cluster": optional(cluster)}
			if _, err := tx.Exec(`UPDATE preference_event SET cluster_id = @cluster WHERE user_id = @user AND id IN `+args.numbers("id", some), args); err != nil {
				return err
			}
		}
	}
	return nil
}

// PutCluster implements learning.Situations. Everybody's are an administrator's
// to change. One that retires, and new constraints, make its person due: the
// next run finds its events another place.
func (s *Store) PutCluster(ctx context.Context, v identity.Viewer, c learning.Cluster) error {
	return s.write(ctx, v, func(tx Tx) error {
		if err := lockLearning(tx, v); err != nil {
			return err
		}
		had, err := clusters(tx, v, v.IsAdmin())
		if err != nil {
			return err
		}
		was, known := had[c.ID]
		if !known {
			return missing("situation")
		}
		c.UpdatedAt = s.now()
		args, err := clusterArgs(c)
		if err != nil {
			return err
		}
		args["user"], args["house"] = v.UserID, v.IsAdmin()
		if _, err := tx.Exec(`UPDATE semantic_cluster SET label = @label, description = @description, label_by = @by, status = @status,
			meta = @meta, updated_at = @updated WHERE id = @id AND `+clusterOwned, args); err != nil || was.UserID == "" {
			return err
		}
		if was.Status != c.Status || !slices.Equal(was.Together, c.Together) || !slices.Equal(was.Apart, c.Apart) {
			return s.learnAgain(tx, v)
		}
		return nil
	})
}
