// The editor of the box (TipTap 3): paragraphs, text and mentions. It takes and
// gives lines, never HTML: a string would be parsed as such, which the content
// policy forbids, and what is pasted is words whatever it looked like.

import { Editor, Extension, Node, type JSONContent } from '@tiptap/core';
import { history, redo, undo } from '@tiptap/pm/history';
import { Fragment, Slice, type Node as PMNode, type Schema } from '@tiptap/pm/model';
import { EditorState, TextSelection } from '@tiptap/pm/state';
import type { EditorProps, EditorView } from '@tiptap/pm/view';
import { docOfLines, linesOfText, ownLinesOf, textOfLines, type Category, type Mention, type Piece } from './doc.ts';

/** What is being looked for behind an @, and where it stands. */
export interface Query {
  text: string;
  from: number;
  to: number;
}

export interface Hooks {
  /** Something else is written now. */
  changed(empty: boolean): void;
  /** The @ before the caret, or none. */
  asked(query: Query | null): void;
  /** A key before the editor has it; true when that was all it was for. */
  key(event: KeyboardEvent): boolean;
}

export interface Writer {
  lines(): Piece[][];
  /** Other words, which undo does not lead back from; the caret behind them. */
  load(lines: Piece[][]): void;
  show(attributes: Record<string, string>, editable: boolean): void;
  mention(query: Query, mention: Mention): void;
  /** Words where the caret is, with a space before them where one is missing. */
  insert(text: string): void;
  focus(): void;
  destroy(): void;
}

const longestQuery = 48; // characters
const own = 'application/x-liminal-lines'; // on the clipboard, beside the words
const leaf = '\uFFFC'; // stands for a mention in the text around it

const nodes = [
  Node.create({ name: 'doc', topNode: true, content: 'paragraph+' }),
  Node.create({ name: 'paragraph', content: 'inline*', renderHTML: () => ['p', 0] }),
  Node.create({ name: 'text', group: 'inline' }),
  Node.create({
    name: 'mention',
    group: 'inline',
    inline: true,
    atom: true,
    selectable: false,
    addAttributes: () => ({ id: { default: '' }, label: { default: '' }, category: { default: 'document' } }),
    renderHTML: ({ node }) => ['span', { class: 'mention-pill', 'data-category': node.attrs['category'] as Category }, `@${node.attrs['label'] as string}`],
  }),
  Extension.create({
    name: 'keys',
    addProseMirrorPlugins: () => [history()],
    addKeyboardShortcuts() {
      const run = (command: typeof undo) => () => command(this.editor.state, this.editor.view.dispatch);
      return { 'Mod-z': run(undo), 'Mod-y': run(redo), 'Shift-Mod-z': run(redo), 'Shift-Enter': () => this.editor.commands.splitBlock() };
    },
  }),
];

export function createWriter(place: HTMLElement, lines: Piece[][], hooks: Hooks): Writer {
  let attributes: Record<string, string> = {};
  const props: EditorProps = {
    // An empty box shows its hint: CSS reads it off the box itself.
    attributes: (state) => (blank(state.doc) && state.doc.childCount === 1 && state.doc.firstChild!.childCount === 0 ? { ...attributes, 'data-empty': '' } : attributes),
    handleKeyDown: (_, event) => hooks.key(event),
    handleDOMEvents: {
      paste: (view, event) => pasted(view, event),
      copy: (view, event) => copied(view, event),
      cut: (view, event) => copied(view, event, true),
      drop: (view, event) => dropped(view, event),
    },
  };
  const editor = new Editor({
    element: place,
    extensions: nodes,
    content: docOfLines(lines) as JSONContent,
    injectCSS: false,
    enableInputRules: false,
    enablePasteRules: false,
    enableCoreExtensions: { clipboardTextSerializer: false, drop: false, paste: false, delete: false, textDirection: false, tabindex: false },
    editorProps: props,
  });

  let empty = blank(editor.state.doc);
  let query: Query | null = null;
  function announce(state: EditorState, changed: boolean): void {
    if (changed) hooks.changed((empty = blank(state.doc)));
    const next = editor.isEditable ? queryAt(state) : null;
    if (next?.from === query?.from && next?.text === query?.text) return;
    hooks.asked((query = next));
  }
  editor.on('transaction', ({ transaction }) => announce(editor.state, transaction.docChanged));

  return {
    lines: () => ownLinesOf(editor.state.doc.toJSON()) ?? [],
    load(next) {
      if (empty && next.every((line) => line.length === 0)) return;
      const doc = editor.schema.nodeFromJSON(docOfLines(next));
      const selection = TextSelection.atEnd(doc);
      editor.view.updateState(EditorState.create({ doc, selection, plugins: editor.state.plugins }));
      announce(editor.state, true);
    },
    show(next, editable) {
      attributes = next;
      editor.setOptions({ editable });
    },
    mention({ from, to }, { category, id, label }) {
      const node = editor.schema.node('mention', { category, id, label });
      editor.view.focus();
      editor.view.dispatch(editor.state.tr.replaceWith(from, to, [node, editor.schema.text(' ')]).scrollIntoView());
    },
    insert(text) {
      const { tr, selection } = editor.state;
      const gap = /\S$/.test(selection.$from.parent.textBetween(0, selection.$from.parentOffset, '', leaf)) ? ' ' : '';
      editor.view.dispatch(tr.insertText(gap + text).scrollIntoView());
      editor.view.focus();
    },
    focus: () => editor.view.focus(),
    destroy: () => editor.destroy(),
  };
}

function blank(doc: PMNode): boolean {
  let written = false;
  doc.descendants((node) => {
    written ||= node.isText ? node.text!.trim() !== '' : node.isAtom;
    return !written;
  });
  return !written;
}

/** The @ one is writing behind: at the beginning of a word, on the caret's line. */
function queryAt({ selection }: EditorState): Query | null {
  if (!selection.empty) return null;
  const { parent, parentOffset, pos } = selection.$from;
  const before = parent.textBetween(Math.max(0, parentOffset - longestQuery - 2), parentOffset, undefined, leaf);
  const found = /(?:^|[\s([{"'„“«\uFFFC])@((?:[^\s@\uFFFC][^@\uFFFC]*)?)$/u.exec(before);
  if (!found || found[1]!.length > longestQuery) return null;
  return { text: found[1]!, from: pos - found[1]!.length - 1, to: pos };
}

function slice(schema: Schema, lines: Piece[][]): Slice {
  const doc = schema.nodeFromJSON(docOfLines(lines));
  return new Slice(doc.content, 1, 1);
}

/** What a clipboard or a drag carries, as lines: our own with their mentions, all else as its words. */
function carried(data: DataTransfer | null): Piece[][] | null {
  const kept = data?.getData(own);
  if (kept) {
    try {
      return ownLinesOf(JSON.parse(kept));
    } catch {
      // Somebody else's: its words do.
    }
  }
  const text = data?.getData('text/plain') ?? '';
  return text === '' ? null : linesOfText(text);
}

function pasted(view: EditorView, event: ClipboardEvent): boolean {
  const lines = carried(event.clipboardData);
  if (lines && view.editable) view.dispatch(view.state.tr.replaceSelection(slice(view.state.schema, lines)).scrollIntoView().setMeta('uiEvent', 'paste'));
  if (lines) event.preventDefault();
  return true; // the editor's own way would parse HTML
}

function copied(view: EditorView, event: ClipboardEvent, cut = false): boolean {
  const { selection, schema, tr } = view.state;
  if (selection.empty || !event.clipboardData) return true;
  const doc = schema.topNodeType.createAndFill(null, blocks(schema, selection.content().content));
  const lines = ownLinesOf(doc?.toJSON());
  if (!lines) return true;
  event.preventDefault();
  event.clipboardData.setData('text/plain', textOfLines(lines));
  event.clipboardData.setData(own, JSON.stringify(docOfLines(lines)));
  if (cut && view.editable) view.dispatch(tr.deleteSelection().scrollIntoView().setMeta('uiEvent', 'cut'));
  return true;
}

function blocks(schema: Schema, content: Fragment): Fragment {
  return content.firstChild?.isBlock ? content : Fragment.from(schema.node('paragraph', null, content));
}

/** Words that are dropped stand where they were let go; files are the page's. */
function dropped(view: EditorView, event: DragEvent): boolean {
  const at = view.posAtCoords({ left: event.clientX, top: event.clientY });
  const from = view.dragging;
  const part = from?.slice ?? asSlice(view.state.schema, carried(event.dataTransfer));
  if (!part || event.dataTransfer?.types.includes('Files')) return true;
  event.preventDefault();
  if (!at || !view.editable) return true;
  const tr = view.state.tr;
  if (from?.move) tr.deleteSelection();
  const pos = tr.mapping.map(at.pos);
  tr.replaceRange(pos, pos, part);
  view.dispatch(tr.scrollIntoView().setMeta('uiEvent', 'drop'));
  view.focus();
  return true;
}

function asSlice(schema: Schema, lines: Piece[][] | null): Slice | null {
  return lines && slice(schema, lines);
}
