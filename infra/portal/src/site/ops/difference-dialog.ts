import { element } from '../element.ts';
import type { WalletAnswer } from './api.ts';
import { findLink, playerLink, roundLink } from './links.ts';
import { facts, nothing, openDialog, show, table } from './parts.ts';
import { repairState } from './difference-row.ts';
import {
  isRepairable,
  kindText,
  pathOf,
  reasonText,
  repairText,
  type Difference,
  type Side,
} from './reconciliation-data.ts';
import { repairsPanel } from './repairs-panel.ts';
import type { Session } from './session.ts';
import { when } from './time.ts';

const closed = (isClosed: boolean | null): string | null =>
  isClosed === null ? null : isClosed ? 'yes' : 'no';

const lines: readonly (readonly [name: string, text: (side: Side) => string | null])[] = [
  ['Line', ({ line }) => (line === null ? null : String(line))],
  ['Player', ({ playerId }) => playerId],
  ['Operation', ({ operation }) => operation],
  ['Amount', ({ amount, currency }) => [amount, currency].filter(Boolean).join(' ')],
  ['Round', ({ roundId }) => roundId],
  ['Game', ({ gameCode }) => gameCode],
  ['Closes the round', ({ roundClosed }) => closed(roundClosed)],
  ['Reverses', ({ reverseTransactionId }) => reverseTransactionId],
  ['Time', ({ time: at }) => (at === null ? null : when(at))],
];

const sides = ({ there, here }: Difference): Node => {
  const rows = lines.map(([name, text]) => [
    element('strong', {}, name),
    ...[there, here].map((side) => (side && text(side)) || '–'),
  ]);
  return element('div', { class: 'list' }, table('Both sides', ['Field', 'Statement', 'Ledger'], rows));
};

const content = (one: Difference): Node => {
  const { kind, playerId, transactionId, repairedAt, repairedBy, reason } = one;
  const { roundId = null, reverseTransactionId = null } = one.here ?? one.there ?? {};
  return element(
    'div',
    {},
    facts([
      ['Difference', kindText(kind)],
      ['State', repairState(one)],
      ['Repair', repairText(one)],
      ['Transaction', findLink(transactionId)],
      ['Player', playerLink(playerId)],
      ['Round', roundLink(playerId, roundId)],
      ...(reverseTransactionId === null ? [] : [['Reverses', findLink(reverseTransactionId)] as const]),
      ...(repairedAt === null ? [] : [['Last attempt', `${when(repairedAt)}, ${repairedBy}`] as const]),
    ]),
    reason === null ? null : element('p', { class: 'note error' }, `Refused: ${reasonText(reason)}`),
    element('h3', {}, 'Both sides'),
    sides(one),
  );
};

/** One difference: what both sides have, and its repair. `changed` is called after a repair. */
export const openDifference = (
  session: Session,
  id: string,
  number: number,
  changed: () => void,
): HTMLDialogElement => {
  const [body, repair] = [element('div', { class: 'dialog-body' }), element('div')];
  const load = (): void => {
    void show(body, async () => {
      // Numbers have no gaps, so the number is that of its page.
      const query = new URLSearchParams({ page: String(number), limit: '1' });
      const { differences } = await session.ask<WalletAnswer<'listDifferences'>>(
        `${pathOf(id)}/differences?${query}`,
      );
      const [one] = differences;
      if (one === undefined) return nothing('There is no such difference.');
      if (isRepairable(one) && repair.childNodes.length === 0)
        repair.append(
          element('h3', {}, 'Repair'),
          repairsPanel(
            session,
            id,
            () => Promise.resolve([one]),
            () => {
              load();
              changed();
            },
          ),
        );
      return content(one);
    });
  };
  load();
  return openDialog(`Difference ${number}`, [body, repair]);
};
