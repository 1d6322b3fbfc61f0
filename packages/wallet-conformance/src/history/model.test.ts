import { describe, expect, test } from 'vitest';
import type { Call } from './call.ts';
import { judge } from './judge.ts';
import { readEarlierStates } from './earlier-state.ts';

/** A history of sequential calls, each with its answer, between an opening and a closing read. */
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
  const { violations, notJudged } = judge(calls, { noLimits });
  if (violations.length > 0) return 'wrong';
  return notJudged.length > 0 ? 'not judged' : 'right';
};

describe('a refusal must follow from the state:', () => {
  const opened = debit({ transaction: 'o', amount: 0, balance: 100 });
  const afterClose = [opened, credit({ transaction: 'z', amount: 0, closes: true, balance: 100 })];
  test.each<[string, Partial<Call>[], string]>([
    ['a bet that exceeds the balance', [debit({ amount: 101, status: 'ERROR_NOT_ENOUGH_MONEY' })], 'right'],
    ['a bet within the balance', [debit({ amount: 100, status: 'ERROR_NOT_ENOUGH_MONEY' })], 'wrong'],
    ['a bet refused for another reason', [debit(refused)], 'wrong'],
    ['a bet in a closed round', [...afterClose, debit(refused)], 'right'],
    ['a win in an open round', [opened, credit(refused)], 'wrong'],
    ['a win in a closed round', [...afterClose, credit(refused)], 'right'],
    ['a bet after its rollback', [rollback({ balance: 100 }), debit(refused)], 'right'],
    ['a rollback of an unknown debit', [rollback(refused)], 'wrong'],
  ])('%s', (_, calls, verdict) => {
    expect(verdictOf(history(0, 100, calls, 100))).toBe(verdict);
  });

  test('a bet may also be refused when the player may have limits', () => {
    const refusedBet = (status: string) => history(0, 100, [debit({ status })], 100);
    expect(verdictOf(refusedBet('ERROR_NOT_ENOUGH_MONEY'), false)).toBe('right');
    expect(verdictOf(refusedBet('ERROR_UNKNOWN'), false)).toBe('right');
    expect(verdictOf(refusedBet('ERROR_INVALID_GAME'), false)).toBe('wrong');
    expect(verdictOf(history(0, 100, [debit(), credit(refused)], 96), false)).toBe('wrong');
  });
});

describe('ERROR_TRANSACTION_DOES_NOT_EXIST', () => {
  const status = 'ERROR_TRANSACTION_DOES_NOT_EXIST';
  const [bet, win] = [debit({ balance: 96 }), credit({ balance: 104 })];
  test.each<[string, Partial<Call>[], number, string]>([
    ['is wrong for a rollback of an unknown debit', [rollback({ status })], 100, 'wrong'],
    ['is wrong for a rollback of a debit', [bet, rollback({ status })], 96, 'wrong'],
    ['is right for a rollback of a credit', [win, rollback({ reverses: 'c', status })], 104, 'right'],
    ['is right for a win in a round without a bet', [credit({ status })], 100, 'right'],
    ['is wrong for a win in a round with a bet', [bet, credit({ status })], 96, 'wrong'],
    ['is wrong for a bet', [debit({ status })], 100, 'wrong'],
  ])('%s', (_, calls, closing, verdict) => {
    expect(verdictOf(history(0, 100, calls, closing))).toBe(verdict);
  });
});

describe('a closed round', () => {
  const closing = credit({ closes: true, balance: 100 });
  test('accepts neither a bet nor a win', () => {
    const before = [debit({ balance: 96 }), closing];
    expect(verdictOf(history(0, 100, [...before, debit({ transaction: 'e', balance: 96 })], 96))).toBe(
      'wrong',
    );
    expect(verdictOf(history(0, 100, [...before, credit({ transaction: 'e', balance: 104 })], 104))).toBe(
      'wrong',
    );
  });

  test('stays closed in later histories', () => {
    const first = history(0, 100, [debit({ balance: 96 }), closing], 100);
    const late = debit({ transaction: 'e', balance: 96 });
    expect(verdictOf([...first, ...history(1, 100, [late], 96)])).toBe('wrong');
    expect(verdictOf([...first, ...history(1, 100, [{ ...late, ...refused }], 100)])).toBe('right');
  });

  test('may accept or refuse the rollback of a debit', () => {
    const before = [debit({ balance: 96 }), closing];
    expect(verdictOf(history(0, 100, [...before, rollback({ balance: 104 })], 104))).toBe('right');
    expect(verdictOf(history(0, 100, [...before, rollback(refused)], 100))).toBe('right');
  });
});

describe('a transaction of an earlier history', () => {
  const applied = history(0, 100, [debit({ balance: 96 })], 96);
  const tombstoned = history(0, 100, [rollback({ balance: 100 })], 100);
  test.each<[string, Call[], string]>([
    ['is answered like the first time', history(1, 96, [debit({ balance: 96 })], 96), 'right'],
    ['is not applied again', history(1, 96, [debit({ balance: 92 })], 92), 'wrong'],
    ['is refunded by a rollback', history(1, 96, [rollback({ balance: 100 })], 100), 'right'],
    ['must be refunded by an accepted rollback', history(1, 96, [rollback({ balance: 96 })], 96), 'wrong'],
  ])('%s', (_, later, verdict) => {
    expect(verdictOf([...applied, ...later])).toBe(verdict);
  });

  test('is refused when its rollback arrived before it', () => {
    expect(verdictOf([...tombstoned, ...history(1, 100, [debit({ balance: 96 })], 96)])).toBe('wrong');
    expect(verdictOf([...tombstoned, ...history(1, 100, [debit(refused)], 100)])).toBe('right');
  });
});

describe('a history with an unknown outcome is not judged:', () => {
  test.each<[string, Call[], string]>([
    ['an unanswered bet', history(0, 100, [debit(unanswered)], 100), 'not judged'],
    [
      'an unanswered bet whose retry was refused for another reason',
      history(0, 100, [debit({ ...unanswered, amount: 101 }), debit({ amount: 101, ...refused })], 100),
      'wrong',
    ],
    [
      'an unanswered bet whose retry was refused because of too little money',
      history(
        0,
        100,
        [debit({ ...unanswered, amount: 101 }), debit({ amount: 101, status: 'ERROR_NOT_ENOUGH_MONEY' })],
        100,
      ),
      'not judged',
    ],
    [
      'the same bet, then rolled back',
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
      'a contradiction before an unanswered bet',
      history(0, 100, [credit({ balance: 105 }), debit(unanswered)], 105),
      'wrong',
    ],
  ])('%s', (_, calls, verdict) => {
    expect(verdictOf(calls)).toBe(verdict);
  });

  test('later histories of the player are not judged either', () => {
    const open = history(0, 100, [debit(unanswered)], 100);
    expect(judge([...open, ...history(1, 96, [], 96)]).notJudged).toEqual([
      'ada, history 0: the outcome of d is unknown',
      'ada, history 1: the outcome of an earlier history is unknown',
    ]);
  });

  test('the recording cannot be continued', () => {
    const open = history(0, 100, [debit(unanswered)], 100);
    expect(() => readEarlierStates(open)).toThrow('ada, history 0: the outcome of d is unknown');
  });
});

test('copies of an unanswered debit that was rolled back move nothing', () => {
  const first = history(0, 100, [debit(unanswered), rollback({ balance: 100 })], 100);
  for (const answer of [refused, { balance: 96 }, { balance: 100 }])
    expect(verdictOf([...first, ...history(1, 100, [debit(answer)], 100)])).toBe('right');
  expect(verdictOf([...first, ...history(1, 100, [debit({ balance: 96 })], 96)])).toBe('wrong');
});
