import { expect, test } from 'vitest';
import { text, withFewMarks } from './text.ts';

const graves = (number: number): string => '\u0300'.repeat(number);

test.each([
  ['accents', 'e\u0301a\u0308\u0323'],
  ['30 marks in a row', `a${graves(30)}`],
  ['many rows of marks', `a${graves(30)}b${graves(30)}`.repeat(10)],
  ['marks beyond the basic plane', `a${'\u{1e000}'.repeat(30)}`],
])('text may have %s', (_, value) => {
  expect(text(1, 1000).parse(value)).toBe(value);
});

test.each([
  ['at the beginning', graves(31)],
  ['at the end', `a${graves(31)}`],
  ['of several kinds', `a${graves(16)}${'\u0316'.repeat(15)}b`],
  ['beyond the basic plane', `a${'\u{1e000}'.repeat(31)}`],
  ['that NFKC creates from half-width marks', `a${'\uFF9E\u0300'.repeat(16)}`],
])(
  'text with more than 30 combining marks in a row is refused, because normalizing it takes long: %s',
  (_, value) => {
    expect(
      text(1, 1000)
        .safeParse(value)
        .error?.issues.map(({ message }) => message),
    ).toEqual(['must not have more than 30 combining marks in a row']);
  },
);

test('sequences of more than 30 combining marks are shortened to 30, and other text is unchanged', () => {
  expect(withFewMarks(`a${graves(9000)}b${graves(30)}c`)).toBe(`a${graves(30)}b${graves(30)}c`);
  expect(withFewMarks('Zu\u0308rich')).toBe('Zu\u0308rich');
});
