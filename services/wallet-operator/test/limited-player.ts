import { randomUUID } from 'node:crypto';
import { addPlayer, callerOf } from './factories.ts';
import type { Running } from './harness.ts';
import type { person } from './people.ts';

/** Adds a player; returns the callbacks and the management requests of its limits, which `admin` sends. */
export const limitedPlayer = async (
  service: Running,
  admin: Awaited<ReturnType<typeof person>>,
  languageCode: string | null = null,
) => {
  const { sql } = service.context.database;
  const playerId = await addPlayer(sql);
  await sql`update players set language_code = ${languageCode} where player_id = ${playerId}`;
  const path = `/v1/players/${playerId}`;
  return {
    ...callerOf(service, playerId),
    path,
    set: (limits: object, setBy = 'player') => admin.put(`${path}/limits`, { setBy, ...limits }),
    limits: async () => (await admin.get(`${path}/limits`)).body,
    deposit: (amount: string, transactionId = randomUUID()) =>
      admin.post(`${path}/deposits`, { transactionId, amount }),
    refusals: async () => (await admin.get(`/v1/refusals?playerId=${playerId}`)).body['refusals'],
    events: async () =>
      (await admin.get(`/v1/audit/events?playerId=${playerId}`)).body['events'] as {
        details: object;
        kind: string;
      }[],
  };
};
