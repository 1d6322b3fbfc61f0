import { exercise } from '@platform/openapi-tests';
import { serve } from '@platform/service-kit/testing';
import { expect, test } from 'vitest';
import { createStandIn } from '@platform/wallet-conformance/game-server/server';
import { seal, startSealingService } from './evidence.ts';
import { keys, secret } from './harness.ts';
import { arrange } from './subject.ts';

test('every operation answers as the document says', async () => {
  let operatorUrl = '';
  await using gameServer = await serve((req, res) => {
    createStandIn({ operatorUrl, secret, operatorId: 'op-1' }).emit('request', req, res);
  });
  const settings = { GAME_SERVER_URL: gameServer.url, OPERATOR_ID: 'op-1', SIGNATURE_TOLERANCE_S: '3600' };
  await using service = await startSealingService(settings);
  operatorUrl = service.url;
  const { sql } = service.context.database;
  const scope = 'wallet:adjust wallet:admin wallet:approve wallet:read wallet:audit';
  const {
    paths = [],
    values: { roundId: _sealed, ...values } = {},
    ...subject
  } = await arrange({
    url: service.url,
    token: await keys.token({ scope }),
    hmacSecret: secret,
    waitFor: async (_, isSo) => {
      await seal(sql);
      await expect.poll(isSo).toBe(true);
    },
  });
  const [playerId = ''] = values['playerId'] ?? [];
  await sql`insert into adjustments (player_id, transaction_id, amount, reason, note, requested_by)
    values (${String(playerId)}, 'a-1', 1000000, 'bonus', 'for somebody else to approve', 'somebody')`;
  const faults = await exercise({
    url: service.url,
    ...subject,
    credentialsWithoutScope: { bearer: await keys.token({ scope: 'quests:read' }) },
    paths: [
      ...paths,
      `/v1/players/${String(playerId)}/adjustments/a-1`,
      `/v1/players/${String(playerId)}/adjustments/a-1/approval`,
    ],
    // Without the round: what is sent to it later is not sealed, so that it has no evidence any more.
    values: { ...values, playerId: [playerId] },
    takesAnything: ['authenticate', 'debit', 'credit', 'getBalance', 'rollback'],
    // Random periods are rarely valid, and come before the body; statement.test.ts sends both. The dry run has nothing
    // to apply, so it cannot be approved; repair-brake.test.ts approves others. The session ends when the player or the
    // game is disabled before; sessions.test.ts ends others.
    unreachable: [
      'createReconciliation success',
      'createReconciliation 415',
      'approveDryRun success',
      'deleteSession success',
    ],
  });
  expect(faults).toEqual([]);
});
