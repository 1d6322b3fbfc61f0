import { expect, test } from 'vitest';
import { keptAnswer } from './kept-answer.ts';

const item = {
  id: '0198c5a0-7e57-7000-8000-000000000001',
  name: `Ann "Nan" O'Lee & Sons`,
  contacts: [{ email: 'ann@example.test', phone: 31_612_345_678 }],
  status: 1,
  createdAt: '2026-11-29T00:00:00.000Z',
};
const sent = JSON.stringify({ type: 'member.created', data: { id: item.id, version: 7, item } });
const kept = (answer: string) => keptAnswer(Buffer.from(answer), sent);

test.each([
  ['JSON', JSON.stringify(item)],
  ['a page', `<p>Ann &quot;Nan&quot; O&#39;Lee &amp; Sons: ann@example.test, 31612345678</p>`],
  [
    'an address',
    `/retry?name=${encodeURIComponent(item.name)}&email=${encodeURIComponent('ann@example.test')}`,
  ],
  ['a page with JSON in it', `Error at {"email":"ann@example.test"`],
])('an answer that repeats the record as %s is kept without what it repeats', (_form, answer) => {
  expect(kept(answer)).not.toMatch(/Ann|Nan|Lee|example\.test|612345/);
});

const umlauts = { name: 'Jürgen Müller-Löwenstein', street: 'Hauptstraße 5/7' };
const escaped = JSON.stringify(umlauts).replaceAll(
  /[^ -~]/g,
  (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
);
test.each([
  ['JSON as Python and PHP write it', escaped.replaceAll('/', String.raw`\/`)],
  ['JSON in JSON', JSON.stringify({ error: `no ${escaped}` })],
  ['a form', new URLSearchParams(umlauts).toString()],
  ['HTML with named entities', 'J&uuml;rgen M&uuml;ller-L&ouml;wenstein, Hauptstra&szlig;e'],
  ['HTML with numeric entities', 'J&#xFC;rgen M&#252;ller-L&#246;wenstein, Hauptstra&#xdf;e'],
  ['decomposed capitals', umlauts.name.normalize('NFD').toUpperCase()],
  ['a cut-off text', `${'x '.repeat(1020)}Hauptstraße Jürgen Müller-Löwenstein`],
])('names with accents are masked in an answer that is %s', (_form, answer) => {
  const record = JSON.stringify({ data: { item: umlauts } });
  expect(keptAnswer(Buffer.from(answer), record)).not.toMatch(/rgen|ller|wenst|hauptst/i);
});

test('ids, times and what the answer says by itself are kept, of long ones the first 1,024 bytes', () => {
  const answer = `No member ${item.id} at ${item.createdAt} in table 1`;
  expect(kept(answer)).toBe(answer);
  expect(kept('x'.repeat(2000))).toBe('x'.repeat(1024));
  expect(kept('')).toBeNull();
});

test('of a message of more than 64 KiB no answer is kept', () => {
  const large = JSON.stringify({ data: { id: item.id, item: { note: 'x'.repeat(70_000) } } });
  expect(keptAnswer(Buffer.from('not here'), large)).toBe('[…]');
});

test('the answer to a test, which has no record, is kept', () => {
  expect(keptAnswer(Buffer.from('not here'), JSON.stringify({ data: { id: item.id } }))).toBe('not here');
});
