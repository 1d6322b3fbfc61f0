import { button, element } from '../element.ts';
import { findLink, playerLink, roundLink } from './links.ts';
import { state } from './parts.ts';
import { kindText, repairText, type Difference, type Side } from './reconciliation-data.ts';
import { when } from './time.ts';

const amountOf = ({ operation, amount, currency }: Side): string =>
  [operation, amount, currency].filter(Boolean).join(' ');

const roundState = (isClosed: boolean | null): string => {
  if (isClosed === null) return '–';
  return isClosed ? 'closed' : 'open';
};

/** What one side has, as far as it matters for the kind of difference. */
const sideText = (kind: Difference['kind'], side: Side | null): string => {
  if (side === null) return '–';
  if (kind === 'player') return side.playerId;
  if (kind === 'time') return when(side.time);
  if (kind === 'round_state') return roundState(side.roundClosed);
  if (kind === 'parameters') return [side.operation, side.gameCode, side.roundId].filter(Boolean).join(', ');
  if (kind === 'duplicate' && side.line !== null) return `line ${side.line}`;
  return amountOf(side);
};

const looks = { open: 'plain', applying: 'warn', applied: 'good', refused: 'bad' } as const;

/** Whether a difference is repaired, as a badge. */
export const repairState = ({ state: now }: Difference): HTMLElement => state(looks[now], now);

/** A difference in the list. */
export const differenceRow = (one: Difference, open: () => void) => [
  button(String(one.number), 'link number', open, `difference ${one.number}`),
  element('span', { class: 'what' }, kindText(one.kind)),
  playerLink(one.playerId),
  findLink(one.transactionId),
  roundLink(one.playerId, (one.here ?? one.there)?.roundId ?? null),
  sideText(one.kind, one.there),
  sideText(one.kind, one.here),
  one.repair === 'ask_game_server' ? '–' : repairText(one),
  repairState(one),
];
