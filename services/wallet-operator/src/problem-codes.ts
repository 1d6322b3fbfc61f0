import type { ProblemCodes } from '@platform/service-kit/openapi';

/** The problem codes of the operations, for the OpenAPI document. */
export const problemCodes: ProblemCodes = {
  createPlayer: { 409: ['player_exists'], 422: ['currency_not_supported'] },
  createGame: { 409: ['game_exists'] },
  createDeposit: {
    409: ['duplicate_transaction'],
    422: ['player_disabled', 'player_self_excluded', 'balance_overflow', 'deposit_limit_reached'],
  },
  createWithdrawal: {
    409: ['duplicate_transaction'],
    422: ['player_disabled', 'player_self_excluded', 'not_enough_money'],
  },
  createAdjustment: {
    409: ['duplicate_transaction', 'approval_needed'],
    422: ['player_disabled', 'player_self_excluded', 'not_enough_money', 'balance_overflow'],
  },
  approveAdjustment: { 409: ['own_adjustment', 'nothing_to_apply'] },
  launchGame: {
    409: ['idempotency_key_used'],
    422: [
      'player_disabled',
      'player_self_excluded',
      'game_disabled',
      'country_unknown',
      'game_server_refused',
    ],
  },
  downloadSummary: { 422: ['too_many_lines'] },
  createReconciliation: { 409: ['too_many_reconciliations'] },
  makeDryRun: { 409: ['failed', 'comparing'] },
  approveDryRun: { 409: ['own_dry_run', 'nothing_to_apply'] },
  repairDifferences: {
    409: ['failed', 'comparing', 'dry_run_outdated', 'above_max_amount', 'approval_needed'],
  },
  getRoundEvidence: { 409: ['round_too_large', 'not_sealed', 'evidence_damaged'] },
};
