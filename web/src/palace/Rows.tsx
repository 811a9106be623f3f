import { memo, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Link } from 'wouter';
import type { Block, Epoch } from '../api/palace.ts';
import { language } from '../i18n/index.ts';
import { clock, count, fileSize } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { when } from '../operate/figures.ts';
import { nameOf, tokens, typeOf } from './figures.ts';
import { isNote, weightOf, type Row } from './rows.ts';
import { usePalaceWords } from './words.ts';

interface Props {
  /** Which history it is: whoever comes back to it finds it where it was left. */
  place: string;
  rows: Row[];
  blocks: readonly Block[];
  /** Is given the way to the last row. */
  toEnd: RefObject<(() => void) | null>;
}

const left = new Map<string, number>(); // how far down histories were read

const heights = { turn: 48, block: 36, epoch: 56 };

/** The rows of a history. Of ten thousand only those are drawn that are to be seen. */
export function Rows({ place, rows, blocks, toEnd }: Props) {
  const words = usePalaceWords();
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  const [margin, setMargin] = useState(0);
  const most = useMemo(() => blocks.reduce((top, one) => Math.max(top, one.tokens), 0), [blocks]);
  // oxlint-disable-next-line react/incompatible-library -- nothing here is memoized by what it returns
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => document.getElementById('page'),
    estimateSize: (at) => heights[rows[at]!.kind],
    getItemKey: (at) => rows[at]!.key,
    overscan: 12,
    scrollMargin: margin,
    initialOffset: left.get(place) ?? 0,
  });

  useLayoutEffect(() => {
    const [page, here] = [document.getElementById('page'), list.current];
    const around = here?.closest('.timeline');
    if (!page || !here || !around) return;
    const measure = () => setMargin(Math.round(here.getBoundingClientRect().top - page.getBoundingClientRect().top + page.scrollTop));
    measure();
    const watch = new ResizeObserver(measure); // what stands above may still come
    watch.observe(around);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const page = document.getElementById('page');
    if (!page) return;
    page.scrollTop = left.get(place) ?? 0;
    const note = () => left.set(place, page.scrollTop);
    page.addEventListener('scroll', note, { passive: true });
    return () => page.removeEventListener('scroll', note);
  }, [place]);

  useEffect(() => {
    toEnd.current = () => virtual.scrollToIndex(rows.length - 1, { align: 'end' });
  }, [toEnd, virtual, rows.length]);

  /** Up and down go from row to row, wherever the focus is in one. */
  function onKeyDown(event: KeyboardEvent) {
    const from = Number((event.target as HTMLElement).closest('li')?.dataset['index'] ?? -1);
    const to = target(rows, from, event.key);
    if (from < 0 || to === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    virtual.scrollToIndex(to, { align: 'auto' });
    const link = () => list.current?.querySelector<HTMLElement>(`li[data-index="${to}"] a`);
    const drawn = link();
    if (drawn) drawn.focus({ preventScroll: true }); // at once: the next key may come before the next frame
    else requestAnimationFrame(() => link()?.focus({ preventScroll: true }));
  }

  return (
    <>
      <p id={id} className="hidden">
        {words.listKeys}
      </p>
      <ol ref={list} className="rail-rows" aria-label={words.timeline} aria-describedby={id} style={{ height: virtual.getTotalSize() }} onKeyDown={onKeyDown}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index]!;
          return (
            <li
              key={item.key}
              ref={virtual.measureElement}
              data-index={item.index}
              data-kind={row.kind}
              aria-setsize={rows.length}
              aria-posinset={item.index + 1}
              style={{ transform: `translateY(${item.start - margin}px)` }}
            >
              {row.kind === 'turn' && <TurnRow row={row} />}
              {row.kind === 'block' && <BlockRow block={row.block} aside={row.aside} most={most} />}
              {row.kind === 'epoch' && <EpochRow epoch={row.epoch} />}
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The row that a key leads to; an epoch has nothing to open. */
function target(rows: Row[], from: number, key: string): number | null {
  const opens = (at: number) => rows[at]?.kind !== 'epoch';
  const step = (at: number, by: number) => {
    let to = at + by;
    while (to >= 0 && to < rows.length && !opens(to)) to += by;
    return to >= 0 && to < rows.length ? to : null;
  };
  if (key === 'ArrowDown') return step(from, 1);
  if (key === 'ArrowUp') return step(from, -1);
  if (key === 'Home') return step(-1, 1);
  return key === 'End' ? step(rows.length, -1) : null;
}

const TurnRow = memo(function TurnRow({ row }: { row: Extract<Row, { kind: 'turn' }> }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  return (
    <div className="turn-row">
      <h2>
        <Link href={`/operate/palace/exchanges/${row.exchange}`} title={words.requestOfTurn(row.number)}>
          {words.turn(row.number)}
        </Link>
      </h2>
      <q>{row.says}</q>
      <small>{clock(Date.parse(row.time), new Date(), locale)}</small>
      <small className="row-tokens">{tokens(row.tokens, locale)}</small>
    </div>
  );
});

const BlockRow = memo(function BlockRow({ block, aside, most }: { block: Block; aside: boolean; most: number }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const type = typeOf(block.block_type);
  const label = block.block_type === 'ToolUse' && block.label.startsWith(`${block.tool} `) ? block.label.slice(block.tool.length + 1) : block.label;
  const wish = block.wish === '++' ? words.keptMark : block.wish === '--' ? words.droppedMark : '';
  const marks = [block.starred ? words.starred : '', aside ? words.asideMark : wish, block.active ? '' : words.awayMark].filter(Boolean);
  return (
    <div className="block-row" data-type={isNote(block) ? 'Note' : type} data-aside={aside || !block.active || undefined}>
      <span className="row-type">
        {isNote(block) ? words.note : words.type[type]}
        {block.tool && <code>{block.tool}</code>}
      </span>
      <Link href={`/operate/palace/blocks/${block.uuid}`} title={nameOf(block)}>
        {label || nameOf(block)}
      </Link>
      <span className="row-marks">
        {block.starred && <span aria-hidden="true">★</span>}
        {marks.map((one) => (
          <span key={one} className={one === words.starred ? 'hidden' : 'mark-word'}>
            {one}
          </span>
        ))}
      </span>
      <span className="row-tier" data-tier={block.retention_tier}>
        {words.tier[block.retention_tier] ?? block.retention_tier}
      </span>
      <span className="row-weight" aria-hidden="true">
        <i style={{ width: `${weightOf(block.tokens, most)}%` }} />
      </span>
      <span className="row-tokens" title={words.tokensOf(count(block.tokens, locale))}>
        {tokens(block.tokens, locale)}
      </span>
    </div>
  );
});

function EpochRow({ epoch }: { epoch: Epoch }) {
  const words = usePalaceWords();
  const locale = useStore(language);
  const list = epoch.replace ?? [];
  const turned = (of: NonNullable<Epoch['before']>) => ({ read: tokens(of.cache_read_tokens, locale), write: tokens(of.cache_write_tokens, locale) });
  return (
    <div className="epoch-row" data-ended={epoch.ended ? true : undefined}>
      <p>
        <b>{words.epoch(epoch.number)}</b> <span>{words.epochWhy[epoch.why] ?? epoch.why}</span> <small>{when(epoch.opened_at, locale)}</small>
      </p>
      <p className="facts-line">
        <span>
          {words.epochAside(
            list.length,
            tokens(
              list.reduce((sum, one) => sum + one.tokens, 0),
              locale,
            ),
          )}
        </span>
        {epoch.predicted.extra > 0 && <span>{words.epochPrice(tokens(Math.round(epoch.predicted.extra), locale))}</span>}
        {epoch.ended && <span>{words.epochEnded(epoch.ended)}</span>}
        <span>{words.epochSaved(epoch.exchanges, fileSize(epoch.bytes_less, locale))}</span>
        {epoch.before && epoch.after && <span>{words.epochTurned(turned(epoch.before), turned(epoch.after))}</span>}
        {epoch.after && epoch.after.thinking_dropped > 0 && <span>{words.epochThought(epoch.after.thinking_dropped)}</span>}
        {epoch.refused > 0 && <span className="problem">{words.epochRefused(epoch.refused)}</span>}
      </p>
    </div>
  );
}
