// Where everything in the picture of a graph stands. Sizes are reckoned from
// the number of letters: a layout must not wait for a font.

import { Graph, layout as arrange } from '@dagrejs/dagre';
import type { Edge, Node, Sketch } from './read.ts';

export interface Point {
  x: number;
  y: number;
}

/** A node and the box it fills; x and y are its upper left corner. */
export interface Box extends Point {
  node: Node;
  width: number;
  height: number;
  title: string; // as much of the id as has room
  lines: Line[];
}

export interface Line {
  text: string;
  full: string;
  number: number; // of the branch; 0: no branch
}

export interface Wire {
  edge: Edge;
  points: Point[];
}

export interface Plan {
  width: number;
  height: number;
  boxes: Box[];
  wires: Wire[];
}

const letter = { title: 7.1, line: 7 }; // px, at the sizes of picture.css
const widest = 42; // letters in a line
const padding = 14;
export const rowHeight = 16;
export const headHeight = 22;

export function layout(sketch: Sketch, detailOf: (node: Node) => string): Plan {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 40, edgesep: 14, marginx: 16, marginy: 16 });
  const boxes = sketch.nodes.map((node) => boxOf(node, detailOf(node)));
  for (const box of boxes) graph.setNode(box.node.id, { width: box.width, height: box.height });
  sketch.edges.forEach((edge, at) => {
    // Ways that are taken when something goes wrong give way to the others.
    graph.setEdge(edge.from, edge.to, { weight: main(edge) ? 4 : 1, minlen: 1 }, String(at));
  });
  arrange(graph);
  for (const box of boxes) {
    const at = graph.node(box.node.id) as Point;
    box.x = at.x - box.width / 2;
    box.y = at.y - box.height / 2;
  }
  const wires = sketch.edges.map((edge, at): Wire => ({ edge, points: (graph.edge(edge.from, edge.to, String(at)) as { points: Point[] }).points }));
  const { width, height } = extent(boxes, wires);
  return { width, height, boxes, wires };
}

export function main(edge: Edge): boolean {
  return edge.way !== 'error' && edge.way !== 'cancel';
}

function boxOf(node: Node, detail: string): Box {
  const lines: Line[] = [];
  if (detail) lines.push(lineOf(detail, 0));
  if (node.when) lines.push(lineOf(`when ${node.when}`, 0));
  node.conditions.forEach((condition, at) => {
    if (condition) lines.push(lineOf(condition, at + 1));
  });
  const title = cut(node.id, widest - 6);
  const longest = Math.max(0, ...lines.map((line) => line.text.length + (line.number > 0 ? 3 : 0)));
  const width = Math.max(104, Math.ceil(Math.max(title.length * letter.title, longest * letter.line)) + 2 * padding);
  return { node, x: 0, y: 0, width, height: headHeight + lines.length * rowHeight + (lines.length > 0 ? 8 : 6), title, lines };
}

function lineOf(full: string, number: number): Line {
  return { text: cut(full, widest), full, number };
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function extent(boxes: Box[], wires: Wire[]): { width: number; height: number } {
  const points = [...boxes.map((box) => ({ x: box.x + box.width, y: box.y + box.height })), ...wires.flatMap((wire) => wire.points)];
  return {
    width: Math.ceil(Math.max(0, ...points.map((point) => point.x))) + 20,
    height: Math.ceil(Math.max(0, ...points.map((point) => point.y))) + 20,
  };
}

/** A smooth line through the points: straight to the middle of each stretch, and round its corners. */
export function curve(points: Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (!first || !last) return '';
  const near = (n: number) => Math.round(n * 10) / 10;
  const at = (point: Point) => `${near(point.x)} ${near(point.y)}`;
  const corners = rest.slice(0, -1).map((corner, index) => {
    const next = rest[index + 1]!;
    const to = index === rest.length - 2 ? next : { x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 };
    return `Q${at(corner)} ${at(to)}`;
  });
  return `M${at(first)} ${corners.length > 0 ? corners.join(' ') : `L${at(last)}`}`;
}

/** The place so many px along a line. */
export function along(points: Point[], distance: number): Point {
  let left = distance;
  for (let at = 1; at < points.length; at++) {
    const [from, to] = [points[at - 1]!, points[at]!];
    const length = Math.hypot(to.x - from.x, to.y - from.y);
    if (length >= left && length > 0) return { x: from.x + ((to.x - from.x) * left) / length, y: from.y + ((to.y - from.y) * left) / length };
    left -= length;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
}
