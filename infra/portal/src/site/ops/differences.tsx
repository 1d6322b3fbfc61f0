import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ContentView, refreshCount, useLoaded } from './content.tsx';
import type { WalletResponse } from './api.ts';
import { Dialog, facts, emptyNote, opener, stateBadge, type CellContent, type Columns } from './parts.tsx';
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

/** The values of one side that matter for this kind of difference. */
const partsOf = (kind: Difference['kind'], side: Side): (string | null)[] => {
  if (kind === 'player') return [side.playerId];
  if (kind === 'time') return [when(side.time)];
  if (kind === 'round_state') return [roundState(side.roundClosed)];
  if (kind === 'parameters') return [side.operation, side.gameCode, side.roundId];
  if (kind === 'duplicate' && side.line !== null) return [`line ${side.line}`];
  return [side.operation, side.amount, side.currency];
};

/** Marks a text that differs from the other side. */
const markDifference = (text: string) => (
  <mark>
    {text}
    <span class="unseen"> (differs)</span>
  </mark>
);

/** The most important values of one side; those that differ from the other side are marked. */
const sideCell = (kind: Difference['kind'], side: Side | null, other: Side | null): CellContent => {
  if (side === null) return null;
  const otherParts = other && partsOf(kind, other);
  const parts: ComponentChildren[] = [];
  for (const [index, text] of partsOf(kind, side).entries()) {
    if (!text) continue;
    if (parts.length > 0) parts.push(' ');
    const isSame = !otherParts || otherParts[index] === text;
    parts.push(isSame ? text : markDifference(text));
  }
  return <span>{parts}</span>;
};

const stateColors = { open: 'plain', applying: 'warn', applied: 'good', refused: 'bad' } as const;

/** The state of the repair of a difference. */
const repairState = ({ state }: Difference) => stateBadge(stateColors[state], state);

/** The selected differences, by number. */
export type Selection = Signal<ReadonlyMap<number, Difference>>;

const select = (selection: Selection, difference: Difference, isSelected: boolean): void => {
  const { number } = difference;
  const others = [...selection.value].filter(([other]) => other !== number);
  selection.value = new Map(isSelected ? [...others, [number, difference]] : others);
};

/** The columns of the list. The first one has checkboxes for the selection. */
export const differenceColumns = (selection: Selection): Columns<Difference> => ({
  Choose: (difference) => (
    <input
      type="checkbox"
      aria-label={`Choose difference ${difference.number}`}
      checked={selection.value.has(difference.number)}
      onChange={({ currentTarget: { checked } }) => select(selection, difference, checked)}
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

const closedText = (isClosed: boolean | null): string | null => {
  if (isClosed === null) return null;
  return isClosed ? 'yes' : 'no';
};

type TextOf = (side: Side) => string | null;

const fields: Readonly<Record<string, TextOf>> = {
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

/** The columns of a table that compares both sides, with a row for each entry of `fields`. */
const sideColumns = ({ kind, here, there }: Difference): Columns<[name: string, textOf: TextOf]> => {
  const comparedCell = (side: Side | null, name: string, textOf: TextOf): CellContent => {
    const text = (side && textOf(side)) || null;
    // Lines are not compared, because only a statement has them, and times usually not, because they always differ a little.
    const isCompared = name === 'Time' ? kind === 'time' : name !== 'Line';
    const isDifferent = here && there && isCompared && textOf(here) !== textOf(there);
    return isDifferent && text !== null ? markDifference(text) : text;
  };
  return {
    Field: ([name]) => <strong>{name}</strong>,
    Statement: ([name, textOf]) => comparedCell(there, name, textOf),
    Ledger: ([name, textOf]) => comparedCell(here, name, textOf),
  };
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

/** A dialog with one difference: the values of both sides, and its repair. */
export const DifferenceDialog = ({ id, number }: { id: string; number: number }) => {
  const session = useSession();
  /** Set while the difference is repairable, and kept after the repair, so that the result stays visible. */
  const repairable = useSignal<Difference>();
  const body = useLoaded(async () => {
    // Numbers have no gaps, so with one difference per page the number is the page.
    const path = `${pathOf(id)}/differences?page=${number}&limit=1`;
    const { differences } = await session.ask<WalletResponse<'listDifferences'>>(path);
    const [difference] = differences;
    if (difference === undefined) return emptyNote('There is no such difference.');
    if (isRepairable(difference) && session.may('wallet:admin')) repairable.value = difference;
    return detailsOf(difference);
  }, [refreshCount.value]);
  const readDifferences = async () => (repairable.value ? [repairable.value] : []);
  return (
    <Dialog title={`Difference ${number}`} onClose={open}>
      <ContentView content={body} class="dialog-body" />
      {repairable.value && <h3>Repair</h3>}
      {repairable.value && <RepairsPanel id={id} readDifferences={readDifferences} />}
    </Dialog>
  );
};
