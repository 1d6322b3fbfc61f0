import { element } from '../element.ts';
import type { WalletAnswer } from './api.ts';
import { createFilters } from './filters.ts';
import { guideAddress } from './health-text.ts';
import { nothing, show, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf, place } from './place.ts';
import { isRunning, refreshMs, type Reconciliation } from './reconciliation-data.ts';
import { oneReconciliation, stateOf } from './reconciliation-one.ts';
import { uploadForm } from './reconciliation-upload.ts';
import type { Session } from './session.ts';

const columns = ['Sent', 'Period from', 'Period to', 'Lines', 'Differences', 'State', 'By'];

const row = (one: Reconciliation) => [
  element('a', { href: addressOf('reconciliation', { id: one.reconciliationId }) }, time(one.createdAt)),
  time(one.from),
  time(one.to),
  one.lines.toLocaleString(),
  one.differences.toLocaleString(),
  stateOf(one),
  one.createdBy,
];

/** All reconciliations, the newest first, and the form for another one. The list is refreshed while one of them changes. */
const allReconciliations = (session: Session): HTMLElement => {
  const list = element('div', { class: 'list' });
  let isSending = false;
  let next: ReturnType<typeof setTimeout> | undefined;
  const load = (): void => {
    clearTimeout(next);
    const query = new URLSearchParams({ page: String(filters.page()), limit: '25' });
    void show(list, async () => {
      const { reconciliations, page } = await session.ask<WalletAnswer<'listReconciliations'>>(
        `/v1/reconciliations?${query}`,
      );
      if (isSending || reconciliations.some(isRunning))
        next = setTimeout(() => list.isConnected && load(), refreshMs);
      if (reconciliations.length === 0) return nothing('No statement has been compared yet.');
      const shown = table('Reconciliations', columns, reconciliations.map(row));
      return element('div', {}, shown, pager(page, filters.go));
    });
  };
  const filters = createFilters({}, load);
  load();
  const upload = uploadForm(session, (sending) => {
    isSending = sending;
    load();
  });
  return element('div', {}, upload, element('h2', {}, 'Reconciliations'), list);
};

/** Comparisons of the ledger with statements of the game server; the address may name one of them. */
export const reconciliationView = (session: Session): HTMLElement => {
  const id = place().filters.get('id');
  return element(
    'section',
    { 'aria-label': 'Reconciliation' },
    element(
      'p',
      { class: 'soft intro' },
      'Compares the ledger with a statement of the game server, line by line, and repairs what the contract allows. ',
      element('a', { href: guideAddress('docs/wallet-operator.md#reconciliation') }, 'Guide'),
    ),
    id === null ? allReconciliations(session) : oneReconciliation(session, id),
  );
};
