import { constant, onValue, series, wallet, type Case, type Series } from './series.ts';

/** No value, because promtool does not support NaN, which these metrics have before their first value. */
const absent = constant('_');

const proof = (age: string, walkAge: string): Series => ({
  [series('wallet_proof_age_seconds', wallet)]: age,
  [series('wallet_seal_walk_age_seconds', wallet)]: walkAge,
});

/** Cases for the alerts on wallet-operator. */
export const walletCases: readonly Case[] = [
  onValue('LedgerInconsistent', 'wallet_proof_ok', {
    seriesLabels: wallet,
    faultyValue: 0,
    healthyValue: '_',
    at: 1,
    summary: 'Something in the ledger is wrong',
  }),
  {
    alert: 'LedgerNotProved',
    fault: proof(absent, '172700+60x120'),
    healthy: proof(constant(3600), '172700+60x120'),
    at: 5,
    labels: { service: 'wallet-operator' },
    summary: 'The ledger has not been proved for two days',
  },
  {
    alert: 'LedgerNotProved',
    fault: proof('172700+60x120', constant(3600)),
    healthy: proof(constant(3600), constant(3600)),
    at: 5,
    labels: { service: 'wallet-operator' },
    summary: 'The ledger has not been proved for two days',
  },
  onValue('SealedEntriesNotChecked', 'wallet_seal_walk_age_seconds', {
    seriesLabels: wallet,
    faultyValue: 9 * 86_400,
    healthyValue: 7 * 86_400,
    at: 1,
    summary: 'The sealed entries were last compared with their seals 9d 0h 0m 0s ago',
  }),
  onValue('RoundsStuck', 'wallet_stuck_rounds', {
    seriesLabels: wallet,
    faultyValue: 2,
    healthyValue: 0,
    at: 61,
    summary: '2 rounds are open for too long',
  }),
  onValue('CallbacksWait', 'wallet_waiting', {
    seriesLabels: wallet,
    labels: wallet,
    // All callbacks time out at the same time and are sent again.
    faultyValue: '120 0 120 0',
    healthyValue: 20,
    at: 2,
    summary:
      '120 callbacks wait at wallet-1; with MAX_IN_PROGRESS (160) requests in progress, more are refused',
  }),
  onValue('PlayersLocked', 'wallet_locked_players', {
    seriesLabels: wallet,
    faultyValue: 1,
    healthyValue: 0,
    at: 2,
    summary: 'Callbacks of 1 players wait because another transaction holds their row',
  }),
  onValue('EntriesNotSealed', 'wallet_unsealed_seconds', {
    seriesLabels: wallet,
    faultyValue: 600,
    healthyValue: 10,
    at: 6,
    summary: 'Entries of the ledger wait for their checkpoint for 10m 0s',
  }),
  onValue('SummaryOverdue', 'wallet_summary_overdue_seconds', {
    seriesLabels: wallet,
    faultyValue: 10_800,
    healthyValue: 0,
    at: 16,
    summary: 'The sums of a day that ended 3h 0m 0s ago are not stored',
  }),
  onValue('ReconciliationsFailing', 'wallet_failing_reconciliations', {
    seriesLabels: wallet,
    faultyValue: 1,
    healthyValue: 0,
    at: 16,
    summary: 'Reconciliations that failed or do not move: 1',
  }),
  {
    alert: 'CallbacksRefused',
    fault: {
      'wallet_callbacks_total{service="wallet-operator",status="ERROR_INVALID_SIGNATURE"}': '0+120x120',
    },
    healthy: {
      'wallet_callbacks_total{service="wallet-operator",status="ERROR_NOT_ENOUGH_MONEY"}': '0+120x120',
    },
    at: 15,
    labels: { service: 'wallet-operator' },
    summary: 'Callbacks are refused: wrong signatures, or their outcome is unknown',
  },
];
