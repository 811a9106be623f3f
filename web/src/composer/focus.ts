// The box comes when it is called.

import { useEffect } from 'react';

/** Puts the caret into the box of the conversation, where there is one. */
export function focusComposer(): void {
  document.getElementById('message')?.focus();
}

/** Whether somebody writes in it. */
export function inComposer(): boolean {
  return document.activeElement?.id === 'message';
}

/** A slash pressed outside any field goes to the box. */
export function useSlash(): void {
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      focusComposer();
    }
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
