import { expect, test } from 'vitest';
import { auditSentence, auditActor, type AuditEvent } from './audit-text.ts';
import { when } from './time.ts';

const at = '2026-11-22T10:00:00.000Z';
const later = '2026-11-23T10:00:00.000Z';
const limitsChangedText = (changes: object[], cancelled: string[] = []): string =>
  auditSentence({
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
    'the removal of a limit, which takes effect later',
    { kind: 'deposit', period: 'month', limit: null, effectiveAt: later },
    `Deposits in a month without limit from ${when(later)}`,
  ],
])('a change of limits becomes a sentence: %s', (_case, change, text) => {
  expect(limitsChangedText([change])).toBe(`Changed the limits set by the player: ${text}`);
});

test('the sentence for a change of limits has the number of cancelled changes', () => {
  expect(limitsChangedText([], ['c-1'])).toBe(
    'Changed the limits set by the player: 1 pending change cancelled',
  );
});

test('amounts in sentences have a currency', () => {
  const event = { at, playerId: 'p', currency: 'EUR' };
  const refused = { operation: 'debit', amount: '10.50', reason: 'not_enough_money', status: 'ERROR' };
  expect(auditSentence({ ...event, kind: 'callback', details: refused })).toBe(
    'Refused a debit of 10.50 EUR: not enough money (ERROR)',
  );
  const requested = { operation: 'deposit', amount: '12.00' };
  expect(auditSentence({ ...event, kind: 'transfer_requested', details: requested })).toBe(
    'Requested a deposit of 12.00 EUR',
  );
});

const sentenceFor = (kind: AuditEvent['kind'], details: object, currency: string | null = null): string =>
  auditSentence({ at, kind, playerId: null, currency, details: { by: 'ann', ...details } });

test('events of a reconciliation and its repairs become sentences', () => {
  expect(sentenceFor('reconciliation_requested', { from: at, to: later })).toBe(
    `Sent a statement of the game server from ${when(at)} to ${when(later)}`,
  );
  expect(sentenceFor('reconciliation_dry_run', { differences: 1 })).toBe(
    'Started a dry run of the repair of 1 difference',
  );
  expect(sentenceFor('reconciliation_dry_run_approved', { dryRunId: 'd-1' })).toBe(
    'Approved the dry run d-1',
  );
  expect(sentenceFor('reconciliation_repair_requested', { differences: 2 })).toBe(
    'Requested the repair of 2 differences',
  );
  const repaired = { number: 3, operation: 'credit', amount: '5.00', transactionId: 't-1' };
  expect(sentenceFor('reconciliation_repair_decided', { ...repaired, status: 'OK' }, 'EUR')).toBe(
    'Repaired difference 3, a credit of 5.00 EUR with the id t-1',
  );
  const refused = { number: 4, operation: 'debit', amount: '5.00', transactionId: 't-2' };
  expect(
    sentenceFor('reconciliation_repair_decided', { ...refused, status: 'ERROR', reason: 'no_money' }, 'EUR'),
  ).toBe('The repair of difference 4, a debit of 5.00 EUR with the id t-2 was refused: no money (ERROR)');
});

test('a callback that was accepted with a reason is not described as refused', () => {
  const details = { operation: 'rollback', reason: 'after_close', status: 'OK' };
  const event: AuditEvent = { at, kind: 'callback', playerId: 'p', currency: 'EUR', details };
  expect(auditSentence(event)).toBe('Accepted a rollback: after close');
  expect(auditActor(event)).toBe('game server');
});

test('the actor of a refused deposit is not the game server', () => {
  const details = { operation: 'deposit', reason: 'limit_reached', status: 'ERROR_NOT_ENOUGH_MONEY' };
  expect(auditActor({ at, kind: 'callback', playerId: 'p', currency: 'EUR', details })).toBe('–');
});
