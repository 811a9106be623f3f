package store

// Who may read and who may change what can be shared, as conditions of
// statements. Their arguments are user, the viewer's id, and admin, whether the
// viewer is an administrator. What is one person's only is read by its user_id.

// What a viewer may read of knowledge, and what they may change.
const (
	contextVisible  = `(c.owner_user_id = @user OR c.visibility = 'global')`
	contextWritable = `(c.owner_user_id = @user OR (c.visibility = 'global' AND @admin))`
)

// A document is read and changed with its context; its row carries the
// person who put it there as well.
const (
	documentVisible  = `EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = d.context_id AND ` + contextVisible + `)`
	documentWritable = `EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = d.context_id AND ` + contextWritable + `)`
)

// artifactVisible is what a viewer may read of artifacts: their own, and what
// is global. Each write says itself who may change them.
const artifactVisible = `(owner_user_id = @user OR visibility = 'global')`
