import { keys } from './harness.ts';
import { lineOf, reconcile, type alone, type DryRunView } from './reconciliations.ts';

/** Approves a dry run as the person `sub`. */
export const approve = async (
  url: string,
  id: string,
  dryRunId: string,
  sub: string,
  scope = 'wallet:approve',
) => {
  const answer = await fetch(`${url}/v1/reconciliations/${id}/dry-runs/${dryRunId}/approval`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${await keys.token({ scope, sub })}` },
  });
  return { status: answer.status, ...((await answer.json()) as Partial<DryRunView> & { code?: string }) };
};

/** A reconciliation that found bets of these amounts missing. */
export const missingBets = async (
  { url, players }: Awaited<ReturnType<typeof alone>>,
  amounts: readonly string[],
): Promise<string> => {
  const lines = amounts.map((amount) => lineOf({ playerId: players[0] ?? '', amount }));
  return (await reconcile(url, lines)).reconciliationId;
};

export const needsApproval = { status: 409, code: 'approval_needed' };
