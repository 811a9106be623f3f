import { useWords } from '../i18n/index.ts';

const skipped = ' (skipped)'; // behind a node whose condition did not hold

interface Props {
  old: string[];
  now: string[];
  part: number; // the first place that differs; -1: none does
}

/** Two ways through a graph, node by node, with the place where they part. */
export function SideBySide({ old, now, part }: Props) {
  const words = useWords();
  if (part < 0 && old.length === now.length) {
    return (
      <>
        <p className="hint">{words.nodesSame}</p>
        <Way title={words.nodesBefore} nodes={old} part={-1} />
      </>
    );
  }
  return (
    <div className="side-by-side">
      <Way title={words.nodesBefore} nodes={old} part={part} />
      <Way title={words.nodesAfter} nodes={now} part={part} />
    </div>
  );
}

function Way({ title, nodes, part }: { title: string; nodes: string[]; part: number }) {
  const words = useWords();
  return (
    <div>
      <p className="way-title">{title}</p>
      <ol className="way" aria-label={title}>
        {nodes.map((node, index) => (
          // A node may come by many times; its place is what it is.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} data-parted={(part >= 0 && index >= part) || undefined}>
            <code>{node.endsWith(skipped) ? words.skippedNode(node.slice(0, -skipped.length)) : node}</code>
          </li>
        ))}
        {nodes.length <= part && (
          <li data-parted="end">
            <span>{words.atEnd}</span>
          </li>
        )}
      </ol>
    </div>
  );
}
