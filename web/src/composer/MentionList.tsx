import { useEffect, useRef } from 'react';
import { useWords } from '../i18n/index.ts';
import { Icon, type IconName } from '../shell/Icon.tsx';
import type { Category } from './doc.ts';
import { rowID, type Group, type Mentions, type Row } from './useMentions.ts';

const icons: Record<Category, IconName> = { document: 'document', set: 'stack', action: 'bolt', web: 'globe' };

/** What can be mentioned, above the box. The focus stays in the box; the row it names is the active one. */
export function MentionList({ mentions }: { mentions: Mentions }) {
  const words = useWords();
  if (!mentions.open) return null;
  return (
    <div className="mentions">
      {mentions.groups.length > 0 ? (
        <div id="mentions" role="listbox" aria-label={words.mentionList}>
          {mentions.groups.map((group) => (
            <Rows key={group.category} group={group} mentions={mentions} />
          ))}
        </div>
      ) : (
        <p role="status">{mentions.searching ? words.mentionSearching : words.mentionNothing}</p>
      )}
    </div>
  );
}

function Rows({ group, mentions }: { group: Group; mentions: Mentions }) {
  const words = useWords();
  const title = `mentions-${group.category}`;
  return (
    <div role="group" aria-labelledby={title}>
      <div id={title} className="mentions-head" role="presentation">
        {words.mentionGroup(group.category)}
      </div>
      {group.rows.map((row) => (
        <Option key={row.key} row={row} mentions={mentions} />
      ))}
    </div>
  );
}

function Option({ row, mentions }: { row: Row; mentions: Mentions }) {
  const active = mentions.active?.key === row.key;
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (active) element.current?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <button
      ref={element}
      type="button"
      id={rowID(row)}
      role="option"
      tabIndex={-1}
      className="mention-row"
      aria-selected={active}
      onMouseDown={(event) => event.preventDefault()} // the caret stays where it is
      onMouseMove={() => {
        if (!active) mentions.point(row);
      }}
      onClick={() => mentions.choose(row)}
    >
      <Icon name={icons[row.mention.category]} />
      <span className="mention-name">{row.mention.label}</span>
      {row.about && <span className="mention-about">{row.about}</span>}
    </button>
  );
}
