import { randomUUID } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { requestSignature, walletOperator } from '@platform/client';
import { inherited } from '../../env.ts';
import type { Fault } from './faults.ts';
import { allOf, hold, repeat, send, type Mend, type Target } from './platform.ts';

const wallet = 'wallet-operator';
/** A player of the demo data, whom no client of the test uses. */
const quietPlayer = `(select player_id from players where player_id not like 'e2e-%' order by player_id limit 1)`;

const ask =
  (statement: string, ended: string) =>
  async ({ ownerOf }: Target): Promise<Mend> => {
    const { count } = await ownerOf(wallet).unsafe(statement);
    if (count === 0) throw new Error(`nothing changed: ${statement}`);
    return () => ownerOf(wallet).unsafe(ended);
  };

/** A proof of the whole ledger, as a person starts it. */
const prove = ({ file }: Target): Promise<void> => {
  const script = join(import.meta.dirname, '../../../../../services/wallet-operator/src/proof.ts');
  const env = { ...inherited, DATABASE_URL: file.services[wallet]?.databaseUrl };
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`proof: ${stderr}`);
  return Promise.resolve();
};

/** Of wallet-operator; these begin at once, since they last long. */
export const longFaults: readonly Fault[] = [
  {
    fault: 'the table of reconciliations locked: their number cannot be read, though the database answers',
    clears: 'the lock is released',
    alerts: ['ValuesOld wallet-operator'],
    provoke: ({ ownerOf }) => hold(ownerOf(wallet), 'lock table reconciliations in access exclusive mode'),
  },
  {
    fault: 'the newest checkpoint locked, while players play',
    clears: 'the lock is released',
    alerts: ['EntriesNotSealed wallet-operator'],
    provoke: ({ ownerOf }) => hold(ownerOf(wallet), 'lock table sealed_head in access exclusive mode'),
  },
  {
    fault: 'a round left open for two hours',
    clears: 'the round is closed',
    alerts: ['RoundsStuck wallet-operator'],
    provoke: ask(
      `update rounds set opened_at = now() - interval '2 hours' where (player_id, round_id) in
        (select player_id, round_id from rounds where closed_at is null limit 1)`,
      `update rounds set closed_at = now() where closed_at is null and opened_at < now() - interval '1 hour'`,
    ),
  },
];

/** Of wallet-operator, one after the other, and while the ledger is sealed. */
export const walletFaults: readonly Fault[] = [
  {
    fault: 'the ledger locked, while a game server sends 150 callbacks at a time',
    clears: 'the lock is released',
    alerts: ['CallbacksWait wallet-operator', 'ObjectiveMissed callbacks answered'],
    provoke: async ({ ownerOf, file }) => {
      const { hmacSecret, gameCode } = file.demo.wallet;
      const callbacks = walletOperator(file.gateway, requestSignature(hmacSecret));
      const [player] = await ownerOf(wallet).unsafe<[{ id: string }]>(`select ${quietPlayer} as id`);
      const debit = () => {
        const [requestId, transactionId, roundId] = [randomUUID(), randomUUID(), randomUUID()];
        const body = { requestId, playerId: player.id, transactionId, roundId, gameCode, amount: '0.01' };
        return callbacks.POST('/callback/debit', { body });
      };
      return allOf(
        await hold(ownerOf(wallet), 'lock table entries in access exclusive mode'),
        repeat(debit, { count: 150 }),
      );
    },
  },
  {
    fault: 'the row of a player locked by another transaction, while the player plays',
    clears: 'that transaction is ended',
    alerts: ['PlayersLocked wallet-operator'],
    provoke: ({ ownerOf }) =>
      hold(ownerOf(wallet), `select from players where player_id like 'e2e-%' for update`),
  },
  {
    fault: 'callbacks without a valid signature',
    clears: 'no more of them came for five minutes',
    alerts: ['CallbacksRefused wallet-operator'],
    provoke: ({ file }) =>
      Promise.resolve(repeat(() => send(`${file.gateway}/callback/balance`, { method: 'POST', body: '{}' }))),
  },
  {
    fault: 'the time of the last proof set back by three days, and its row locked',
    clears: 'the next proof',
    alerts: ['LedgerNotProved wallet-operator'],
    provoke: async ({ ownerOf }) => {
      await ownerOf(wallet)`update ledger_checks set proved_at = now() - interval '3 days'`;
      return hold(ownerOf(wallet), 'select from ledger_checks for update');
    },
  },
  {
    fault: 'the end of the last walk over the seals set back by nine days',
    clears: 'the next walk has ended',
    alerts: ['SealedEntriesNotChecked wallet-operator'],
    provoke: ask(
      `update ledger_checks set walked_at = now() - interval '9 days'`,
      `update ledger_checks set walked_at = now()`,
    ),
  },
  {
    fault: 'a balance raised by the owner of the database, without an entry',
    clears: 'the balance is corrected, and the program `proof` finds nothing',
    alerts: ['LedgerInconsistent wallet-operator'],
    provoke: async (target) => {
      const change = (sign: string) =>
        `update players set balance = balance ${sign} 100 where player_id = ${quietPlayer}`;
      const mend = await ask(change('+'), change('-'))(target);
      return allOf(() => prove(target), mend);
    },
  },
  {
    fault: 'a reconciliation that has not moved for two hours, because its lines are locked',
    clears: 'the lock is released',
    alerts: ['ReconciliationsFailing wallet-operator'],
    provoke: async (target) => {
      const mendLock = await hold(
        target.ownerOf(wallet),
        'lock table reconciliation_lines in access exclusive mode',
      );
      const mendRow = await ask(
        `insert into reconciliations (created_at, created_by, period_from, period_to, tolerance_s, step, touched_at, lines, fields)
          values (now() - interval '2 hours', 'alerts', now() - interval '1 day', now() - interval '3 hours', 60, 'lines',
            now() - interval '2 hours', 5, '{}')`,
        `delete from reconciliations where created_by = 'alerts'`,
      )(target);
      return allOf(mendRow, mendLock);
    },
  },
  {
    fault: 'the sums of the last two days missing, and the lock held under which they are stored',
    clears: 'the lock is released, and the sums are stored',
    alerts: ['SummaryOverdue wallet-operator'],
    provoke: async (target) => {
      const mendLock = await hold(target.ownerOf(wallet), 'select pg_advisory_xact_lock(4218333)');
      const mendSums = await ask(
        `insert into daily_sums (day, currency, game_code, entries, bets, wins, promotional, reversals, deposits, withdrawals,
          adjustments, closing) values (current_date - 3, 'XTS', '', 1, 0, 0, 0, 0, 0, 0, 0, 0)`,
        `delete from daily_sums where currency = 'XTS'`,
      )(target);
      return allOf(mendLock, mendSums);
    },
  },
];
