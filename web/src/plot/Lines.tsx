import { Plot, type Series, type TableView } from './Plot.tsx';
import { lineOf, topOf } from './scale.ts';

interface Props {
  title: string;
  summary: string;
  note?: string;
  series: readonly Series[];
  labels: readonly string[];
  /** The values of each series, one a label; null where nothing is known. */
  values: readonly (readonly (number | null)[])[];
  least?: number;
  write(value: number): string;
  table: TableView;
}

/** Values from left to right, a line for each series. */
export function Lines({ title, summary, note, series, labels, values, least, write, table }: Props) {
  const top = topOf(
    values.flat().map((value) => value ?? 0),
    least,
  );
  return (
    <Plot title={title} summary={summary} note={note} series={series} axis={[write(top), write(top / 2), write(0)]} labels={labels} table={table}>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" overflow="visible">
        {series.map((one, index) => (
          <path key={one.name} className="plot-path" data-tone={one.tone} d={lineOf(values[index] ?? [], top)} />
        ))}
      </svg>
      {series.map((one, index) =>
        (values[index] ?? []).map((value, at, all) =>
          value === null || (at > 0 && all[at - 1] !== null) || (at + 1 < all.length && all[at + 1] !== null) ? null : (
            // A value that stands alone makes no line.
            <circle key={`${one.name} ${labels[at]}`} className="plot-point" data-tone={one.tone} cx={`${((at + 0.5) * 100) / labels.length}%`} cy={`${100 - (value / top) * 100}%`} r="3" />
          ),
        ),
      )}
      {labels.map((label, index) => (
        <g key={label}>
          <title>{`${label}\n${series.map((one, at) => `${one.name}: ${valueText(values[at]?.[index], write)}`).join('\n')}`}</title>
          <rect className="plot-hit" x={`${(index * 100) / labels.length}%`} width={`${100 / labels.length}%`} y="0" height="100%" />
        </g>
      ))}
    </Plot>
  );
}

function valueText(value: number | null | undefined, write: (value: number) => string): string {
  return value === null || value === undefined ? '–' : write(value);
}
