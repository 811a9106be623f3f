import { describe, expect, it } from 'vitest';
import type { DataShown } from '../api/gen.ts';
import { fill, isMissing, isPage, pageOf, partsOf } from './shown.ts';

const shown: DataShown = {
  in: 'items', entity: 'deadline', id: 'id', heading: {}, empty: { de: 'Keine.', en: 'None.' },
  line: { de: '{due_date}: {title}[ ({court})]', en: '{due_date}: {title}[ ({court})]' }, title: { en: '{title}' }, values: {},
};

describe('records', () => {
  it('are told line by line, as the language writes dates', () => {
    const output = { items: [{ id: 'd1', title: 'Replik', due_date: '2026-05-16', court: 'UPC' }, { id: 'd2', title: 'Duplik', due_date: '2026-05-17T09:30', court: null }] };
    expect(partsOf(output, [shown], 'de')[0]!.rows).toEqual([
      { id: 'd1', entity: 'deadline', line: '16.05.2026: Replik (UPC)', title: 'Replik' },
      { id: 'd2', entity: 'deadline', line: '17.05.2026, 09:30: Duplik', title: 'Duplik' },
    ]);
    expect(partsOf(output, [shown], 'en')[0]!.rows[0]!.line).toBe('2026-05-16: Replik (UPC)');
  });

  it('call values as their tool does', () => {
    const named: DataShown = { ...shown, line: { en: '{title} ({status})' }, title: {}, values: { status: { pending: { de: 'offen' } } } };
    const line = (status: unknown, language: 'de' | 'en') => partsOf({ items: [{ id: 'd1', title: 'Replik', status }] }, [named], language)[0]!.rows[0]!.line;
    expect([line('pending', 'de'), line('done', 'de'), line('toString', 'de'), line(null, 'de')]).toEqual(['Replik (offen)', 'Replik (done)', 'Replik (toString)', 'Replik ()']);
  });

  it('of a result that holds one, or none', () => {
    expect(partsOf({ items: { id: 'd1', title: 'Replik', due_date: 'soon' } }, [shown], 'de')[0]!.rows).toHaveLength(1);
    expect(partsOf({ items: [] }, [shown], 'de')[0]).toMatchObject({ empty: 'Keine.', rows: [] });
    expect(partsOf('nothing', [shown], 'de')[0]!.rows).toEqual([]);
  });

  it('that are not there say so', () => {
    expect(isMissing({ error: 'not found' })).toBe(true);
    expect(isMissing({ error: 'not found', id: 'x' })).toBe(false);
  });

  it('leave out what is empty', () => {
    expect(fill('{a}[, {b}][, {c}]', { a: 'x', c: 3 }, 'en')).toBe('x, 3');
  });

  it('have a page here or elsewhere, and nowhere a script', () => {
    expect(pageOf('matters', { name: 'court' }, 'a/b')).toBe('/r/matters/court/a%2Fb');
    expect(pageOf('matters', { name: 'court', href: 'https://firm.example/{id}' }, 'a b')).toBe('https://firm.example/a%20b');
    expect(['/r/x', 'https://a', '//evil', 'javascript:alert(1)', 'http://a', '/\\evil'].map(isPage)).toEqual([true, true, false, false, false, false]);
  });
});
