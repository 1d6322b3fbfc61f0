import { randomUUID } from 'node:crypto';
import { createRequestSignatures } from '@platform/wallet-protocol/signing';
import { call, type ServiceSetup, type TestServer } from '@platform/openapi-tests/setup';

/** A reconciliation of one line that the ledger does not have, compared; resolves with its path. */
const reconcile = async (server: TestServer): Promise<string> => {
  const line = {
    transactionId: randomUUID(),
    playerId: 'nobody',
    operation: 'debit',
    amount: '1.00',
    currency: 'EUR',
    roundId: 'r',
    gameCode: 'dice-alpha',
    time: '2026-11-01T12:00:00.000Z',
  };
  const query = 'from=2026-11-01T00:00:00.000Z&to=2026-11-02T00:00:00.000Z';
  const response = await fetch(`${server.url}/v1/reconciliations?${query}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/x-ndjson' },
    body: `${JSON.stringify(line)}\n`,
  });
  const { reconciliationId } = (await response.json()) as { reconciliationId: string };
  const path = `/v1/reconciliations/${reconciliationId}`;
  await server.waitFor(
    'a statement is compared',
    async () => (await call(server, 'GET', path)).body['status'] === 'done',
  );
  return path;
};

/** A player with money, a session, a sealed round, an adjustment and a dry run. */
export const setUp = async (server: TestServer): Promise<ServiceSetup> => {
  const [playerId, gameCode, roundId] = [`exercise-${randomUUID()}`, 'dice-alpha', randomUUID()];
  await call(server, 'POST', '/v1/games', { gameCode, name: 'Dice' });
  await call(server, 'POST', '/v1/players', { playerId, currency: 'EUR', countryCode: 'DE' });
  await call(server, 'POST', `/v1/players/${playerId}/deposits`, {
    transactionId: randomUUID(),
    amount: '100.00',
  });
  const signatures = createRequestSignatures({ secrets: { current: server.hmacSecret } });
  let timestamp = '';
  // The service accepts what moves no money with 200, too, so the round is played here.
  const sign = (target: string, body: string): string => {
    const signed = signatures.sign(target, body);
    ({ timestamp } = signed);
    return signed.signature;
  };
  const bet = JSON.stringify({
    requestId: randomUUID(),
    playerId,
    transactionId: randomUUID(),
    roundId,
    gameCode,
    amount: '1.00',
  });
  await fetch(`${server.url}/callback/debit`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...signatures.headers('/callback/debit', bet) },
    body: bet,
  });
  // The session is there also when the game server does not answer yet.
  await call(server, 'POST', '/v1/launches', { playerId, gameCode });
  const { body } = await call(server, 'GET', `/v1/players/${playerId}/sessions`);
  const [session] = body['sessions'] as { sessionId: string }[];
  const adjustment = { transactionId: randomUUID(), amount: '1.00', reason: 'bonus', note: 'exercise' };
  await call(server, 'POST', `/v1/players/${playerId}/adjustments`, adjustment);
  // Both are done in the background.
  const round = `/v1/players/${playerId}/rounds/${roundId}`;
  await server.waitFor(
    'a round is sealed',
    async () => (await call(server, 'GET', `${round}/evidence`)).response.ok,
  );
  const reconciliation = await reconcile(server);
  const dryRun = await call(server, 'POST', `${reconciliation}/dry-runs`, { differences: [1] });
  const dryRunId = String(dryRun.body['dryRunId']);
  return {
    credentials: {
      bearer: server.token,
      signature: ({ target, body = '' }) => sign(target, body),
      timestamp: () => timestamp,
    },
    paths: [
      round,
      `/v1/games/${gameCode}`,
      `/v1/players/${playerId}/sessions/${session?.sessionId}`,
      `/v1/players/${playerId}/adjustments/${adjustment.transactionId}`,
      reconciliation,
      `${reconciliation}/dry-runs/${dryRunId}`,
    ],
    values: {
      playerId: [playerId, `new-${randomUUID()}`],
      roundId: [roundId],
      gameCode: [gameCode],
      currency: ['EUR'],
      amount: ['1.00'],
      differences: [[1]],
      dryRunId: [dryRunId],
      enabled: [true],
    },
    // Nobody approves what they made themselves.
    unreachable: ['approveDryRun success', 'approveAdjustment success'],
  };
};
