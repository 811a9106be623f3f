import { act, useState } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { interruptFixture } from '../api/fixtures.ts';
import type { Interrupt } from '../api/types.ts';
import { setLanguage } from '../i18n/index.ts';
import { forgetRuns } from './follower.ts';
import { QuestionCard, takesForm, takesWords } from './QuestionCard.tsx';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

function question(id: string, more: Partial<Interrupt> = {}): Interrupt {
  const options = [
    { id: 'd1', label: 'First' },
    { id: 'd2', label: 'Second' },
  ];
  return interruptFixture({ interrupt_id: id, run_id: 'r', conversation_id: 'c', message: `Which, ${id}?`, options, ...more });
}

let box: HTMLElement;
let root: Root;
let refusal: { path: string; message: string }[] | null = null;
let sent: { resume_value: { type: string; value: unknown }; interrupt_id: string }[];

function Stack({ asked }: { asked: Interrupt[] }) {
  const [at, setAt] = useState(0);
  return <QuestionCard asked={asked} at={at} onNext={() => setAt((at + 1) % asked.length)} />;
}

function show(...asked: Interrupt[]): void {
  root = createRoot(box);
  act(() => root.render(<Stack asked={asked} />));
}
function buttons(): string[] {
  return [...box.querySelectorAll('.options button')].map((one) => one.textContent ?? '');
}

beforeEach(() => {
  setLanguage('en');
  box = document.body.appendChild(document.createElement('div'));
  sent = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    if (url === '/v1/chat/resume' && refusal) {
      return new Response(JSON.stringify({ status: 'error', error: { code: 'validation_error', message: 'It does not fit.', details: refusal } }), { status: 400 });
    }
    if (url === '/v1/chat/resume') sent.push(JSON.parse(init.body as string) as (typeof sent)[0]);
    return new Response(JSON.stringify({ status: 'ok', data: {} }), { status: 200 });
  });
});
afterEach(() => {
  forgetRuns(); // an answer reads its run on, and would beyond the end of the test
  act(() => root.unmount());
  box.remove();
  vi.unstubAllGlobals();
});

describe('the slip', () => {
  // Requirements: UI-21
  it('focuses the first option and keeps skipping last', () => {
    show(question('q'));
    expect(buttons()).toEqual(['First1', 'Second2', 'Skip this question']);
    expect(document.activeElement?.textContent).toBe('First1');
  });

  it('takes a digit for an option, and sends the question’s own type', async () => {
    show(question('q'));
    await act(async () => {
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '2', bubbles: true }));
    });
    expect(sent).toMatchObject([{ interrupt_id: 'q', resume_value: { type: 'doc_choice', value: 'd2' } }]);
  });

  it('leaves to a program what the program answers, and can be skipped', () => {
    const call = question('q', { interrupt_type: 'client_call', message: 'It is to run:\nclock', options: [], answer_schema: { type: 'object', properties: { '1': { type: 'object' } } } });
    show(call);
    expect(box.querySelector('.slip')?.getAttribute('aria-label')).toBe('Waits for a program');
    expect(buttons()).toEqual(['Skip this question']);
    expect([takesWords(call), takesForm(call)]).toEqual([false, false]);
  });

  // Requirements: UI-23, INT-31
  it('has nothing to press twice', async () => {
    show(question('q'));
    const skip = [...box.querySelectorAll<HTMLButtonElement>('.options button')].at(-1)!;
    await act(async () => {
      skip.click();
      skip.click();
    });
    expect(sent).toMatchObject([{ resume_value: { type: 'cancel', value: null } }]);
  });

  it('skips a question with the answer that none is meant, where it has one', async () => {
    show(question('q', { options: [{ id: 'd1', label: 'First' }, { id: 'none', label: 'None of these' }] }));
    expect(buttons()).toEqual(['First1', 'None of these2', 'Skip this question']);
    await act(async () => [...box.querySelectorAll<HTMLButtonElement>('.options button')].at(-1)!.click());
    expect(sent).toMatchObject([{ interrupt_id: 'q', resume_value: { type: 'doc_choice', value: 'none' } }]);
  });

  it('shows several open questions one at a time', () => {
    show(question('a'), question('b'));
    expect(box.textContent).toContain('Question 1 of 2');
    act(() => box.querySelector<HTMLButtonElement>('[aria-label="Next question"]')!.click());
    expect(box.textContent).toContain('Which, b?');
    expect(box.textContent).toContain('Question 2 of 2');
  });

  it('shows a type it does not know, and leaves the box open for words', () => {
    const strange = question('q', { interrupt_type: 'colour_wheel', options: null });
    show(strange);
    expect(box.textContent).toContain('Which, q?');
    expect(buttons()).toEqual(['Skip this question']);
    expect(takesWords(strange)).toBe(true);
    expect(takesWords(question('q'))).toBe(false);
  });

  // Requirements: UI-21, INT-32
  it('is a form where the answer is an object, and says at the fields what is wrong', async () => {
    const schema = {
      type: 'object',
      required: ['to', 'nights'],
      properties: { to: { type: 'string', title: 'Where to' }, nights: { type: 'integer', title: 'Nights', minimum: 1 }, by: { type: 'array', title: 'By', items: { enum: ['rail', 'bus'] } } },
    };
    const trip = question('q', { interrupt_type: 'text_input', options: null, answer_schema: schema });
    show(trip);
    await act(async () => void (await import('../forms/SchemaForm.tsx'))); // the card loads it when a question is a form
    expect(takesForm(trip)).toBe(true);
    expect(takesWords(trip)).toBe(false);
    expect([...box.querySelectorAll('label > span')].map((one) => one.textContent?.trim())).toEqual(['Where to', 'Nights', 'rail', 'bus']);
    expect(document.activeElement).toBe(box.querySelector('input'));
    const send = () => act(async () => box.querySelector('form')!.requestSubmit());
    const write = (n: number, text: string) =>
      act(() => {
        const input = box.querySelectorAll<HTMLInputElement>('input[type=text]')[n]!;
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input, text);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
    await send();
    expect([...box.querySelectorAll('.problem')].map((one) => one.textContent)).toEqual(['Please fill this in.', 'Please fill this in.']);
    expect(sent).toEqual([]);

    write(0, 'Graz');
    write(1, '2');
    act(() => box.querySelectorAll<HTMLInputElement>('input[type=checkbox]')[1]!.click());
    refusal = [{ path: '/nights', message: 'it must be >= 3 and is 2' }];
    await send();
    expect([...box.querySelectorAll('.problem')].map((one) => one.textContent)).toEqual(['it must be >= 3 and is 2']);
    expect(document.activeElement?.getAttribute('aria-invalid')).toBe('true');
    refusal = null;
    write(1, '3');
    await send();
    expect(sent.at(-1)).toMatchObject({ interrupt_id: 'q', resume_value: { type: 'text_input', value: { to: 'Graz', nights: 3, by: ['bus'] } } });
  });

  it('offers yes and no where the answer is one of the two', () => {
    show(question('q', { interrupt_type: 'confirm', options: null, answer_schema: { type: 'boolean' } }));
    expect(buttons()).toEqual(['Yes1', 'No2', 'Skip this question']);
  });
});
