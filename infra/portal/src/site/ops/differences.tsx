import { useSignal, type Signal } from '@preact/signals';
import { Fragment } from 'preact';
import { Shown, reads, useLoaded } from './content.tsx';
import type { WalletAnswer } from './api.ts';
import { Dialog, facts, nothing, opener, state, type Cell, type Columns } from './parts.tsx';
import { findLink, playerLink, roundLink } from './links.tsx';
import { open } from './place.ts';
import {
  isRepairable,
  kindText,
  pathOf,
  reasonText,
  repairText,
  type Difference,
  type Side,
} from './reconciliation-data.ts';
import { RepairsPanel } from './repairs-panel.tsx';
import { useSession } from './session.ts';
import { Table } from './list.tsx';
import { when } from './time.ts';

const roundState = (isClosed: boolean | null): string => {
  if (isClosed === null) return '–';
  return isClosed ? 'closed' : 'open';
};

/** What one side has, in parts, as far as it matters for the kind of difference. */
const partsOf = (kind: Difference['kind'], side: Side): (string | null)[] => {
  if (kind === 'player') return [side.playerId];
  if (kind === 'time') return [when(side.time)];
  if (kind === 'round_state') return [roundState(side.roundClosed)];
  if (kind === 'parameters') return [side.operation, side.gameCode, side.roundId];
  if (kind === 'duplicate' && side.line !== null) return [`line ${side.line}`];
  return [side.operation, side.amount, side.currency];
};

/** A text that the other side has otherwise. */
const differing = (text: string) => (
  <mark>
    {text}
    <span class="unseen"> (differs)</span>
  </mark>
);

/** What one side has, with a mark on what the other side, if there is one, has otherwise. */
const sideCell = (kind: Difference['kind'], side: Side | null, other: Side | null): Cell => {
  if (side === null) return null;
  const others = other && partsOf(kind, other);
  const parts = partsOf(kind, side).map((text, at) => ({ text, isSame: !others || others[at] === text }));
  return (
    <span>
      {parts
        .filter(({ text }) => text)
        .map(({ text, isSame }, at) => (
          <Fragment key={text}>
            {at > 0 && ' '}
            {isSame ? text : differing(text ?? '')}
          </Fragment>
        ))}
    </span>
  );
};

const looks = { open: 'plain', applying: 'warn', applied: 'good', refused: 'bad' } as const;

/** The state of the repair of a difference. */
const repairState = ({ state: now }: Difference) => state(looks[now], now);

/** The differences that somebody has chosen, by number. */
export type Chosen = Signal<ReadonlyMap<number, Difference>>;

const choose = (chosen: Chosen, difference: Difference, isChosen: boolean): void => {
  const { number } = difference;
  const others = [...chosen.value].filter(([other]) => other !== number);
  chosen.value = new Map(isChosen ? [...others, [number, difference]] : others);
};

/** The columns of the list; the first one chooses differences. */
export const differenceColumns = (chosen: Chosen): Columns<Difference> => ({
  Choose: (difference) => (
    <input
      type="checkbox"
      aria-label={`Choose difference ${difference.number}`}
      checked={chosen.value.has(difference.number)}
      onChange={({ currentTarget: { checked } }) => choose(chosen, difference, checked)}
    />
  ),
  'No.': ({ number }) =>
    opener(String(number), `difference ${number}`, () => open(String(number)), 'link number'),
  Difference: ({ kind }) => <span class="what">{kindText(kind)}</span>,
  Player: ({ playerId }) => playerLink(playerId),
  Transaction: ({ transactionId }) => findLink(transactionId),
  Round: ({ playerId, here, there }) => roundLink(playerId, (here ?? there)?.roundId ?? null),
  Statement: ({ kind, there, here }) => sideCell(kind, there, here),
  Ledger: ({ kind, there, here }) => sideCell(kind, here, there),
  Repair: (difference) => (difference.repair === 'ask_game_server' ? null : repairText(difference)),
  State: repairState,
});

const closedText = (isClosed: boolean | null): string | null =>
  isClosed === null ? null : isClosed ? 'yes' : 'no';

const fields: Readonly<Record<string, (side: Side) => string | null>> = {
  Line: ({ line }) => (line === null ? null : String(line)),
  Player: ({ playerId }) => playerId,
  Operation: ({ operation }) => operation,
  Amount: ({ amount, currency }) => [amount, currency].filter(Boolean).join(' '),
  Round: ({ roundId }) => roundId,
  Game: ({ gameCode }) => gameCode,
  'Closes the round': ({ roundClosed }) => closedText(roundClosed),
  Reverses: ({ reverseTransactionId }) => reverseTransactionId,
  Time: ({ time: at }) => (at === null ? null : when(at)),
};

const sideColumns = ({
  kind,
  here,
  there,
}: Difference): Columns<[name: string, text: (side: Side) => string | null]> => {
  const cellOf =
    (side: Side | null) =>
    ([name, text]: [string, (side: Side) => string | null]): Cell => {
      const own = (side && text(side)) || null;
      // Only a statement has lines, and times differ always a little.
      const isCompared = name === 'Time' ? kind === 'time' : name !== 'Line';
      const isOther = here && there && isCompared && text(here) !== text(there);
      return isOther && own !== null ? differing(own) : own;
    };
  return { Field: ([name]) => <strong>{name}</strong>, Statement: cellOf(there), Ledger: cellOf(here) };
};

const detailsOf = (difference: Difference) => {
  const { kind, playerId, transactionId, repairedAt, repairedBy, reason, here, there } = difference;
  const { roundId = null, reverseTransactionId = null } = here ?? there ?? {};
  return (
    <>
      {facts({
        Difference: kindText(kind),
        State: repairState(difference),
        Repair: repairText(difference),
        Transaction: findLink(transactionId),
        Player: playerLink(playerId),
        Round: roundLink(playerId, roundId),
        ...(reverseTransactionId !== null && { Reverses: findLink(reverseTransactionId) }),
        ...(repairedAt !== null && { 'Last attempt': `${when(repairedAt)}, ${repairedBy}` }),
      })}
      {reason !== null && <p class="note error">Refused: {reasonText(reason)}</p>}
      <h3>Both sides</h3>
      <div class="list">
        <Table caption="Both sides" columns={sideColumns(difference)} rows={Object.entries(fields)} />
      </div>
    </>
  );
};

/** One difference: what both sides have, and its repair. */
export const DifferenceDialog = ({ id, number }: { id: string; number: number }) => {
  const session = useSession();
  /** It stays after it was repaired, and so does the result. */
  const repaired = useSignal<Difference>();
  const body = useLoaded(async () => {
    // Numbers have no gaps, so the number is that of its page.
    const path = `${pathOf(id)}/differences?page=${number}&limit=1`;
    const { differences } = await session.ask<WalletAnswer<'listDifferences'>>(path);
    const [difference] = differences;
    if (difference === undefined) return nothing('There is no such difference.');
    if (isRepairable(difference) && session.may('wallet:admin')) repaired.value = difference;
    return detailsOf(difference);
  }, [reads.value]);
  const differences = async () => (repaired.value ? [repaired.value] : []);
  return (
    <Dialog title={`Difference ${number}`} closed={open}>
      <Shown content={body} class="dialog-body" />
      {repaired.value && <h3>Repair</h3>}
      {repaired.value && <RepairsPanel id={id} differences={differences} />}
    </Dialog>
  );
};
