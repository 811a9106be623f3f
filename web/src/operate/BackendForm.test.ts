import { expect, it } from 'vitest';
import { editOf, modelsOf } from './BackendForm.tsx';

function filled(values: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(values)) form.set(name, value);
  return form;
}

const office = {
  name: 'office', title: 'Office', protocol: 'openai', url: '', model: '', models: {}, api_version: '', key_set: true, key_end: 'abcd', max_tokens: 0,
  price: { input: 1, output: 2, cache_read: 3 }, people_may_choose: false, is_default: false, changeable: true, updated_at: null,
};

// Requirements: LORA-05
it('says nothing of a key that was not written, and forgets one only when asked', () => {
  expect(editOf(filled({}), office)).not.toHaveProperty('api_key');
  expect(editOf(filled({ api_key: ' sk-1 ' }), office).api_key).toBe('sk-1');
  expect(editOf(filled({ forget: 'on' }), office).api_key).toBe('');
});

it('reads models by tier, and a price as far as there is one', () => {
  expect(modelsOf('small = a\n\n large=b=c ')).toEqual({ small: 'a', large: 'b=c' });
  expect(editOf(filled({ input: '0.5', output: '2' }), office).price).toEqual({ input: 0.5, output: 2, cache_read: 3 });
  expect(editOf(filled({}), null)).toMatchObject({ no_price: true, max_tokens: 0, people_may_choose: false });
});
