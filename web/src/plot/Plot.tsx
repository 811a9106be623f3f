import './plot.css';
import { useState, type ReactNode } from 'react';
import { useWords } from '../i18n/index.ts';
import { labelled } from './scale.ts';

export interface Series {
  name: string;
  /** Which colour it has: the main one, one beside it, what is not good, what is beside the point, or what is not yet known. */
  tone: 'main' | 'second' | 'bad' | 'faint' | 'open';
}

export interface TableView {
  head: string[];
  rows: string[][];
}

interface Props {
  title: string;
  /** What the picture shows, for who does not see it. */
  summary: string;
  note?: ReactNode;
  series?: readonly Series[];
  /** The figures of the axis from its top down to nothing. */
  axis: readonly string[];
  labels: readonly string[];
  table: TableView;
  /** What stands on a plot of 100 by 100 percent. */
  children: ReactNode;
}

/** A picture of figures with its axis, and the figures themselves as a table. */
export function Plot({ title, summary, note, series, axis, labels, table, children }: Props) {
  const words = useWords();
  const [tabular, setTabular] = useState(false);
  return (
    <figure className="plot">
      <figcaption>
        <h2>{title}</h2>
        <button type="button" className="quiet" aria-pressed={tabular} onClick={() => setTabular(!tabular)}>
          {words.asTable}
          <span className="hidden">: {title}</span>
        </button>
      </figcaption>
      {note && <p className="hint">{note}</p>}
      {tabular ? (
        <Table title={title} table={table} />
      ) : (
        <>
          <div className="plot-grid">
            <div className="plot-axis" aria-hidden="true">
              {axis.map((text, index) => (
                <span key={index}>{text}</span>
              ))}
            </div>
            <svg className="plot-area" role="img" aria-label={summary}>
              {axis.map((_, index) => {
                const y = `${(index * 100) / (axis.length - 1)}%`;
                return <line key={index} className="plot-line" x1="0" x2="100%" y1={y} y2={y} />;
              })}
              {children}
            </svg>
            <Labels labels={labels} />
          </div>
          {series && series.length > 1 && (
            <ul className="plot-key" aria-hidden="true">
              {series.map((one) => (
                <li key={one.name} data-tone={one.tone}>
                  {one.name}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </figure>
  );
}

function Labels({ labels }: { labels: readonly string[] }) {
  const shown = labels.length > 7 ? labelled(labels.length) : labels.map((_, index) => index);
  return (
    <div className="plot-labels" data-all={shown.length === labels.length || undefined} aria-hidden="true">
      {shown.map((index) => (
        <span key={index}>{labels[index]}</span>
      ))}
    </div>
  );
}

export function Table({ title, table }: { title: string; table: TableView }) {
  const words = useWords();
  return (
    // A region that scrolls is reached by the keyboard.
    <div className="plot-table" role="region" aria-label={`${title}: ${words.asTable}`} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.head.map((text) => (
              <th key={text} scope="col">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>
              {row.map((text, index) =>
                index === 0 ? (
                  <th key={index} scope="row">
                    {text}
                  </th>
                ) : (
                  <td key={index}>{text}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
