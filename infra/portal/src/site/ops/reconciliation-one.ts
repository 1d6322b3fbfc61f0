import { button, element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { openDifference } from './difference-dialog.ts';
import { differenceRow } from './difference-row.ts';
import { download } from './download.ts';
import { createFilters } from './filters.ts';
import { choice, facts, nothing, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf, changeFilters, place } from './place.ts';
import {
  failureText,
  isRunning,
  kindText,
  pathOf,
  refreshMs,
  type KindCount,
  type Reconciliation,
} from './reconciliation-data.ts';
import { repairable } from './repairs.ts';
import { repairsPanel } from './repairs-panel.ts';
import type { Session } from './session.ts';
import { when } from './time.ts';

/** The state of a reconciliation as a badge. */
export const stateOf = ({ status }: Reconciliation): HTMLElement => {
  if (status === 'failed') return state('bad', 'failed');
  return state(status === 'done' ? 'good' : 'warn', status);
};

const progressOf = ({ status, lines, comparedLines }: Reconciliation): HTMLElement => {
  const text = `${comparedLines.toLocaleString()} of ${lines.toLocaleString()} lines compared`;
  const bar = element('progress', { 'aria-label': 'Progress', max: String(Math.max(lines, 1)) });
  if (status === 'comparing') bar.value = comparedLines;
  return element('div', { class: 'note progress' }, bar, element('p', {}, text));
};

const heading = (one: Reconciliation): string => {
  if (isRunning(one)) return `Differences so far: ${one.differences.toLocaleString()}`;
  if (one.status === 'done' && one.differences === 0)
    return 'The statement and the ledger agree in this period';
  return one.differences === 1 ? '1 difference' : `${one.differences.toLocaleString()} differences`;
};

const about = (one: Wallet['ReconciliationWithKinds']): HTMLElement => {
  const missing = one.fields.filter(({ lines }) => lines === 0).map(({ field }) => field);
  const kinds = one.kinds.map(({ kind, differences, open }) => {
    const repaired = differences === open ? '' : `, ${(differences - open).toLocaleString()} repaired`;
    return [kindText(kind), `${differences.toLocaleString()}${repaired}`] as const;
  });
  return element(
    'div',
    {},
    facts([
      ['State', stateOf(one)],
      ['From', when(one.from)],
      ['To', when(one.to)],
      ['Tolerance', `${one.tolerance} s`],
      ['Lines', one.lines.toLocaleString()],
      ['Sent', time(one.createdAt)],
      ['By', one.createdBy],
    ]),
    isRunning(one) ? progressOf(one) : null,
    missing.length === 0
      ? null
      : element('p', { class: 'note' }, `Not compared, because no line has them: ${missing.join(', ')}.`),
    one.failure === null ? null : element('p', { class: 'note error' }, failureText(one.failure)),
    element('h2', {}, heading(one)),
    kinds.length === 0 ? null : facts(kinds),
  );
};

const columns = [
  'No.',
  'Difference',
  'Player',
  'Transaction',
  'Round',
  'Statement',
  'Ledger',
  'Repair',
  'State',
];

/** The differences of a kind in pages, downloads, and repairs. */
const differencesOf = (session: Session, id: string, kinds: readonly KindCount[], changed: () => void) => {
  const [list, repairs, saved] = [
    element('div', { class: 'list' }),
    element('div'),
    element('p', { role: 'status' }),
  ];
  const open = (number: number): void => {
    changeFilters({ open: String(number) });
    const dialog = openDifference(session, id, number, reload);
    dialog.addEventListener('close', () => changeFilters({ open: '' }));
  };
  const load = (): void => {
    const query = new URLSearchParams({ ...filters.values(), page: String(filters.page()), limit: '25' });
    void show(list, async () => {
      const { differences, page } = await session.ask<WalletAnswer<'listDifferences'>>(
        `${pathOf(id)}/differences?${query}`,
      );
      if (differences.length === 0) return nothing('There are no differences of this kind.');
      const rows = differences.map((one) => differenceRow(one, () => open(one.number)));
      const shown = table('Differences', columns, rows);
      return element('div', {}, shown, pager(page, filters.go, ['Previous', 'Next']));
    });
  };
  const reload = (): void => {
    load();
    changed();
  };
  const save = (format: 'csv' | 'jsonl') =>
    button(`Download ${format.toUpperCase()}`, 'quiet', () => {
      void show(saved, async () => {
        const file = await session.file(`${pathOf(id)}/differences.${format}`);
        download(`reconciliation-${id}.${format}`, file);
        return 'The file has all differences.';
      });
    });
  const options = kinds.map(({ kind }) => [kind, kindText(kind)] as const);
  const kind = choice([['', 'All'], ...options]);
  const filters = createFilters({ kind: ['Differences', kind] }, load, save('csv'), save('jsonl'));
  const offerRepairs = (): void =>
    repairs.replaceChildren(repairsPanel(session, id, () => repairable(session, id, kind.value), reload));
  // A confirmation is for the kind that was counted.
  kind.addEventListener('change', offerRepairs);
  offerRepairs();
  load();
  const opened = Number(place().filters.get('open'));
  if (Number.isInteger(opened) && opened > 0) open(opened);
  return element('div', { class: 'differences dense' }, filters.form, saved, repairs, list);
};

/** Withdraws a reconciliation after a confirmation. */
const withdrawal = (session: Session, id: string, changed: () => void): HTMLElement => {
  const outcome = element('div', { role: 'status' });
  const sure = button('Withdraw now', 'danger', () => {
    void show(outcome, async () => {
      await session.ask(pathOf(id), 'DELETE');
      changed();
      return 'Withdrawn.';
    });
  });
  const ask = button('Withdraw …', 'quiet', () => {
    const meaning = 'Nothing more is repaired from it, and no repair waits for its differences.';
    outcome.replaceChildren(
      element(
        'div',
        { class: 'note' },
        element('p', {}, meaning),
        element('div', { class: 'actions' }, sure),
      ),
    );
    sure.focus();
  });
  return element('div', {}, element('div', { class: 'actions' }, ask), outcome);
};

/** One reconciliation: its progress until it is done, then its differences. */
export const oneReconciliation = (session: Session, id: string): HTMLElement => {
  const [summary, differences] = [element('div'), element('div')];
  const withdraw = withdrawal(session, id, () => load());
  const load = (): void => {
    void show(summary, async () => {
      const one = await session.ask<WalletAnswer<'getReconciliation'>>(pathOf(id));
      if (isRunning(one)) setTimeout(() => summary.isConnected && load(), refreshMs);
      else if (one.differences > 0 && differences.childNodes.length === 0)
        differences.append(differencesOf(session, id, one.kinds, load));
      withdraw.hidden = one.failure !== null;
      return about(one);
    });
  };
  load();
  return element(
    'div',
    {},
    element(
      'p',
      { class: 'links' },
      element('a', { href: addressOf('reconciliation') }, 'All reconciliations'),
    ),
    summary,
    withdraw,
    differences,
  );
};
