import { expect, test } from 'vitest';
import { maskAnswer } from './mask-answer.ts';

const item = {
  id: '0198c5a0-7e57-7000-8000-000000000001',
  name: `Ann "Nan" O'Lee & Sons`,
  contacts: [{ email: 'ann@example.test', phone: 31_612_345_678 }],
  status: 1,
  createdAt: '2026-11-29T00:00:00.000Z',
};
const sent = JSON.stringify({ type: 'member.created', data: { id: item.id, version: 7, item } });
const masked = (answer: string) => maskAnswer(Buffer.from(answer), sent);

test.each([
  ['JSON', JSON.stringify(item)],
  ['a page', `<p>Ann &quot;Nan&quot; O&#39;Lee &amp; Sons: ann@example.test, 31612345678</p>`],
  [
    'an address',
    `/retry?name=${encodeURIComponent(item.name)}&email=${encodeURIComponent('ann@example.test')}`,
  ],
  ['a page with JSON in it', `Error at {"email":"ann@example.test"`],
])('the values of the record are masked in an answer that contains them as %s', (_format, answer) => {
  expect(masked(answer)).not.toMatch(/Ann|Nan|Lee|example\.test|612345/);
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
  ['a truncated text', `${'x '.repeat(1020)}Hauptstraße Jürgen Müller-Löwenstein`],
])('names with accents are masked in %s', (_format, answer) => {
  const record = JSON.stringify({ data: { item: umlauts } });
  expect(maskAnswer(Buffer.from(answer), record)).not.toMatch(/rgen|ller|wenst|hauptst/i);
});

test('ids, times and other words are stored, up to 1,024 bytes', () => {
  const answer = `No member ${item.id} at ${item.createdAt} in table 1`;
  expect(masked(answer)).toBe(answer);
  expect(masked('x'.repeat(2000))).toBe('x'.repeat(1024));
  expect(masked('')).toBeNull();
});

test('the answer to a message of more than 64 KiB is masked as a whole', () => {
  const large = JSON.stringify({ data: { id: item.id, item: { note: 'x'.repeat(70_000) } } });
  expect(maskAnswer(Buffer.from('not here'), large)).toBe('[…]');
});

test('the answer to a test, which has no record, is stored', () => {
  expect(maskAnswer(Buffer.from('not here'), JSON.stringify({ data: { id: item.id } }))).toBe('not here');
});
