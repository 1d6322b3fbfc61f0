import { button, element } from '../element.ts';
import type { Wallet, WalletAnswer } from './api.ts';
import { download } from './download.ts';
import { createFilters } from './filters.ts';
import { guideAddress } from './health-text.ts';
import { findLink } from './links.ts';
import { facts, field, money, nothing, show, table, time } from './parts.ts';
import { pager } from './pages.ts';
import { changeFilters, place } from './place.ts';
import type { Session } from './session.ts';
import { decimalOf } from './text.ts';

/** Saves JSON. JSON.stringify writes the same bytes as the service, so the signature of evidence stays valid. */
const save = (name: string, value: unknown): void =>
  download(name, new Blob([JSON.stringify(value)], { type: 'application/json' }));

const entryColumns = ['No.', 'At', 'Operation', 'Amount', 'Balance after', 'Transaction', 'Checkpoint'];

const evidenceOf = (file: Wallet['Evidence']): Node => {
  const { playerId, roundId, currency, entries, checkpoints } = file.evidence;
  const rows = entries.map((entry) => [
    entry.seq,
    time(entry.at),
    entry.operation,
    money(decimalOf(entry.amount), currency),
    money(decimalOf(entry.balanceAfter), currency),
    findLink(entry.transactionId),
    String(entry.checkpoint),
  ]);
  const newest = checkpoints.at(-1);
  return element(
    'div',
    {},
    facts([
      ['Player', findLink(playerId)],
      ['Round', findLink(roundId)],
      ['Entries', String(entries.length)],
      ['Sealed', time(newest?.sealedAt ?? null)],
    ]),
    element(
      'div',
      { class: 'actions' },
      button('Download evidence', '', () => save('evidence.json', file)),
    ),
    element('div', { class: 'list' }, table('Entries of the evidence', entryColumns, rows)),
  );
};

/** The form for the evidence of a round; the address keeps what was asked for. */
const roundEvidence = (session: Session): HTMLElement => {
  const input = (name: string) =>
    element('input', {
      required: '',
      maxlength: '255',
      autocomplete: 'off',
      value: place().filters.get(name) ?? '',
    });
  const [player, round] = [input('player'), input('round')];
  // Only the summary is read out, not up to 1,000 rows.
  const [summary, result] = [element('p', { class: 'unseen', role: 'status' }), element('div')];
  const load = (): void => {
    const path = [player, round].map(({ value }) => encodeURIComponent(value)).join('/rounds/');
    summary.textContent = '';
    void show(result, async () => {
      const file = await session.ask<WalletAnswer<'getRoundEvidence'>>(`/v1/players/${path}/evidence`);
      summary.textContent = `Entries with evidence: ${file.evidence.entries.length}`;
      return evidenceOf(file);
    });
  };
  const form = element(
    'form',
    { class: 'filters' },
    field('Player', player),
    field('Round id', round),
    element('button', { type: 'submit' }, 'Show evidence'),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    changeFilters({ player: player.value, round: round.value });
    load();
  });
  if (player.value !== '' && round.value !== '') load();
  return element('div', {}, form, summary, result);
};

const columns = ['Number', 'Sealed', 'Entries', 'Entries so far', 'Key'];

const checkpointsOf = (
  { checkpoints, page }: WalletAnswer<'listCheckpoints'>,
  go: (page: number) => void,
): Node => {
  if (checkpoints.length === 0) return nothing('Nothing is sealed yet.');
  const rows = checkpoints.map(({ number, sealedAt, entries, total, keyId }) => [
    String(number),
    time(sealedAt),
    String(entries),
    String(total),
    element('code', {}, keyId),
  ]);
  const saved = button('Download these checkpoints', 'quiet', () =>
    save('checkpoints.json', { checkpoints }),
  );
  return element(
    'div',
    {},
    element('div', { class: 'list' }, table('Checkpoints', columns, rows)),
    pager(page, go),
    element('div', { class: 'actions' }, saved),
  );
};

/** The evidence of a round, the public keys, and the checkpoints with the newest first. */
export const evidenceView = (session: Session): HTMLElement => {
  const [list, keys] = [element('div'), element('div', { role: 'status' })];
  const load = (): void => {
    const query = new URLSearchParams({ sort: '-number', page: String(filters.page()), limit: '25' });
    void show(list, async () =>
      checkpointsOf(
        await session.ask<WalletAnswer<'listCheckpoints'>>(`/v1/audit/checkpoints?${query}`),
        filters.go,
      ),
    );
  };
  const filters = createFilters({}, load);
  const saveKeys = button('Download public keys', 'quiet', () => {
    void show(keys, async () => {
      save('keys.json', await session.ask<WalletAnswer<'listSealingKeys'>>('/v1/audit/keys'));
      return 'Give these keys to third parties in person, not with the evidence.';
    });
  });
  load();
  return element(
    'section',
    { 'aria-label': 'Evidence' },
    element(
      'p',
      { class: 'soft intro' },
      'A file that proves to others which entries a round has, and that they were not changed since. ',
      element('a', { href: guideAddress('docs/wallet-operator.md#evidence') }, 'Guide'),
    ),
    roundEvidence(session),
    element('h2', {}, 'Checkpoints'),
    element('div', { class: 'actions' }, saveKeys),
    keys,
    list,
  );
};
