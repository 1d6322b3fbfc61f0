import type { ComponentChildren } from 'preact';
import { ContentView, refreshAll, useContent } from './content.tsx';
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
const maxShown = 10;

/** The money that the repairs would move, and the affected players. */
const moneyText = (run: DryRun, differences: readonly Difference[]): string => {
  const money = moneyOf(run).join(', ') || 'none';
  const players = [...new Set(differences.map(({ playerId }) => playerId))];
  const names = players.length <= maxShown ? players.join(', ') : players.length.toLocaleString();
  return `Money: ${money}. Players: ${names}. Dry run ${run.dryRunId}.`;
};

/** Text about differences that a dry run does not contain; empty if it contains all. */
const omittedText = (leftOut: number, untried: number): string => {
  const sentences: string[] = [];
  if (leftOut > 0)
    sentences.push(
      `${leftOut.toLocaleString()} more would be refused, or must wait for earlier transactions.`,
    );
  if (untried > 0)
    sentences.push(`${untried.toLocaleString()} are not included: make another dry run after this one.`);
  return sentences.join(' ');
};

/** The outcomes of repairs with counts, and with the numbers of the differences if there are few. */
const outcomesList = (
  results: readonly Repair[],
  { isDryRun }: { isDryRun: boolean },
  more?: ComponentChildren,
) => (
  <div class="note">
    <h3>{isDryRun ? 'Dry run' : 'Result'}</h3>
    {results.length === 0 && <p>There is nothing to repair.</p>}
    <ul>
      {outcomesOf(results, { isDryRun }).map(({ text, isGood, numbers }) => (
        <li key={text} class={isGood ? undefined : 'error'}>
          {numbers.length.toLocaleString()} {text}
          {numbers.length <= maxShown && ` (No. ${numbers.join(', ')})`}
        </li>
      ))}
    </ul>
    {more}
  </div>
);

interface RepairsPanelProps {
  /** Id of the reconciliation. */
  id: string;
  /** Reads the differences to repair. */
  readDifferences: () => Promise<readonly Difference[]>;
}

/**
 * Repairs differences: first a dry run, whose result stays visible, then a confirmation, then the result. If the repairs move
 * more than the limit, the response contains the dry run that another person has to approve.
 */
export const RepairsPanel = ({ id, readDifferences }: RepairsPanelProps) => {
  const session = useSession();
  const [dryRunResult, repairResult] = [useContent(), useContent()];
  const apply = ({ dryRunId }: DryRun) =>
    repairResult.show(async () => {
      const results = await applyDryRun(session, id, dryRunId);
      refreshAll();
      return outcomesList(results, { isDryRun: false });
    });
  const dryRun = (): void => {
    repairResult.clear();
    void dryRunResult.show(async () => {
      const differences = await readDifferences();
      if (differences.length === 0) return outcomesList([], { isDryRun: true });
      const all = differences.map(({ number }) => number);
      const { run, leftOut, untried } = await makeDryRun(session, id, all);
      const possible = new Set(run.repairs.filter(isPossible).map(({ number }) => number));
      const omitted = omittedText(leftOut, untried);
      const possibleDifferences = differences.filter(({ number }) => possible.has(number));
      // The button stays visible: repairs that need an approval must be applied again after the approval.
      const confirm = button(`Apply ${counted(possible.size, 'repair')}`, () => apply(run), 'danger');
      return outcomesList(
        run.repairs,
        { isDryRun: true },
        <>
          {omitted !== '' && <p>{omitted}</p>}
          {possible.size > 0 && <p>{moneyText(run, possibleDifferences)}</p>}
          {possible.size > 0 && <div class="actions">{confirm}</div>}
        </>,
      );
    });
  };
  if (!session.may('wallet:admin')) return null;
  return (
    <div>
      <div class="actions">{button('Dry run of repairs', dryRun)}</div>
      <ContentView content={dryRunResult} role="status" />
      <ContentView content={repairResult} role="status" />
    </div>
  );
};
