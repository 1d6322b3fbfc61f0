import type { Context } from '../context.ts';
import { planRepairs } from '../reconciliation/planning.ts';
import type { Side } from '../reconciliation/difference.ts';

/** Ids that the examples of the API document name. */
const [reconciliationId, withdrawnId, dryRunId] = [
  '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a90',
  '0198c2a4-7c1e-7d3a-9f21-5b8e4c6d7a91',
  '0199b5a0-0000-7000-8000-000000000000',
];
const colleague = 'demo-support';

/** A bet that the game server has and the ledger has not. */
const missingBet: Side = {
  line: 1,
  playerId: 'demo-2',
  operation: 'debit',
  amount: '12.50',
  currency: 'USD',
  roundId: 'demo-round',
  gameCode: 'dice-alpha',
  roundClosed: null,
  reverseTransactionId: null,
  time: '2026-01-05T12:00:00.000Z',
};

/** What waits for a second person: an adjustment over the limit, and the repair of a reconciliation. Can be repeated. */
export const loadOpenCases = async (context: Context): Promise<void> => {
  const { sql } = context.database;
  await sql`
    insert into adjustments (player_id, transaction_id, amount, reason, note, requested_by)
    values ('demo-1', 'demo-goodwill', 150000, 'goodwill', 'The game was away for a day', ${colleague})
    on conflict (player_id, transaction_id) do nothing`;
  for (const id of [reconciliationId, withdrawnId])
    await sql`
      insert into reconciliations (reconciliation_id, created_at, created_by, period_from, period_to, tolerance_s,
        touched_at, step, lines, differences)
      values (${id}, now(), ${colleague}, '2026-01-05', '2026-01-06', 300, now(), 'ended', 1, 1)
      on conflict (reconciliation_id) do nothing`;
  await sql`
    insert into reconciliation_differences (reconciliation_id, number, kind, player_id, transaction_id, there, repair)
    values (${reconciliationId}, 1, 'missing_here', ${missingBet.playerId}, 'demo-missing-bet',
      ${JSON.stringify(missingBet)}::text::jsonb, 'apply')
    on conflict (reconciliation_id, number) do nothing`;
  const { forecast } = await planRepairs(context, reconciliationId, [1]);
  await sql`
    insert into reconciliation_dry_runs (dry_run_id, reconciliation_id, created_at, created_by, repairs)
    values (${dryRunId}, ${reconciliationId}, now(), ${colleague}, ${JSON.stringify(forecast)}::text::jsonb)
    on conflict (dry_run_id) do nothing`;
};
