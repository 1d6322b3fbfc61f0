import { expect, test } from 'vitest';
import { whatHappened } from './audit-text.ts';
import { when } from './time.ts';

const at = '2026-11-22T10:00:00.000Z';
const later = '2026-11-23T10:00:00.000Z';
const changed = (changes: object[], cancelled: string[] = []): string =>
  whatHappened({
    at,
    kind: 'limits_changed',
    playerId: 'p',
    currency: 'EUR',
    details: { by: 'ann', setBy: 'player', changes, cancelled },
  });

test.each([
  [
    'a lower limit',
    { kind: 'loss', period: '24h', limit: '50.00', effectiveAt: at },
    'Losses in 24 hours at most 50.00 EUR',
  ],
  [
    'session time',
    { kind: 'session', period: 'session', limit: '60', effectiveAt: at },
    'Session time at most 60 min',
  ],
  [
    'the end of a limit, which has to wait',
    { kind: 'deposit', period: 'month', limit: null, effectiveAt: later },
    `Deposits in a month without limit from ${when(later)}`,
  ],
])('a change of limits is a sentence: %s', (_what, change, text) => {
  expect(changed([change])).toBe(`Changed the limits set by the player: ${text}`);
});

test('a change of limits says which pending changes it cancelled', () => {
  expect(changed([], ['c-1'])).toBe('Changed the limits set by the player: 1 pending change cancelled');
});

test('amounts have a currency', () => {
  const event = { at, playerId: 'p', currency: 'EUR' };
  const refused = { operation: 'debit', amount: 1050, reason: 'not_enough_money', status: 'ERROR' };
  expect(whatHappened({ ...event, kind: 'callback', details: refused })).toBe(
    'Refused a debit of 10.50 EUR: not enough money (ERROR)',
  );
  const requested = { operation: 'deposit', amount: '12.00' };
  expect(whatHappened({ ...event, kind: 'transfer_requested', details: requested })).toBe(
    'Requested a deposit of 12.00 EUR',
  );
});
