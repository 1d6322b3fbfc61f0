import type { Wallet } from './api.ts';
import { limitName, words, type LimitSlot } from './text.ts';
import { when } from './time.ts';

/** An event of the audit log of the wallet. */
export type AuditEvent = Omit<Wallet['AuditEvent'], 'eventId'>;

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
};

const timeText = (value: unknown): string => when(typeof value === 'string' ? value : null);

/** An amount with its currency. */
const money = (amount: unknown, { currency }: AuditEvent): string =>
  [textOf(amount), currency ?? ''].join(' ').trim();

const playerChange = ({ details: { fields, excluded, until, status } }: AuditEvent): string => {
  const names = Array.isArray(fields) ? fields.map(String) : [];
  const parts: string[] = [];
  if (names.some((name) => name.startsWith('excluded'))) {
    const end = until ? `until ${textOf(until)}` : 'without end';
    parts.push(excluded === true ? `excluded ${end}` : 'not excluded');
  }
  if (names.includes('status')) parts.push(textOf(status));
  const others = names.filter((name) => !name.startsWith('excluded') && name !== 'status');
  if (others.length > 0) parts.push(`changed ${others.join(', ')}`);
  return `Changed the player: ${parts.join('; ')}`;
};

interface LimitChange extends LimitSlot {
  limit: string | null;
  effectiveAt: string;
}

const limitsChange = (event: AuditEvent): string => {
  const { setBy, changes, cancelled } = event.details;
  const limitChanges = Array.isArray(changes) ? (changes as LimitChange[]) : [];
  const parts = limitChanges.map(({ limit, effectiveAt, ...slot }) => {
    const maximum = slot.kind === 'session' ? `${limit} min` : money(limit, event);
    const value = limit === null ? 'without limit' : `at most ${maximum}`;
    const start = effectiveAt > event.at ? ` from ${when(effectiveAt)}` : '';
    return `${limitName(slot)} ${value}${start}`;
  });
  const cancelledCount = Array.isArray(cancelled) ? cancelled.length : 0;
  if (cancelledCount > 0)
    parts.push(`${cancelledCount} pending ${cancelledCount === 1 ? 'change' : 'changes'} cancelled`);
  return `Changed the limits set by the ${textOf(setBy)}: ${parts.join('; ')}`;
};

/** A refused callback, deposit or withdrawal, or a rollback that was accepted with a reason. */
const decision = (event: AuditEvent): string => {
  const { operation, amount, reason, status } = event.details;
  const amountText = amount === undefined ? '' : ` of ${money(amount, event)}`;
  const subject = `a ${textOf(operation)}${amountText}: ${words(textOf(reason))}`;
  return status === 'OK' ? `Accepted ${subject}` : `Refused ${subject} (${textOf(status)})`;
};

const adjustment = (verb: string, event: AuditEvent): string => {
  const { amount, reason, note } = event.details;
  return `${verb} an adjustment of ${money(amount, event)} (${words(textOf(reason))}): ${textOf(note)}`;
};

/** Describes the transaction that repairs a difference. */
const repair = (event: AuditEvent): string => {
  const { number, operation, amount, transactionId } = event.details;
  const amountText = amount === undefined ? '' : ` of ${money(amount, event)}`;
  return `difference ${textOf(number)}, a ${textOf(operation)}${amountText} with the id ${textOf(transactionId)}`;
};

const differencesOf = ({ differences }: AuditEvent['details']): string =>
  `${textOf(differences)} ${differences === 1 ? 'difference' : 'differences'}`;

const sentences: Readonly<Record<string, (event: AuditEvent) => string>> = {
  callback: decision,
  player_created: ({ details }) => `Added the player, in ${textOf(details['currency'])}`,
  player_changed: playerChange,
  limits_changed: limitsChange,
  transfer_requested: (event) =>
    `Requested a ${textOf(event.details['operation'])} of ${money(event.details['amount'], event)}`,
  adjustment_requested: (event) => adjustment('Requested', event),
  adjustment_approved: (event) => adjustment('Approved', event),
  game_created: ({ details }) => `Added the game ${textOf(details['gameCode'])}`,
  game_changed: ({ details: { gameCode, name, enabled } }) => {
    const changes = name === undefined ? [] : [`named ${textOf(name)}`];
    if (enabled !== undefined) changes.push(enabled === true ? 'enabled' : 'disabled');
    return `Changed the game ${textOf(gameCode)}: ${changes.join(', ')}`;
  },
  launch_refused: ({ details: { gameCode, code } }) =>
    `The launch of ${textOf(gameCode)} was refused: ${words(textOf(code))}`,
  sessions_ended: ({ details: { sessionId } }) =>
    sessionId === undefined ? 'Ended all sessions of the player' : `Ended the session ${textOf(sessionId)}`,
  reconciliation_requested: ({ details: { from, to } }) =>
    `Sent a statement of the game server from ${timeText(from)} to ${timeText(to)}`,
  reconciliation_withdrawn: ({ details }) =>
    `Withdrew the reconciliation ${textOf(details['reconciliationId'])}`,
  reconciliation_dry_run: ({ details }) => `Started a dry run of the repair of ${differencesOf(details)}`,
  reconciliation_dry_run_approved: ({ details }) => `Approved the dry run ${textOf(details['dryRunId'])}`,
  reconciliation_repair_requested: ({ details }) => `Requested the repair of ${differencesOf(details)}`,
  reconciliation_repair_decided: (event) => {
    const { status, reason } = event.details;
    return status === 'OK'
      ? `Repaired ${repair(event)}`
      : `The repair of ${repair(event)} was refused: ${words(textOf(reason))} (${textOf(status)})`;
  },
} satisfies Record<AuditEvent['kind'], (event: AuditEvent) => string>;

/** Describes an audit event in a sentence; an unknown kind by its name. */
export const auditSentence = (event: AuditEvent): string => {
  const { kind } = event;
  return Object.hasOwn(sentences, kind) ? (sentences[kind]?.(event) ?? kind) : words(kind);
};

/** The actor: the subject of an access token, or the game server. The subject of a transfer is in another event. */
export const auditActor = ({ kind, details: { by, operation } }: AuditEvent): string => {
  if (typeof by === 'string') return by;
  const isTransfer = ['deposit', 'withdrawal', 'adjustment'].includes(textOf(operation));
  return kind === 'callback' && !isTransfer ? 'game server' : '–';
};
