import { button, element } from '../element.ts';
import { show } from './parts.ts';
import type { Difference } from './reconciliation-data.ts';
import {
  applyDryRun,
  isPossible,
  makeDryRun,
  moneyOf,
  outcomesOf,
  type DryRun,
  type Outcome,
  type Repair,
} from './repairs.ts';
import type { Session } from './session.ts';

const count = (of: number): string => (of === 1 ? '1 repair' : `${of.toLocaleString()} repairs`);

/** Longer lists of numbers or players are not shown. */
const shown = 10;

/** One line: how many, what came of them, and their numbers when there are few. */
const outcomeLine = ({ text, isGood, numbers }: Outcome): HTMLElement => {
  const few = numbers.length <= shown ? ` (No. ${numbers.join(', ')})` : '';
  return element('li', isGood ? {} : { class: 'error' }, `${numbers.length.toLocaleString()} ${text}${few}`);
};

/** What the repairs would move, and for whom. */
const moneyLine = (run: DryRun, differences: readonly Difference[]): HTMLElement => {
  const money = moneyOf(run).join(', ') || 'none';
  const players = [...new Set(differences.map(({ playerId }) => playerId))];
  const names = players.length <= shown ? players.join(', ') : players.length.toLocaleString();
  return element('p', {}, `Money: ${money}. Players: ${names}. Dry run ${run.dryRunId}.`);
};

/** What a dry run does not have, when there are more differences than it takes. */
const othersLine = (leftOut: number, untried: number): HTMLElement[] => {
  const parts = [
    leftOut > 0 ? `${leftOut.toLocaleString()} more would be refused or wait.` : '',
    untried > 0 ? `${untried.toLocaleString()} were not tried yet: make another dry run after this one.` : '',
  ];
  return leftOut + untried > 0 ? [element('p', {}, parts.join(' ').trim())] : [];
};

const resultOf = (
  title: string,
  results: readonly Repair[],
  isDryRun: boolean,
  ...more: Node[]
): HTMLElement =>
  element(
    'div',
    { class: 'note' },
    element('h3', {}, title),
    results.length === 0 ? element('p', {}, 'There is nothing to repair.') : null,
    element('ul', {}, ...outcomesOf(results, isDryRun).map(outcomeLine)),
    ...more,
  );

/**
 * Repairs differences: a dry run, whose result stays, then a confirmation, and the result. `differencesOf` says which are
 * meant; `changed` is called when repairs were made. When they move more than is allowed, the answer names the dry run
 * that another person has to approve.
 */
export const repairsPanel = (
  session: Session,
  id: string,
  differencesOf: () => Promise<readonly Difference[]>,
  changed: () => void,
): HTMLElement => {
  const [forecast, outcome] = [element('div', { role: 'status' }), element('div', { role: 'status' })];
  const apply = (dryRunId: string): void =>
    void show(outcome, async () => {
      const results = await applyDryRun(session, id, dryRunId);
      changed();
      return resultOf('Result', results, false);
    });
  const dryRun = button('Dry run of repairs', '', () => {
    outcome.replaceChildren();
    void show(forecast, async () => {
      const differences = await differencesOf();
      if (differences.length === 0) return resultOf('Dry run', [], true);
      const all = differences.map(({ number }) => number);
      const { run, leftOut, untried } = await makeDryRun(session, id, all);
      const wanted = run.repairs.filter(isPossible);
      const others = othersLine(leftOut, untried);
      if (wanted.length === 0) return resultOf('Dry run', run.repairs, true, ...others);
      const numbers = new Set(wanted.map(({ number }) => number));
      // It stays: an apply that needs an approval is repeated after it.
      const confirm = button(`Apply ${count(numbers.size)}`, 'danger', () => apply(run.dryRunId));
      const money = moneyLine(
        run,
        differences.filter(({ number }) => numbers.has(number)),
      );
      const actions = element('div', { class: 'actions' }, confirm);
      return resultOf('Dry run', run.repairs, true, ...others, money, actions);
    });
  });
  return element('div', {}, element('div', { class: 'actions' }, dryRun), forecast, outcome);
};
