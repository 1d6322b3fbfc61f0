import { button, element } from '../element.ts';
import { replaceContent, show } from './parts.ts';
import type { Difference } from './reconciliation-data.ts';
import { moneyOf, outcomesOf, sendRepairs, type Outcome, type Repair } from './repairs.ts';
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
const moneyLine = (differences: readonly Difference[]): HTMLElement => {
  const money = moneyOf(differences).join(', ') || 'none';
  const players = [...new Set(differences.map(({ playerId }) => playerId))];
  const names = players.length <= shown ? players.join(', ') : players.length.toLocaleString();
  return element('p', {}, `Money: ${money}. Players: ${names}.`);
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
 * Repairs differences: a dry run, whose result stays, then a confirmation, the progress, and the result. `differencesOf`
 * says which are meant; `changed` is called when repairs were made.
 */
export const repairsPanel = (
  session: Session,
  id: string,
  differencesOf: () => Promise<readonly Difference[]>,
  changed: () => void,
): HTMLElement => {
  const [forecast, outcome] = [element('div', { role: 'status' }), element('div', { role: 'status' })];
  const apply = (numbers: readonly number[]): void => {
    let isStopped = false;
    const bar = element('progress', { max: String(numbers.length), value: '0', 'aria-label': 'Progress' });
    const text = element('p', {}, `0 of ${count(numbers.length)}`);
    const stop = button('Stop', 'quiet', () => (isStopped = true));
    const load = async (): Promise<Node> => {
      isStopped = false;
      replaceContent(outcome, element('div', { class: 'note progress' }, bar, text, stop));
      const report = (decided: number): void => {
        bar.value = decided;
        text.textContent = `${decided.toLocaleString()} of ${count(numbers.length)}`;
      };
      const isOver = () => isStopped || !outcome.isConnected;
      const results = await sendRepairs(session, id, numbers, false, report, isOver);
      changed();
      const rest = numbers.length - results.length;
      const stopped = element('p', {}, `Stopped; ${count(rest)} not begun.`);
      return resultOf('Result', results, false, ...(rest > 0 ? [stopped] : []));
    };
    void show(outcome, load);
    stop.focus();
  };
  const dryRun = button('Dry run of repairs', '', () => {
    outcome.replaceChildren();
    void show(forecast, async () => {
      const differences = await differencesOf();
      const all = differences.map(({ number }) => number);
      const results = await sendRepairs(session, id, all, true);
      // What waits may be possible after the others.
      const wanted = results.filter(({ status, reason }) => status === 'OK' || reason === 'earlier_first');
      if (!wanted.some(({ status }) => status === 'OK')) return resultOf('Dry run', results, true);
      const numbers = new Set(wanted.map(({ number }) => number));
      const confirm = button(`Apply ${count(numbers.size)}`, 'danger', () => {
        apply([...numbers]);
        actions.remove();
      });
      const money = moneyLine(differences.filter(({ number }) => numbers.has(number)));
      const actions = element('div', { class: 'actions' }, confirm);
      return resultOf('Dry run', results, true, money, actions);
    });
  });
  return element('div', {}, element('div', { class: 'actions' }, dryRun), forecast, outcome);
};
