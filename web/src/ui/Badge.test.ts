import { expect, it } from 'vitest';
import { kindOf } from './Badge.tsx';

// Requirements: UI-12
it.each([
  ['workflow.chat', 'workflow'],
  ['policy.models', 'policy'],
  ['tool.spec', 'tool'],
  ['adapter.lora', 'adapter'],
  ['house.rule', null],
])('%s is a %s', (type, kind) => {
  expect(kindOf(type)).toBe(kind);
});
