package store

// Who may read and who may change what can be shared, as conditions of
// statements. Their arguments are user, the viewer's id, and admin, whether the
// viewer is an administrator. What is one person's only is read by its user_id.
// What is shared is found from the shares that the viewer has, so that no
// condition looks at what everybody has.

// reaches is whether a share, h, is one the viewer has.
const reaches = `(h.grantee_user_id = @user OR h.tenant_id = (SELECT r.tenant_id FROM app_user r WHERE r.id = @user))`

// Whether a context, c, is shared with the viewer, and to add to.
const (
	sharedContexts = `(SELECT h.context_id FROM share h WHERE h.context_id IS NOT NULL AND ` + reaches + `)`
	openedContexts = `(SELECT h.context_id FROM share h WHERE h.context_id IS NOT NULL AND h.may_write AND ` + reaches + `)`
	contextShared  = `c.id IN ` + sharedContexts
	contextOpened  = `c.id IN ` + openedContexts
)

// What a viewer may read of knowledge, what they may change, and what they may
// add documents to. Indexes decide by the same conditions.
const (
	ContextVisible  = `(c.owner_user_id = @user OR c.visibility = 'global' OR ` + contextShared + `)`
	contextWritable = `(c.owner_user_id = @user OR (c.visibility = 'global' AND @admin))`
	contextAddable  = `(` + contextWritable + ` OR ` + contextOpened + `)`
)

// documentOfSet is whether a document, d, is in a set that is shared with the
// viewer, and was put in by the set's owner.
const documentOfSet = `d.id IN (SELECT m.document_id FROM share h JOIN document_set_document m ON m.set_id = h.set_id
	JOIN document o ON o.id = m.document_id AND o.user_id = h.owner_user_id WHERE h.set_id IS NOT NULL AND ` + reaches + `)`

// documentShared is what others share with the viewer.
const documentShared = `d.context_id IN ` + sharedContexts + ` OR ` + documentOfSet

// A document is read with its context, or with a set that it is in. It is changed
// with its context, and by who may add there where it is their own.
const (
	DocumentVisible  = `(EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = d.context_id AND ` + ContextVisible + `) OR ` + documentOfSet + `)`
	DocumentWritable = `(EXISTS (SELECT 1 FROM knowledge_context c WHERE c.id = d.context_id AND ` + contextWritable + `)
		OR d.user_id = @user AND d.context_id IN ` + openedContexts + `)`
)

// What a viewer may read of artifacts: their own, what is global, and by its id
// what is shared with them. What goes by its name is never another's: whoever
// shares something must not decide what follows a name here. Each write says
// itself who may change them.
const (
	artifactNamed   = `(owner_user_id = @user OR visibility = 'global')`
	artifactVisible = `(owner_user_id = @user OR visibility = 'global' OR id IN (SELECT h.artifact_id FROM share h WHERE h.artifact_id IS NOT NULL AND ` + reaches + `))`
	artifactOpened  = `id IN (SELECT h.artifact_id FROM share h WHERE h.artifact_id IS NOT NULL AND h.may_write AND ` + reaches + `)`
)

// setVisible is what a viewer may read of document sets.
const setVisible = `(user_id = @user OR id IN (SELECT h.set_id FROM share h WHERE h.set_id IS NOT NULL AND ` + reaches + `))`
