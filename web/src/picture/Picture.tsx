import { useMemo, useState } from 'react';
import { useWords } from '../i18n/index.ts';
import type { Dictionary } from '../i18n/en.ts';
import { Canvas } from './Canvas.tsx';
import { along, curve, headHeight, layout, main, rowHeight, type Box, type Plan, type Wire } from './layout.ts';
import { read, type Flaw, type Node, type Sketch } from './read.ts';

interface Props {
  /** A workflow.chat document, also one that is not finished. */
  doc: unknown;
  /** Nodes a change touches: drawn with a dashed line. */
  touched?: ReadonlySet<string>;
  /** How often runs came through each node; nodes without a figure stand back. */
  seen?: ReadonlyMap<string, number>;
  /** The way one run took, node by node. */
  path?: readonly string[];
  /** Where one run stands: at work, or waiting for a person. */
  standing?: ReadonlyMap<string, 'wait' | 'live'>;
  /** Makes nodes something to choose. */
  onPick?(id: string): void;
}

/** The graph of a workflow: what may follow what, and on which condition. */
export function Picture({ doc, touched, seen, path, standing, onPick }: Props) {
  const words = useWords();
  const sketch = useMemo(() => read(doc), [doc]);
  const plan = useMemo(() => layout(sketch, (node) => detailOf(node, words)), [sketch, words]);
  const taken = useMemo(() => stretches(path ?? []), [path]);
  if (sketch.nodes.length === 0) return <p className="hint">{words.pictureEmpty}</p>;
  const entry = plan.boxes.find((box) => box.node.entry) ?? plan.boxes[0]!;
  return (
    <figure className="picture">
      <Canvas width={plan.width} height={plan.height} focus={{ x: entry.x + entry.width / 2, y: entry.y }} label={words.pictureLabel(plan.boxes.length)}>
        <Drawing plan={plan} touched={touched} seen={seen} taken={taken} standing={standing} onPick={onPick} />
      </Canvas>
      <Flaws flaws={sketch.flaws} />
      <Listed sketch={sketch} touched={touched} seen={seen} standing={standing} onPick={onPick} />
    </figure>
  );
}

/** The second line of a node: what it works with, else what it is. */
function detailOf(node: Node, words: Dictionary): string {
  if (node.type === '') return words.pictureMissing;
  if (node.type === 'tool_call') return node.detail || node.type;
  return node.detail ? `${node.type} · ${node.detail}` : node.type;
}

function stretches(path: readonly string[]): Set<string> {
  return new Set(path.slice(1).map((to, at) => `${path[at]} ${to}`));
}

interface DrawingProps {
  plan: Plan;
  touched: Props['touched'] | undefined;
  seen: Props['seen'] | undefined;
  taken: Set<string>;
  standing: Props['standing'] | undefined;
  onPick: Props['onPick'] | undefined;
}

function Drawing({ plan, touched, seen, taken, standing, onPick }: DrawingProps) {
  const ordered = plan.wires.toSorted((a, b) => Number(onWay(a, taken)) - Number(onWay(b, taken)));
  return (
    <>
      <defs>
        {['plain', 'thin', 'taken'].map((one) => (
          <marker key={one} id={`arrow-${one}`} className={`arrow ${one}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0 0.500L8 4L0 7.500z" />
          </marker>
        ))}
      </defs>
      {ordered.map((wire, at) => (
        <Line key={at} wire={wire} taken={onWay(wire, taken)} />
      ))}
      {plan.boxes.map((box) => (
        <Shape key={box.node.id} box={box} touched={touched?.has(box.node.id) ?? false} seen={seen} stands={standing?.get(box.node.id)} onPick={onPick} />
      ))}
      {plan.wires.map((wire, at) => (
        <Numbers key={at} wire={wire} />
      ))}
    </>
  );
}

function onWay(wire: Wire, taken: Set<string>): boolean {
  return taken.has(`${wire.edge.from} ${wire.edge.to}`);
}

function Line({ wire, taken }: { wire: Wire; taken: boolean }) {
  const thin = !main(wire.edge);
  const style = taken ? 'taken' : thin ? 'thin' : 'plain';
  return (
    <path className={`wire ${style}`} d={curve(wire.points)} markerEnd={`url(#arrow-${style})`}>
      <title>{`${wire.edge.from} → ${wire.edge.to}${thin ? ` (${wire.edge.way})` : ''}`}</title>
    </path>
  );
}

/** Which branches lead along a line: order must be written, not implied. */
function Numbers({ wire }: { wire: Wire }) {
  const label = wire.edge.way === 'branch' ? wire.edge.numbers.join(' ') : wire.edge.way === 'each' ? '∀' : '';
  if (!label) return null;
  const at = along(wire.points, 18);
  const half = 5 + label.length * 3.4;
  return (
    <g className="branch-number">
      <rect x={at.x - half} y={at.y - 8} width={2 * half} height={16} rx={8} />
      <text x={at.x} y={at.y + 4} textAnchor="middle">
        {label}
      </text>
    </g>
  );
}

interface ShapeProps {
  box: Box;
  touched: boolean;
  seen: Props['seen'] | undefined;
  stands: 'wait' | 'live' | undefined;
  onPick: Props['onPick'] | undefined;
}

function Shape({ box, touched, seen, stands, onPick }: ShapeProps) {
  const { node, x, y, width, height } = box;
  const visits = seen?.get(node.id) ?? 0;
  const state = [
    'node',
    node.type || 'missing',
    touched && 'touched',
    !node.reached && node.type && 'unreached',
    seen && (visits > 0 ? 'seen' : 'unseen'),
    stands && `stands ${stands}`,
    onPick && 'pickable',
  ];
  const round = node.type === 'switch' ? 18 : node.type === 'end' ? 10 : 4;
  return (
    <g className={state.filter(Boolean).join(' ')} transform={`translate(${Math.round(x)} ${Math.round(y)})`} onClick={onPick && (() => onPick(node.id))}>
      <title>{[node.id, ...box.lines.map((line) => line.full)].join('\n')}</title>
      <rect className="body" width={width} height={height} rx={round} />
      {stands && <circle className="open" cx={width} cy={0} r={5.5} />}
      {node.entry && <circle className="entry" cx={0} cy={height / 2} r={4.5} />}
      <text className="name" x={width / 2} y={headHeight - 5} textAnchor="middle">
        {box.title}
      </text>
      {box.lines.map((line, at) => (
        <text key={at} className={line.number > 0 ? 'condition' : 'detail'} x={line.number > 0 ? 14 : width / 2} y={headHeight + 9 + at * rowHeight} textAnchor={line.number > 0 ? 'start' : 'middle'}>
          {line.number > 0 && <tspan className="number">{`${line.number}  `}</tspan>}
          {line.text}
        </text>
      ))}
      {node.ends && node.type !== 'end' && <path className="stop" d={`M${width / 2 - 7} ${height + 4}h14`} />}
      {visits > 0 && <Visits n={visits} x={width} />}
    </g>
  );
}

function Visits({ n, x }: { n: number; x: number }) {
  const label = `${n}×`;
  const width = 10 + label.length * 6.4;
  return (
    <g className="visits" transform={`translate(${x - width + 6} -9)`}>
      <rect width={width} height={17} rx={8.5} />
      <text x={width / 2} y={12.500} textAnchor="middle">
        {label}
      </text>
    </g>
  );
}

/** What is wrong with the document as a graph, in words. */
function Flaws({ flaws }: { flaws: Flaw[] }) {
  const words = useWords();
  if (flaws.length === 0) return null;
  const unreached = flaws.filter((flaw) => flaw.kind === 'unreached').map((flaw) => flaw.node);
  return (
    <ul className="flaws">
      {flaws
        .filter((flaw) => flaw.kind !== 'unreached')
        .map((flaw, at) => (
          <li key={at}>{flaw.kind === 'entry' ? words.pictureNoEntry(flaw.to) : words.pictureDangling(flaw.node, flaw.to)}</li>
        ))}
      {unreached.length > 0 && <li>{words.pictureUnreached(unreached.join(', '))}</li>}
    </ul>
  );
}

/** The same in words, for those who cannot follow lines. */
function Listed({ sketch, touched, seen, standing, onPick }: Pick<DrawingProps, 'touched' | 'seen' | 'standing' | 'onPick'> & { sketch: Sketch }) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  return (
    <details className="listed" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.pictureAsText}</summary>
      {open && (
        <ol>
          {sketch.nodes.map((node) => (
            <li key={node.id}>
              {onPick ? (
                <button type="button" className="link" onClick={() => onPick(node.id)}>
                  {node.id}
                </button>
              ) : (
                <b>{node.id}</b>
              )}{' '}
              <small>
                {[
                  detailOf(node, words),
                  node.entry && words.pictureEntry,
                  touched?.has(node.id) && words.pictureTouched,
                  seen?.has(node.id) && `${seen.get(node.id)}×`,
                  standing?.has(node.id) && (standing.get(node.id) === 'wait' ? words.stepWaits : words.stepAtWork),
                ]
                  .filter(Boolean)
                  .join(', ')}
              </small>
              <Ways node={node} sketch={sketch} />
            </li>
          ))}
        </ol>
      )}
    </details>
  );
}

function Ways({ node, sketch }: { node: Node; sketch: Sketch }) {
  const words = useWords();
  const edges = sketch.edges.filter((edge) => edge.from === node.id);
  const said = (numbers: number[]) => numbers.map((n) => (node.conditions[n - 1] ? `${n}. ${node.conditions[n - 1]}` : `${n}.`)).join('; ');
  return (
    <ul>
      {edges.map((edge, at) => (
        <li key={at}>
          {edge.numbers.length > 0 && <code>{said(edge.numbers)}</code>} {edge.way !== 'next' && edge.way !== 'branch' && words.pictureWay(edge.way)} → {edge.to}
        </li>
      ))}
      {node.ends && node.type !== 'end' && <li>{words.pictureEnds}</li>}
    </ul>
  );
}
