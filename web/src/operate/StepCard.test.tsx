import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, it } from 'vitest';
import type { Call } from '../api/runs.ts';
import { setLanguage } from '../i18n/index.ts';
import { StepCard } from './StepCard.tsx';
import type { Stop } from './trace.ts';

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const began = '2026-11-20T10:00:00Z';
const step: Stop = { node: 'answer', type: 'tool_call', visit: 1, attempt: 1, started: began, ended: began, outcome: 'ok', effect: 'answer#1', state: 'ok' };
const call: Call = { effect: 'answer#1', attempt: 1, node: 'answer', tool: 'llm.generic_chat_v1', status: 'ok', ms: 9, arguments: {} };

function said(adapters?: Call['adapters']): string {
  const place = document.createElement('div');
  const root = createRoot(place);
  act(() => root.render(<StepCard steps={[step]} at={0} calls={[{ ...call, ...(adapters ? { adapters } : {}) }]} foreign={false} over />));
  const text = place.textContent;
  act(() => root.unmount());
  return text;
}

// Requirements: LORA-16
it('says where adapters did not reach the model as they were chosen', () => {
  setLanguage('en');
  expect(said()).not.toContain('dapter');
  expect(said({ approximate: true })).toContain('put together approximately');
  const without = said({ left: [{ id: 'a-1', reason: 'weights_refused', weight: 1 }, { id: 'b-2', reason: 'of_tomorrow', weight: 1 }] });
  expect(without).not.toContain('approximately');
  expect(without).toContain('a-1 its weights are damaged or of another model');
  expect(without).toContain('b-2 of_tomorrow');
});
