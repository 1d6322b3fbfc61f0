import { nameOfLimit, type LimitSlot } from './limit-name.ts';
import { when } from './time.ts';

/** An event of the audit log of the wallet. */
export interface AuditEvent {
  at: string;
  kind: string;
  playerId: string | null;
  details: Readonly<Record<string, unknown>>;
}

const text = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
};

/** Minor units as an amount: 1050 becomes 10.50. */
const amount = (minor: unknown): string =>
  typeof minor === 'number' ? (minor / 100).toFixed(2) : text(minor);

const words = (name: unknown): string => text(name).replaceAll('_', ' ');

const playerChange = ({ fields, excluded, until, status }: AuditEvent['details']): string => {
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

interface LimitChange extends LimitSlot {
  limit: string | null;
  effectiveAt: string;
}

const limitsChange = ({ setBy, changes, cancelled }: AuditEvent['details'], at: string): string => {
  const made = Array.isArray(changes) ? (changes as LimitChange[]) : [];
  const parts = made.map(({ limit, effectiveAt, ...slot }) => {
    const value = limit === null ? 'without limit' : `at most ${limit}`;
    const unit = limit !== null && slot.kind === 'session' ? ' min' : '';
    return `${nameOfLimit(slot)} ${value}${unit}${effectiveAt > at ? ` from ${when(effectiveAt)}` : ''}`;
  });
  const count = Array.isArray(cancelled) ? cancelled.length : 0;
  if (count > 0) parts.push(`${count} pending ${count === 1 ? 'change' : 'changes'} cancelled`);
  return `Changed the limits set by the ${text(setBy)}: ${parts.join('; ')}`;
};

const sentences: Readonly<Record<string, (details: AuditEvent['details'], at: string) => string>> = {
  callback: ({ operation, amount: minor, reason, status }) =>
    `Refused a ${text(operation)}${minor === undefined ? '' : ` of ${amount(minor)}`}: ${words(reason)} (${text(status)})`,
  player_created: ({ currency }) => `Added the player, in ${text(currency)}`,
  player_changed: playerChange,
  limits_changed: limitsChange,
  transfer_requested: ({ operation, amount: decimal }) =>
    `Requested a ${text(operation)} of ${text(decimal)}`,
  game_created: ({ gameCode }) => `Added the game ${text(gameCode)}`,
  game_changed: ({ gameCode, name, enabled }) =>
    [
      `Changed the game ${text(gameCode)}:`,
      [
        name === undefined ? [] : `named ${text(name)}`,
        enabled === undefined ? [] : enabled === true ? 'enabled' : 'disabled',
      ]
        .flat()
        .join(', '),
    ].join(' '),
};

/** What happened, as a sentence; other kinds by their name. */
export const whatHappened = ({ at, kind, details }: AuditEvent): string =>
  Object.hasOwn(sentences, kind) ? (sentences[kind]?.(details, at) ?? kind) : words(kind);

/** Who did it: the subject of an access token, or the game server. */
export const whoActed = ({ kind, details }: AuditEvent): string =>
  typeof details['by'] === 'string' ? details['by'] : kind === 'callback' ? 'game server' : '–';
