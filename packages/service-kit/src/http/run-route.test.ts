import { expect, test } from 'vitest';
import { parseQuery, spellingsOf } from './run-route.ts';

test('reads names and values, plus signs and escapes', () => {
  expect({ ...parseQuery('/x?a=1&b=c+d%2B&flag&empty=') }).toEqual({
    a: '1',
    b: 'c d+',
    flag: '',
    empty: '',
  });
});

test('brackets are part of a name, not a list', () => {
  expect({ ...parseQuery('/x?page[]=1') }).toEqual({ 'page[]': '1' });
});

test('names are matched in any case if the route allows it', () => {
  expect({ ...parseQuery('/x?SKIP=1&take=2', spellingsOf(['Skip', 'Take'])) }).toEqual({
    Skip: '1',
    Take: '2',
  });
});

test.each(['/x?a=1&a=2', '/x?a&%61=2'])(
  '%s is rejected with the name of the repeated parameter',
  (target) => {
    expect(() => parseQuery(target)).toThrow('a: may be given only once');
  },
);

test('__proto__ is a name like any other', () => {
  const query = parseQuery('/x?__proto__=1');
  expect([Object.getPrototypeOf(query), Object.keys(query)]).toEqual([null, ['__proto__']]);
});

test.each(['/x?a=%', '/x?a=%e0%a4', '/x?%ff=1'])('%s is not valid UTF-8', (target) => {
  expect(() => parseQuery(target)).toThrow('not valid percent-encoded UTF-8');
});
