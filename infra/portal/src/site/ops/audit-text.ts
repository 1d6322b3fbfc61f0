import type { Wallet } from './api.ts';
import { nameOfLimit, words, type LimitSlot } from './text.ts';
import { when } from './time.ts';

/** An event of the audit log of the wallet. */
export type AuditEvent = Omit<Wallet['AuditEvent'], 'eventId'>;

const text = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
};

const timeText = (value: unknown): string => when(typeof value === 'string' ? value : null);

/** An amount with its currency. */
const money = (amount: unknown, { currency }: AuditEvent): string =>
  [text(amount), currency ?? ''].join(' ').trim();

const playerChange = ({ details: { fields, excluded, until, status } }: AuditEvent): string => {
  const names = Array.isArray(fields) ? fields.map(String) : [];
  const parts: string[] = [];
  if (names.some((name) => name.startsWith('excluded')))
    parts.push(
      excluded === true ? `excluded${until ? ` until ${text(until)}` : ' without end'}` : 'not excluded',
    );
  if (names.includes('status')) parts.push(text(status));
  const others = names.filter((name) => !name.startsWith('excluded') && name !== 'status');
  if (others.length > 0) parts.push(`changed ${others.join(', ')}`);
  return `Changed the player: ${parts.join('; ')}`;
};

const count = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

interface LimitChange extends LimitSlot {
  limit: string | null;
  effectiveAt: string;
}

const limitsChange = (event: AuditEvent): string => {
  const { setBy, changes, cancelled } = event.details;
  const made = Array.isArray(changes) ? (changes as LimitChange[]) : [];
  const parts = made.map(({ limit, effectiveAt, ...slot }) => {
    const most = slot.kind === 'session' ? `${limit} min` : money(limit, event);
    const value = limit === null ? 'without limit' : `at most ${most}`;
    return `${nameOfLimit(slot)} ${value}${effectiveAt > event.at ? ` from ${when(effectiveAt)}` : ''}`;
  });
  const ended = count(cancelled);
  if (ended > 0) parts.push(`${ended} pending ${ended === 1 ? 'change' : 'changes'} cancelled`);
  return `Changed the limits set by the ${text(setBy)}: ${parts.join('; ')}`;
};

/** A callback, deposit or withdrawal that was refused, or a rollback that was accepted with a remark. */
const decision = (event: AuditEvent): string => {
  const { operation, amount, reason, status } = event.details;
  const size = amount === undefined ? '' : ` of ${money(amount, event)}`;
  const what = `a ${text(operation)}${size}: ${words(text(reason))}`;
  return status === 'OK' ? `Accepted ${what}` : `Refused ${what} (${text(status)})`;
};

const adjustment = (verb: string, event: AuditEvent): string => {
  const { amount, reason, note } = event.details;
  return `${verb} an adjustment of ${money(amount, event)} (${words(text(reason))}): ${text(note)}`;
};

/** The transaction that repairs a difference. */
const repair = (event: AuditEvent): string => {
  const { number, operation, amount, transactionId } = event.details;
  const size = amount === undefined ? '' : ` of ${money(amount, event)}`;
  return `difference ${text(number)}, a ${text(operation)}${size} with the id ${text(transactionId)}`;
};

const differencesOf = ({ differences }: AuditEvent['details']): string =>
  `${text(differences)} ${differences === 1 ? 'difference' : 'differences'}`;

const sentences: Readonly<Record<string, (event: AuditEvent) => string>> = {
  callback: decision,
  player_created: ({ details }) => `Added the player, in ${text(details['currency'])}`,
  player_changed: playerChange,
  limits_changed: limitsChange,
  transfer_requested: (event) =>
    `Requested a ${text(event.details['operation'])} of ${money(event.details['amount'], event)}`,
  adjustment_requested: (event) => adjustment('Requested', event),
  adjustment_approved: (event) => adjustment('Approved', event),
  game_created: ({ details }) => `Added the game ${text(details['gameCode'])}`,
  game_changed: ({ details: { gameCode, name, enabled } }) => {
    const changes = name === undefined ? [] : [`named ${text(name)}`];
    if (enabled !== undefined) changes.push(enabled === true ? 'enabled' : 'disabled');
    return `Changed the game ${text(gameCode)}: ${changes.join(', ')}`;
  },
  launch_refused: ({ details: { gameCode, code } }) =>
    `The launch of ${text(gameCode)} was refused: ${words(text(code))}`,
  sessions_ended: ({ details: { sessionId } }) =>
    sessionId === undefined ? 'Ended all sessions of the player' : `Ended the session ${text(sessionId)}`,
  reconciliation_requested: ({ details: { from, to } }) =>
    `Sent a statement of the game server from ${timeText(from)} to ${timeText(to)}`,
  reconciliation_withdrawn: ({ details }) =>
    `Withdrew the reconciliation ${text(details['reconciliationId'])}`,
  reconciliation_dry_run: ({ details }) => `Made a dry run of the repair of ${differencesOf(details)}`,
  reconciliation_dry_run_approved: ({ details }) => `Approved the dry run ${text(details['dryRunId'])}`,
  reconciliation_repair_requested: ({ details }) => `Requested the repair of ${differencesOf(details)}`,
  reconciliation_repair_decided: (event) => {
    const { status, reason } = event.details;
    return status === 'OK'
      ? `Repaired ${repair(event)}`
      : `The repair of ${repair(event)} was refused: ${words(text(reason))} (${text(status)})`;
  },
} satisfies Record<AuditEvent['kind'], (event: AuditEvent) => string>;

/** What happened, as a sentence; other kinds by their name. */
export const whatHappened = (event: AuditEvent): string => {
  const { kind } = event;
  return Object.hasOwn(sentences, kind) ? (sentences[kind]?.(event) ?? kind) : words(kind);
};

/** Who did it: the subject of an access token, or the game server. Transfers have their subject in another event. */
export const whoActed = ({ kind, details: { by, operation } }: AuditEvent): string => {
  if (typeof by === 'string') return by;
  const isTransfer = ['deposit', 'withdrawal', 'adjustment'].includes(text(operation));
  return kind === 'callback' && !isTransfer ? 'game server' : '–';
};
