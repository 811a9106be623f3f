import { useLayoutEffect } from 'react';
import { useLocation } from 'wouter';
import type { SurfaceInfo } from '../api/gen.ts';
import { useUIConfig } from '../api/queries.ts';
import { Chat } from '../chat/Chat.tsx';
import { chosenWorkflow } from '../knowledge/choice.ts';
import { useWorkflows } from '../knowledge/workflows.ts';
import { KeptHere } from './KeptHere.tsx';
import { Told } from './Told.tsx';

/** The page of an assistant (GRND-01); at an address that is nobody's, a conversation as any. */
export default function SurfacePage({ location, surface }: { location: string; surface: SurfaceInfo | undefined }) {
  const [, go] = useLocation();
  const pending = useUIConfig().isPending;
  const admin = /^\/admin\/([^/]+)$/.exec(location);
  const usage = admin && `/operate/usage?surface=${admin[1]}`;
  useLayoutEffect(() => {
    if (usage) go(usage, { replace: true });
  }, [usage, go]);
  if (usage || pending) return null;
  if (!surface) return <Chat id={null} conversation={null} />;
  return surface.keeps === 'nothing' ? <KeptHere key={surface.path} surface={surface} /> : <Listed key={surface.path} surface={surface} />;
}

/** A conversation with its workflow, which is among the others once something is said. */
function Listed({ surface }: { surface: SurfaceInfo }) {
  const draft = `_new:${surface.path}`;
  useLayoutEffect(() => {
    if (chosenWorkflow.get()[draft] === undefined) chosenWorkflow.set({ ...chosenWorkflow.get(), [draft]: surface.workflow_id });
  }, [draft, surface.workflow_id]);
  if (useWorkflows() === undefined) return null; // words would go to another
  return <Chat id={null} conversation={null} draft={draft} above={<Told surface={surface} />} />;
}
