import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion, type Completion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { offers, type Known, type Offer } from './complete.ts';
import { placeOf, places, spotAt } from './scan.ts';

export interface Mark {
  pointer: string;
  message: string;
  at?: number; // the letter, where no pointer can be told
}

interface Props {
  initial: string; // what is written is the editor's from then on
  label: string;
  schema: Record<string, unknown> | undefined;
  known: Known;
  marks: readonly Mark[];
  /** A place to go to; every new object is a new wish. */
  wish: { pointer: string } | null;
  onChange(text: string): void;
}

/**
 * A text field for JSON that knows what may stand where. It lives in a shadow
 * root: there CodeMirror brings its styles as constructed sheets, which the
 * content policy allows, and not as style elements, which it does not.
 */
export default function Editor(props: Props) {
  const words = useWords();
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const { marks, wish, label } = props;

  useEffect(() => {
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: 'open' });
    const doc = latest.current.initial;
    const made = new EditorView({ root, parent: root, state: EditorState.create({ doc, extensions: extensions(latest, words) }) });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
    // What the editor needs later it reads from `latest`; a new language makes a new one.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [words, label]);

  useEffect(() => {
    const at = view.current;
    if (at) at.dispatch(setDiagnostics(at.state, diagnostics(at.state.doc.toString(), marks)));
  }, [marks, words, label]);

  useEffect(() => {
    const at = view.current;
    if (!at || !wish) return;
    const { from } = placeOf(places(at.state.doc.toString()), wish.pointer);
    at.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    at.focus();
  }, [wish]);

  return <div ref={host} className="editor" />;
}

function extensions(latest: { current: Props }, words: Dictionary) {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    foldGutter(),
    lintGutter(),
    history(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    json(),
    syntaxHighlighting(colours),
    autocompletion({ override: [(context) => complete(context, latest.current)], icons: false }),
    keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, ...lintKeymap]),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': latest.current.label, tabindex: '0' }),
    EditorState.phrases.of(phrases(words)),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      latest.current.onChange(update.state.doc.toString());
      // A quote begins a name or a value: that is when somebody wants to know which.
      if (update.transactions.some((one) => one.isUserEvent('input.type')) && typed(update.view) === '"') startCompletion(update.view);
    }),
    look,
  ];
}

function typed(view: EditorView): string {
  const { head } = view.state.selection.main;
  return view.state.sliceDoc(head - 1, head);
}

function phrases(words: Dictionary): Record<string, string> {
  const said = ['Completions', 'Diagnostics', 'No diagnostics', 'Fold line', 'Unfold line', 'Folded lines', 'Unfolded lines', 'to', 'folded code', 'unfold', 'Control character', 'close'];
  return Object.fromEntries(said.map((one) => [one, words.editorPhrase(one)]));
}

function complete(context: CompletionContext, { schema, known }: Props): CompletionResult | null {
  if (!schema) return null;
  const text = context.state.doc.toString();
  const spot = spotAt(text, context.pos);
  if (!spot || (!context.explicit && !spot.quoted && spot.typed === '')) return null;
  const found = offers(schema, spot, known);
  if (found.length === 0) return null;
  return { from: spot.quoted ? spot.from + 1 : spot.from, options: found.map(option), validFor: /^[\w.-]*$/ };
}

function option(offer: Offer, at: number): Completion {
  return {
    label: offer.label,
    type: offer.kind,
    boost: -at / 10,
    ...(offer.description ? { info: offer.description } : {}),
    apply: (view) => write(view, offer),
  };
}

/** Writes an offer over what is typed by now, and the cursor in where something is still to be written. */
function write(view: EditorView, offer: Offer): void {
  const text = view.state.doc.toString();
  const cursor = view.state.selection.main.head;
  const spot = spotAt(text, cursor);
  if (!spot) return;
  const closed = !spot.quoted || (text[spot.to - 1] === '"' && spot.to - spot.from > 1); // else the rest of the line is not its
  const inside = offer.kind === 'member' && /(""|\[\]|\{\})$/.test(offer.apply);
  view.dispatch({
    changes: { from: spot.from, to: closed ? spot.to : cursor, insert: offer.apply },
    selection: { anchor: spot.from + offer.apply.length - (inside ? 1 : 0) },
    userEvent: 'input.complete',
  });
  if (inside && offer.apply.endsWith('""')) startCompletion(view);
}

function diagnostics(text: string, marks: readonly Mark[]): Diagnostic[] {
  const all = marks.length > 0 ? places(text) : new Map<string, never>();
  return marks.map((mark) => {
    const place = mark.at === undefined ? placeOf(all, mark.pointer) : { from: mark.at, to: mark.at + 1 };
    const from = Math.min(place.from, text.length);
    // A whole node underlined says nothing: the first line is enough.
    const line = text.indexOf('\n', from);
    const to = Math.min(place.to, text.length, line < 0 ? text.length : line);
    return { from, to: Math.max(from, to), severity: 'error', message: mark.message };
  });
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--pink)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const look = EditorView.theme({
  '&': { height: 'min(70vh, 880px)', color: 'var(--text)', backgroundColor: 'var(--bg)', fontSize: '13.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--accent)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)', borderLeftWidth: '2px' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--text-2)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--text) 5%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 26%, transparent)' },
  '&.cm-focused .cm-matchingBracket, .cm-matchingBracket': { backgroundColor: 'color-mix(in srgb, var(--accent) 26%, transparent)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunk)', color: 'var(--text-2)', border: 'none' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--text)', border: '1px solid var(--border)', borderRadius: '4px', boxShadow: 'var(--shadow)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '13px', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 10px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip.cm-completionInfo': { padding: '8px 12px', maxWidth: '360px', fontFamily: 'var(--sans)', fontSize: '13px', lineHeight: '1.5' },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-tooltip-lint': { fontFamily: 'var(--sans)', fontSize: '13px' },
  '.cm-diagnostic': { padding: '6px 12px', maxWidth: '420px' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-lintRange-error': { backgroundImage: 'none', textDecoration: 'underline wavy var(--bad)', textUnderlineOffset: '3px', textDecorationThickness: '1.5px' },
  '.cm-gutter-lint': { width: '14px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '6px 2px 0 4px' },
  '.cm-lint-marker': { width: '8px', height: '8px' },
  '.cm-lint-marker-error': { content: 'normal', borderRadius: '50%', backgroundColor: 'var(--bad)' },
});
