import { Plot, type Series, type TableView } from './Plot.tsx';
import { columnOf, topOf } from './scale.ts';

export interface Column {
  label: string;
  /** One value for each series, from the ground up. */
  values: readonly number[];
}

interface Props {
  title: string;
  summary: string;
  note?: string;
  series: readonly Series[];
  columns: readonly Column[];
  /** The least figure the axis reaches, so that little does not look like much. */
  least?: number;
  write(value: number): string;
  table: TableView;
}

/** Columns side by side, of parts that stand on each other. */
export function Bars({ title, summary, note, series, columns, least, write, table }: Props) {
  const top = topOf(
    columns.map((column) => column.values.reduce((sum, value) => sum + value, 0)),
    least,
  );
  return (
    <Plot title={title} summary={summary} note={note} series={series} axis={[write(top), write(top / 2), write(0)]} labels={columns.map((column) => column.label)} table={table}>
      {columns.map((column, index) => (
        <Stack key={column.label} column={column} index={index} count={columns.length} top={top} series={series} write={write} />
      ))}
    </Plot>
  );
}

interface StackProps {
  column: Column;
  index: number;
  count: number;
  top: number;
  series: readonly Series[];
  write(value: number): string;
}

function Stack({ column, index, count, top, series, write }: StackProps) {
  const { x, width } = columnOf(index, count);
  const values = series.map((one, at) => `${one.name}: ${write(column.values[at] ?? 0)}`).join('\n');
  const heights = series.map((_, at) => ((column.values[at] ?? 0) / top) * 100);
  return (
    <g>
      <title>{`${column.label}\n${values}`}</title>
      <rect className="plot-hit" x={`${(index * 100) / count}%`} width={`${100 / count}%`} y="0" height="100%" />
      {series.map((one, at) => {
        const height = heights[at]!;
        if (height === 0) return null;
        const ground = heights.slice(0, at + 1).reduce((sum, part) => sum + part, 0);
        return <rect key={one.name} className="plot-bar" data-tone={one.tone} x={`${x}%`} width={`${width}%`} y={`${100 - ground}%`} height={`${height}%`} />;
      })}
    </g>
  );
}
