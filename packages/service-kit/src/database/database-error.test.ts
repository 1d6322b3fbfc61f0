import { expect, test } from 'vitest';
import { toProblem } from '../http/problem.ts';
import { transientFault } from './database-error.ts';

const errorWith = (code: string) => Object.assign(new Error('password=hunter2'), { code });

test.each([
  ['08006', 'lost'],
  ['08P01', 'lost'],
  ['53100', 'unavailable'],
  ['53300', 'unavailable'],
  ['57P01', 'lost'],
  ['57P05', 'unavailable'],
  ['55000', 'unavailable'],
  ['55P03', 'unavailable'],
  ['CONNECTION_CLOSED', 'lost'],
  ['CONNECTION_ENDED', 'unavailable'],
  ['57014', 'timeout'],
  ['25P04', 'timeout'],
  ['40001', 'conflict'],
  ['40P01', 'conflict'],
] as const)('%s is transient and answered with 503 and Retry-After', (code, fault) => {
  expect(transientFault(errorWith(code))).toBe(fault);
  const wrapped = new Error('Failed query', { cause: errorWith(code) });
  expect(transientFault(wrapped)).toBeDefined();
  for (const error of [errorWith(code), wrapped]) {
    expect(toProblem(error)).toMatchObject({ status: 503, headers: { 'Retry-After': expect.any(String) } });
  }
});

test('when the connection broke after a statement was sent, the response says that a change may have been stored', () => {
  expect(toProblem(errorWith('CONNECTION_CLOSED')).message).toContain('A change may have been stored');
  expect(toProblem(errorWith('CONNECTION_ENDED')).message).not.toContain('stored');
});

test.each(['ECONNREFUSED', 'EMFILE', 'ENFILE'])(
  '%s is transient when a statement of the database failed with it',
  (code) => {
    expect(toProblem(Object.assign(errorWith(code), { query: 'select 1' }))).toMatchObject({
      status: 503,
      code: 'database_unavailable',
    });
  },
);

test.each(['ECONNREFUSED', 'EMFILE', '23505', '42P01', '28P01', '22001', '55006', 'P0001', 'toString'])(
  '%s is not transient and is answered with 500',
  (code) => {
    expect(transientFault(errorWith(code))).toBeUndefined();
    expect(toProblem(errorWith(code)).status).toBe(500);
  },
);

test('a chain of causes that refers to itself ends', () => {
  const error = new Error('loop');
  error.cause = error;
  expect(transientFault(error)).toBeUndefined();
  expect(transientFault(undefined)).toBeUndefined();
});
