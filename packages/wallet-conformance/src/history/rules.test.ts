import { describe, expect, test } from 'vitest';
import type { Call } from './call.ts';
import { judge } from './judge.ts';
import { readEarlier } from './earlier.ts';

/** Calls of one history, one after the other, between two reads; each with its answer. */
const history = (number: number, opening: number, calls: Partial<Call>[], closing: number): Call[] => {
  const read: Partial<Call> = { operation: 'balance', status: 'OK' };
  return [{ ...read, balance: opening }, ...calls, { ...read, balance: closing }].map((fields, at) => ({
    player: 'ada',
    history: number,
    operation: 'balance',
    sent: 10 * at,
    answered: fields.status === null ? null : 10 * at + 5,
    status: 'OK',
    balance: null,
    ...fields,
  }));
};

const debit = (fields: Partial<Call> = {}): Partial<Call> => ({
  operation: 'debit',
  transaction: 'd',
  round: 'r',
  amount: 4,
  ...fields,
});
const credit = (fields: Partial<Call> = {}): Partial<Call> => ({
  ...debit({ operation: 'credit', transaction: 'c' }),
  ...fields,
});
const rollback = (fields: Partial<Call> = {}): Partial<Call> => ({
  operation: 'rollback',
  transaction: 'b',
  reverses: 'd',
  round: 'r',
  ...fields,
});
const unanswered = { status: null, balance: null } as const;
const refused = { status: 'ERROR_UNKNOWN', balance: null } as const;

const verdictOf = (calls: Call[], noLimits = true): 'right' | 'wrong' | 'not judged' => {
  const { violations, unusable } = judge(calls, { noLimits });
  if (violations.length > 0) return 'wrong';
  return unusable.length > 0 ? 'not judged' : 'right';
};

describe('a refusal must be explained', () => {
  const opened = debit({ transaction: 'o', amount: 0, balance: 100 });
  const afterClose = [opened, credit({ transaction: 'z', amount: 0, closes: true, balance: 100 })];
  test.each<[string, Partial<Call>[], string]>([
    ['a bet beyond the balance', [debit({ amount: 101, status: 'ERROR_NOT_ENOUGH_MONEY' })], 'right'],
    ['a bet within it', [debit({ amount: 100, status: 'ERROR_NOT_ENOUGH_MONEY' })], 'wrong'],
    ['a bet for another reason', [debit(refused)], 'wrong'],
    ['a bet in a closed round', [...afterClose, debit(refused)], 'right'],
    ['a win in an open round', [opened, credit(refused)], 'wrong'],
    ['a win in a closed round', [...afterClose, credit(refused)], 'right'],
    ['a bet after its rollback', [rollback({ balance: 100 }), debit(refused)], 'right'],
    ['a rollback of an unknown debit', [rollback(refused)], 'wrong'],
  ])('%s', (_, calls, verdict) => {
    expect(verdictOf(history(0, 100, calls, 100))).toBe(verdict);
  });

  test('unless the player may have limits', () => {
    const refusedBet = (status: string) => history(0, 100, [debit({ status })], 100);
    expect(verdictOf(refusedBet('ERROR_NOT_ENOUGH_MONEY'), false)).toBe('right');
    expect(verdictOf(refusedBet('ERROR_UNKNOWN'), false)).toBe('right');
    expect(verdictOf(refusedBet('ERROR_INVALID_GAME'), false)).toBe('wrong');
    expect(verdictOf(history(0, 100, [debit(), credit(refused)], 96), false)).toBe('wrong');
  });
});

describe('ERROR_TRANSACTION_DOES_NOT_EXIST', () => {
  const status = 'ERROR_TRANSACTION_DOES_NOT_EXIST';
  const [taken, paid] = [debit({ balance: 96 }), credit({ balance: 104 })];
  test.each<[string, Partial<Call>[], number, string]>([
    ['of a rollback of an unknown debit is wrong', [rollback({ status })], 100, 'wrong'],
    ['of a rollback of a debit is wrong', [taken, rollback({ status })], 96, 'wrong'],
    ['of a rollback of a credit is right', [paid, rollback({ reverses: 'c', status })], 104, 'right'],
    ['of a win in a round that nobody bet in is right', [credit({ status })], 100, 'right'],
    ['of a win in another round is wrong', [taken, credit({ status })], 96, 'wrong'],
    ['of a bet is wrong', [debit({ status })], 100, 'wrong'],
  ])('%s', (_, calls, closing, verdict) => {
    expect(verdictOf(history(0, 100, calls, closing))).toBe(verdict);
  });
});

describe('a closed round', () => {
  const closing = credit({ closes: true, balance: 100 });
  test('takes neither a bet nor a win', () => {
    const before = [debit({ balance: 96 }), closing];
    expect(verdictOf(history(0, 100, [...before, debit({ transaction: 'e', balance: 96 })], 96))).toBe(
      'wrong',
    );
    expect(verdictOf(history(0, 100, [...before, credit({ transaction: 'e', balance: 104 })], 104))).toBe(
      'wrong',
    );
  });

  test('is one in later histories, too', () => {
    const first = history(0, 100, [debit({ balance: 96 }), closing], 100);
    const late = debit({ transaction: 'e', balance: 96 });
    expect(verdictOf([...first, ...history(1, 100, [late], 96)])).toBe('wrong');
    expect(verdictOf([...first, ...history(1, 100, [{ ...late, ...refused }], 100)])).toBe('right');
  });

  test('reverses a debit, or refuses to', () => {
    const before = [debit({ balance: 96 }), closing];
    expect(verdictOf(history(0, 100, [...before, rollback({ balance: 104 })], 104))).toBe('right');
    expect(verdictOf(history(0, 100, [...before, rollback(refused)], 100))).toBe('right');
  });
});

describe('a transaction of an earlier history', () => {
  const taken = history(0, 100, [debit({ balance: 96 })], 96);
  const tombstoned = history(0, 100, [rollback({ balance: 100 })], 100);
  test.each<[string, Call[], string]>([
    ['is answered as the first time', history(1, 96, [debit({ balance: 96 })], 96), 'right'],
    ['is not applied again', history(1, 96, [debit({ balance: 92 })], 92), 'wrong'],
    ['is given back by a rollback', history(1, 96, [rollback({ balance: 100 })], 100), 'right'],
    ['is not forgotten by a rollback', history(1, 96, [rollback({ balance: 96 })], 96), 'wrong'],
  ])('%s', (_, later, verdict) => {
    expect(verdictOf([...taken, ...later])).toBe(verdict);
  });

  test('is refused when its rollback came before it', () => {
    expect(verdictOf([...tombstoned, ...history(1, 100, [debit({ balance: 96 })], 96)])).toBe('wrong');
    expect(verdictOf([...tombstoned, ...history(1, 100, [debit(refused)], 100)])).toBe('right');
  });
});

describe('a history whose outcome stays open is not judged', () => {
  test.each<[string, Call[], string]>([
    ['a bet without an answer', history(0, 100, [debit(unanswered)], 100), 'not judged'],
    [
      'a bet without an answer, refused when it was repeated',
      history(0, 100, [debit({ ...unanswered, amount: 101 }), debit({ amount: 101, ...refused })], 100),
      'wrong',
    ],
    [
      'the same, refused for want of money',
      history(
        0,
        100,
        [debit({ ...unanswered, amount: 101 }), debit({ amount: 101, status: 'ERROR_NOT_ENOUGH_MONEY' })],
        100,
      ),
      'not judged',
    ],
    [
      'the same, but rolled back then',
      history(
        0,
        100,
        [
          debit({ ...unanswered, amount: 101 }),
          debit({ amount: 101, status: 'ERROR_NOT_ENOUGH_MONEY' }),
          rollback({ balance: 100 }),
        ],
        100,
      ),
      'right',
    ],
    ['no balance at the end', history(0, 100, [debit({ balance: 96 })], 96).slice(0, -1), 'not judged'],
    [
      'a contradiction before it',
      history(0, 100, [credit({ balance: 105 }), debit(unanswered)], 105),
      'wrong',
    ],
  ])('%s', (_, calls, verdict) => {
    expect(verdictOf(calls)).toBe(verdict);
  });

  test('nor are the later ones of its player', () => {
    const open = history(0, 100, [debit(unanswered)], 100);
    expect(judge([...open, ...history(1, 96, [], 96)]).unusable).toEqual([
      'ada, history 0: what became of d stays open',
      'ada, history 1: an earlier one stays open',
    ]);
  });

  test('and a recording that continues it is refused', () => {
    const open = history(0, 100, [debit(unanswered)], 100);
    expect(() => readEarlier(open)).toThrow('ada, history 0: what became of d stays open');
  });
});

test('whether a debit without an answer came before its rollback or after it, its copies move nothing', () => {
  const first = history(0, 100, [debit(unanswered), rollback({ balance: 100 })], 100);
  for (const answer of [refused, { balance: 96 }, { balance: 100 }])
    expect(verdictOf([...first, ...history(1, 100, [debit(answer)], 100)])).toBe('right');
  expect(verdictOf([...first, ...history(1, 100, [debit({ balance: 96 })], 96)])).toBe('wrong');
});
