// Who may do what to an artifact, as far as buttons go. The server decides.

import type { Artifact } from '../api/artifacts.ts';
import type { User } from '../api/types.ts';

/** Whether a person makes new versions of it by themselves. */
export function mayWrite(artifact: Artifact, user: User | null): boolean {
  if (!user || artifact.status === 'draft') return false;
  return artifact.owner_id === user.id || artifact.opened || (user.role === 'admin' && artifact.visibility === 'global');
}

/** Whether a person may propose a change of it (CFG-02). */
export function mayPropose(artifact: Artifact, user: User | null): boolean {
  if (!user || artifact.status === 'draft') return false;
  return artifact.owner_id === user.id || (proposes(user) && artifact.visibility === 'global');
}

export function proposes(user: User | null): boolean {
  return user?.role === 'admin' || user?.role === 'power';
}
