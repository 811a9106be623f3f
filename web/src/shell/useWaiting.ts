import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { keys, queryClient } from '../api/queries.ts';
import type { Conversation } from '../api/types.ts';
import { useWords } from '../i18n/index.ts';
import { createWatch, isElsewhere, isOnScreen, keepOnScreen, markSign, notify, systemNotices, titleOf } from '../lib/notify.ts';
import { useStore } from '../lib/store.ts';

const hiddenPause = 30_000; // ms between two looks from a hidden tab; only for those who asked to be told

/**
 * Says on the tab, and where it was asked for by the system, what waits for
 * the person. conversations: null until they are known; open: the one on
 * screen; name: of what is on screen. Returns how many wait.
 */
export function useWaiting(conversations: Conversation[] | null, open: string | null, name: string | null | undefined): number {
  const words = useWords();
  const [, navigate] = useLocation();
  const [watch] = useState(createWatch);
  const pending = (conversations ?? []).filter((one) => one.pending);
  useLookingWhenHidden();

  useEffect(() => {
    document.title = titleOf(pending.length, name);
    markSign(pending.length > 0);
  }, [pending.length, name]);

  useEffect(() => (open ? keepOnScreen(open) : undefined), [open]);

  useEffect(() => {
    if (!conversations) return;
    for (const one of watch(conversations)) {
      if (!isElsewhere(one.id, open)) continue;
      void isOnScreen(one.id).then((seen) => seen || notify({ ...one, title: one.title || words.untitled }, words.waitingForYou, () => navigate(`/c/${one.id}`)));
    }
  }, [conversations, open, watch, words, navigate]);

  useEffect(() => () => markSign(false), []); // nothing waits for whoever has left
  return pending.length;
}

/** A hidden tab asks for nothing by itself, unless somebody wants to be told. */
function useLookingWhenHidden(): void {
  const on = useStore(systemNotices) === 'on';
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'hidden') void queryClient.invalidateQueries({ queryKey: keys.conversations });
    }, hiddenPause);
    return () => clearInterval(timer);
  }, [on]);
}
