import { button, element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { whatHappened, whoActed, type AuditEvent } from './audit-text.ts';
import { createFilters } from './filters.ts';
import { findLink, playerLink } from './links.ts';
import { facts, nothing, show, state, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { addressOf } from './place.ts';
import type { Session } from './session.ts';
import { pretty } from './text.ts';

const code = (text: string) => element('code', {}, text);

const resultOf = ({ ok, checkedAt, players, entries, violations }: Wallet['Proof']): Node =>
  element(
    'div',
    { class: 'note' },
    facts([
      [
        'Result',
        ok ? state('good', 'The ledger is consistent') : state('bad', `${violations.length} violations`),
      ],
      ['Players', players.toLocaleString()],
      ['Entries', entries.toLocaleString()],
      ['Checked', time(checkedAt)],
    ]),
    violations.length === 0
      ? null
      : table(
          'Violations',
          ['Kind', 'Player', 'Transaction', 'Detail'],
          violations.map((one) => [
            code(one.kind),
            playerLink(one.playerId),
            findLink(one.transactionId),
            one.detail,
          ]),
        ),
  );

/** The sentence of an event, with a link to its reconciliation if it has one. */
const whatCell = (event: AuditEvent): HTMLElement => {
  const { reconciliationId: id, number } = event.details;
  const open = typeof number === 'number' ? String(number) : '';
  const href = typeof id === 'string' ? addressOf('reconciliation', { id, open }) : undefined;
  const link = href === undefined ? null : element('a', { href }, 'Open');
  return element('span', { class: 'what' }, `${whatHappened(event)} `, link);
};

/** The verification of the ledger, and the audit log. */
export const ledgerView = (session: Session): HTMLElement => {
  const proof = element('div', { role: 'status' });
  let isProving = false;
  const prove = button('Verify the ledger', '', () => {
    if (isProving) return;
    isProving = true;
    void show(proof, async () =>
      resultOf(await session.ask<WalletAnswer<'proveLedger'>>('/v1/audit/proof')),
    ).finally(() => (isProving = false));
  });
  const list = element('div', { class: 'list' });
  const load = (): void => {
    const query = new URLSearchParams({ ...filters.values(), page: String(filters.page()), limit: '25' });
    void show(list, async () => {
      const found = await session.ask<WalletAnswer<'listAuditEvents'>>(`/v1/audit/events?${query}`);
      if (found.events.length === 0) return nothing('There are no audit events.');
      const rows = found.events.map((event) => [
        time(event.at),
        element('span', {}, whoActed(event)),
        whatCell(event),
        playerLink(event.playerId),
        element(
          'details',
          {},
          element('summary', {}, 'Details'),
          element('pre', { tabindex: '0' }, pretty(event.details)),
        ),
      ]);
      return element(
        'div',
        {},
        table('Audit log', ['When', 'Who', 'What', 'Player', 'Details'], rows),
        pager(found.page, filters.go),
      );
    });
  };
  const player = element('input', { maxlength: '255', autocomplete: 'off' });
  const filters = createFilters({ playerId: ['Player', player] }, load);
  load();
  return element(
    'section',
    { 'aria-label': 'Ledger' },
    element(
      'p',
      { class: 'soft intro' },
      'Compares every balance with its entries in one snapshot. Callbacks are not interrupted.',
    ),
    element('div', { class: 'actions' }, prove),
    proof,
    element('h2', {}, 'Audit log'),
    filters.form,
    list,
  );
};
