import { useId } from 'react';
import type { PlanNumber } from '../api/people.ts';
import { language } from '../i18n/index.ts';
import { count } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { usePeopleWords } from './words.ts';

interface Props {
  number: PlanNumber;
  value: number | undefined;
  /** What holds where nothing is filled in. */
  beneath: number;
}

/** One number of a plan, or of a person; empty is what lies beneath it. */
export function NumberField({ number, value, beneath }: Props) {
  const words = usePeopleWords();
  const locale = useStore(language);
  const id = useId();
  const [name, unit] = words.numbers[number.key] ?? [number.key, number.unit];
  return (
    <div className="number-field">
      <label htmlFor={id}>
        {name} <small>{unit}</small>
      </label>
      <input
        id={id}
        name={number.key}
        type="number"
        inputMode="decimal"
        min={number.least}
        max={number.most}
        step={number.fraction ? 'any' : 1}
        defaultValue={value}
        placeholder={String(beneath)}
        aria-describedby={`${id}-bounds`}
      />
      <small id={`${id}-bounds`}>
        {words.bounds(count(number.least, locale), count(number.most, locale))}
        {number.setting && ` · ${words.bySetting(number.setting)}`}
      </small>
    </div>
  );
}

/** What was filled in; null: nothing. */
export function numberOf(form: FormData, key: string): number | null {
  const text = String(form.get(key) ?? '').trim();
  return text === '' ? null : Number(text);
}
