import type { ComponentChildren } from 'preact';
import { Shown, readAgain, useContent } from './content.tsx';
import { button } from './parts.tsx';
import {
  applyDryRun,
  isPossible,
  makeDryRun,
  moneyOf,
  outcomesOf,
  type Difference,
  type DryRun,
  type Repair,
} from './reconciliation-data.ts';
import { useSession } from './session.ts';
import { counted } from './text.ts';

/** Longer lists of numbers or players are not shown. */
const mostShown = 10;

/** What the repairs would move, and for whom. */
const moneyText = (run: DryRun, differences: readonly Difference[]): string => {
  const money = moneyOf(run).join(', ') || 'none';
  const players = [...new Set(differences.map(({ playerId }) => playerId))];
  const names = players.length <= mostShown ? players.join(', ') : players.length.toLocaleString();
  return `Money: ${money}. Players: ${names}. Dry run ${run.dryRunId}.`;
};

/** What a dry run does not have, when there are more differences than it takes; empty when it has all. */
const othersText = (leftOut: number, untried: number): string =>
  [
    leftOut > 0 ? `${leftOut.toLocaleString()} more would be refused or wait.` : '',
    untried > 0 ? `${untried.toLocaleString()} were not tried yet: make another dry run after this one.` : '',
  ]
    .join(' ')
    .trim();

/** What came of repairs: how many had which outcome, with their numbers when there are few. */
const outcomesList = (
  title: string,
  results: readonly Repair[],
  isDryRun: boolean,
  more?: ComponentChildren,
) => (
  <div class="note">
    <h3>{title}</h3>
    {results.length === 0 && <p>There is nothing to repair.</p>}
    <ul>
      {outcomesOf(results, isDryRun).map(({ text, isGood, numbers }) => (
        <li key={text} class={isGood ? undefined : 'error'}>
          {numbers.length.toLocaleString()} {text}
          {numbers.length <= mostShown && ` (No. ${numbers.join(', ')})`}
        </li>
      ))}
    </ul>
    {more}
  </div>
);

interface ToRepair {
  /** Of the reconciliation. */
  id: string;
  /** The differences that are meant. */
  differences: () => Promise<readonly Difference[]>;
}

/**
 * Repairs differences: a dry run, whose result stays, then a confirmation, and the result. When they move more than is
 * allowed, the answer names the dry run that another person has to approve.
 */
export const RepairsPanel = ({ id, differences: read }: ToRepair) => {
  const session = useSession();
  const [forecast, outcome] = [useContent(), useContent()];
  const apply = ({ dryRunId }: DryRun) =>
    outcome.show(async () => {
      const results = await applyDryRun(session, id, dryRunId);
      readAgain();
      return outcomesList('Result', results, false);
    });
  const dryRun = (): void => {
    outcome.clear();
    void forecast.show(async () => {
      const differences = await read();
      if (differences.length === 0) return outcomesList('Dry run', [], true);
      const all = differences.map(({ number }) => number);
      const { run, leftOut, untried } = await makeDryRun(session, id, all);
      const possible = new Set(run.repairs.filter(isPossible).map(({ number }) => number));
      const others = othersText(leftOut, untried);
      const wanted = differences.filter(({ number }) => possible.has(number));
      // It stays: an apply that needs an approval is repeated after it.
      const confirm = button(`Apply ${counted(possible.size, 'repair')}`, () => apply(run), 'danger');
      return outcomesList(
        'Dry run',
        run.repairs,
        true,
        <>
          {others !== '' && <p>{others}</p>}
          {possible.size > 0 && <p>{moneyText(run, wanted)}</p>}
          {possible.size > 0 && <div class="actions">{confirm}</div>}
        </>,
      );
    });
  };
  if (!session.may('wallet:admin')) return null;
  return (
    <div>
      <div class="actions">{button('Dry run of repairs', dryRun)}</div>
      <Shown content={forecast} role="status" />
      <Shown content={outcome} role="status" />
    </div>
  );
};
