import { useMemo } from 'react';
import { Code } from '../markdown/Code.tsx';
import { print } from './print.ts';

const colourful = 200_000; // letters; more than that is shown in one colour

/** A value to read: tidy and coloured, and to copy. */
export function Json({ value }: { value: unknown }) {
  const text = useMemo(() => print(value), [value]);
  return (
    <div className="json">
      <Code text={text} language="json" closed={text.length <= colourful} />
    </div>
  );
}
