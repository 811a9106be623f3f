// Seven languages, as a tree: nothing here ever makes an HTML string.

import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

const lowlight = createLowlight({ bash, go, json, python, sql, typescript, yaml });

export interface Piece {
  text: string;
  className: string;
}

interface HastNode {
  type: string;
  value?: string;
  properties?: { className?: string[] };
  children?: HastNode[];
}

/** The code cut into coloured pieces; null when the language is not known. */
export function highlight(code: string, language: string): Piece[] | null {
  if (!lowlight.registered(language)) return null;
  const pieces: Piece[] = [];
  flatten(lowlight.highlight(language, code) as HastNode, '', pieces);
  return pieces;
}

function flatten(node: HastNode, className: string, pieces: Piece[]): void {
  if (node.type === 'text') pieces.push({ text: node.value ?? '', className });
  const own = node.properties?.className?.join(' ') ?? className;
  for (const child of node.children ?? []) flatten(child, own, pieces);
}
