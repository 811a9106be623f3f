import { lazy, Suspense, useDeferredValue, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useArtifacts, useForm, type Artifact, type Tried } from '../api/artifacts.ts';
import type { Problem } from '../api/changes.ts';
import type { Mark } from '../code/Editor.tsx';
import { print } from '../code/print.ts';
import { readJSON, type Broken } from '../code/problem.ts';
import { Diff } from '../diff/Diff.tsx';
import { useWords } from '../i18n/index.ts';
import { useTold } from '../i18n/said.ts';
import { Card, Pills } from '../operate/parts.tsx';
import { drawable, read } from '../picture/read.ts';
import { Changed } from './Compare.tsx';
import { useFaults } from './useFaults.ts';
import { TriedReport } from './TriedReport.tsx';

const Editor = lazy(() => import('../code/Editor.tsx')); // CodeMirror: only who edits loads it

export interface Draft {
  text: string;
  doc: unknown; // undefined while the text is no JSON
}

interface Props {
  type: string;
  before: unknown; // what the document was; undefined: there was none
  initial: string;
  tried: { report: Tried; text: string } | null;
  onChange(draft: Draft): void;
  /** What to do with the document; stands below it. */
  children: ReactNode;
}

/** A document and, beside it, what it means: its picture, what changes, what a rehearsal said. */
export function Workbench({ type, before, initial, tried, onChange, children }: Props) {
  const words = useWords();
  const told = useTold();
  const [start, setStart] = useState({ text: initial, n: 0 }); // another n is another editor
  const [text, setText] = useState(initial);
  const [wish, setWish] = useState<{ pointer: string } | null>(null);
  const parsed = useMemo(() => readJSON(text), [text]);
  const last = useLastGood(parsed.broken ? undefined : parsed.value);
  const found = useFaults(type, parsed.broken ? undefined : parsed.value);
  const marks = useMemo(() => marksOf(parsed.broken, found.problems, words.syntaxFault, told), [parsed.broken, found.problems, words, told]);
  const known = useKnown(last);
  const schema = useForm(type).data;

  const change = (next: string) => {
    setText(next);
    const now = readJSON(next);
    onChange({ text: next, doc: now.broken ? undefined : now.value });
  };
  return (
    <div className="editor-sides">
      <div className="stack">
        <Card title={words.editorDocument}>
          <Suspense fallback={<p className="hint opening">{words.editorOpening}</p>}>
            <Editor key={start.n} initial={start.text} label={words.editorLabel} schema={schema} known={known} marks={marks} wish={wish} onChange={change} />
          </Suspense>
          <div className="editor-foot">
            <p className="hint">{words.editorHint}</p>
            <button
              type="button"
              className="quiet"
              disabled={parsed.broken !== null}
              onClick={() => {
                const tidy = print(parsed.value);
                setStart({ text: tidy, n: start.n + 1 });
                change(tidy);
              }}
            >
              {words.editorTidy}
            </button>
          </div>
          <FaultList broken={parsed.broken} problems={found.problems} warnings={found.warnings} trouble={found.trouble} looking={found.looking} onGo={(pointer) => setWish({ pointer })} />
        </Card>
        {children}
      </div>
      <Beside
        before={before}
        doc={last}
        tried={tried}
        old={tried !== null && tried.text !== text}
        onPick={(id) => setWish({ pointer: pointerOfNode(last, id) })}
      />
    </div>
  );
}

/** The last document that could be read: a picture must not vanish with every letter. */
function useLastGood(doc: unknown): unknown {
  const [last, setLast] = useState(doc);
  if (doc !== undefined && doc !== last) setLast(doc);
  return useDeferredValue(doc ?? last);
}

function marksOf(broken: Broken | null, problems: Problem[], say: (line: number, column: number) => string, told: (text: string) => string): Mark[] {
  if (broken) return [{ pointer: '', message: say(broken.line, broken.column), at: broken.at }];
  return problems.map((problem) => ({ pointer: problem.path, message: problem.hint ? `${told(problem.message)} (${told(problem.hint)})` : told(problem.message) }));
}

/** Names a schema cannot know. */
function useKnown(doc: unknown) {
  const tools = useArtifacts({ type: 'tool', visibility: '' }).data;
  const workflows = useArtifacts({ type: 'workflow', visibility: '' }).data;
  return useMemo(
    () => ({
      nodes: read(doc).nodes.filter((node) => node.type !== '').map((node) => node.id),
      tools: (tools ?? []).filter(usable).map((one) => one.name),
      workflows: (workflows ?? []).filter(usable).map((one) => one.name),
    }),
    [doc, tools, workflows],
  );
}

/** What a draft names nobody can refer to yet. */
const usable = (one: Artifact) => one.status !== 'draft';

function pointerOfNode(doc: unknown, id: string): string {
  const nodes = (doc as { nodes?: { id?: unknown }[] } | null)?.nodes ?? [];
  return `/nodes/${nodes.findIndex((node) => node?.id === id)}`;
}

interface FaultListProps {
  broken: Broken | null;
  problems: Problem[];
  warnings: Problem[];
  trouble: string;
  looking: boolean;
  onGo(pointer: string): void;
}

function FaultList({ broken, problems, warnings, trouble, looking, onGo }: FaultListProps) {
  const words = useWords();
  if (trouble) return <p role="alert" className="problem">{trouble}</p>;
  const none = !broken && problems.length === 0;
  const verdict = () => {
    if (broken) return words.syntaxFault(broken.line, broken.column);
    if (problems.length > 0) return words.faults(problems.length);
    if (looking) return words.faultsLooking;
    return warnings.length > 0 ? words.warnings(warnings.length) : words.faultsNone;
  };
  return (
    <>
      <p role="status" className={none ? 'hint' : 'problem'}>
        {verdict()}
      </p>
      {!broken && problems.length > 0 && <ProblemList label={words.faults(problems.length)} problems={problems} onGo={onGo} />}
      {none && warnings.length > 0 && <ProblemList label={words.warnings(warnings.length)} problems={warnings} onGo={onGo} mild />}
    </>
  );
}

interface ProblemListProps {
  label: string;
  problems: Problem[];
  onGo(pointer: string): void;
  /** Nothing of it stops anybody. */
  mild?: boolean;
}

function ProblemList({ label, problems, onGo, mild = false }: ProblemListProps) {
  const words = useWords();
  const told = useTold();
  return (
    <ul className={mild ? 'fault-list mild' : 'fault-list'} tabIndex={0} aria-label={label}>
      {problems.map((problem, at) => (
        <li key={at}>
          {problem.path ? (
            <button type="button" className="link" aria-label={`${words.faultGo(problem.path)}: ${told(problem.message)}`} onClick={() => onGo(problem.path)}>
              {told(problem.message)}
            </button>
          ) : (
            <p>{told(problem.message)}</p>
          )}
          {problem.hint && <p className="hint">{told(problem.hint)}</p>}
        </li>
      ))}
    </ul>
  );
}

type View = 'picture' | 'changes' | 'tried';

interface BesideProps {
  before: unknown;
  doc: unknown;
  tried: Props['tried'];
  old: boolean;
  onPick(id: string): void;
}

function Beside({ before, doc, tried, old, onPick }: BesideProps) {
  const words = useWords();
  const graph = drawable(doc);
  const [view, setView] = useState<View>('picture');
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!tried) return;
    setView('tried');
    card.current?.scrollIntoView({ block: 'nearest' });
  }, [tried]);
  const views: [View, string][] = [...(graph ? [['picture', words.viewPicture] as [View, string]] : []), ['changes', words.viewChanges], ['tried', words.viewTried]];
  const shown = view === 'picture' && !graph ? 'changes' : view;
  return (
    <div ref={card} className="beside">
      <Card title={views.find(([one]) => one === shown)![1]} extra={<Pills label={words.editorView} options={views} value={shown} onChoose={(one: View) => setView(one)} />}>
        {shown === 'picture' && <Changed before={before ?? doc} after={doc} onPick={onPick} />}
        {shown === 'changes' && <Diff before={before} after={doc} />}
        {shown === 'tried' && (
          <>
            {old && <p className="hint">{words.triedOld}</p>}
            {tried ? <TriedReport tried={tried.report} /> : <p className="hint">{words.triedNothing}</p>}
          </>
        )}
      </Card>
    </div>
  );
}
