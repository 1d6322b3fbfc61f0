import { randomBytes } from 'node:crypto';
import { withSecretIdempotencyKey } from '@platform/service-kit/idempotency';
import { Problem } from '@platform/service-kit/problem';
import { inTransaction } from '@platform/service-kit/record';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { sessionHash } from '../../ledger/sessions.ts';
import { recordEvent } from '../../reporting/audit.ts';
import { getGame } from '../games.ts';
import { getPlayer } from '../players/use-cases.ts';
import { insertSession } from '../sessions.ts';
import { serverOf } from './game-server.ts';
import { LaunchOutcome, type NewLaunch } from './schema.ts';
import { insertLaunch, updateOutcome } from './queries.ts';

export { findLaunch, listLaunches } from './queries.ts';

type Order = z.output<typeof NewLaunch>;

const refuse = (code: LaunchOutcome, detail: string) => new Problem({ status: 422, code, detail });

/** The path of a launch record. */
export const launchPath = ({ launchId }: { launchId: string }): string => `/v1/launches/${launchId}`;

/** Loads everything that a launch needs. Throws a Problem when the launch is refused before the game server is called. */
const prepare = async (ctx: Context, { playerId, gameCode, countryCode }: Order) => {
  const player = await getPlayer(ctx, playerId);
  const game = await getGame(ctx, gameCode);
  if (player.status === 'disabled') throw refuse('player_disabled', 'The player is disabled.');
  if (player.excluded) throw refuse('player_self_excluded', 'The player is self-excluded.');
  if (!game.enabled) throw refuse('game_disabled', 'The game is disabled.');
  const country = countryCode ?? player.countryCode;
  if (country === null) throw refuse('country_unknown', 'Neither the request nor the player has a country.');
  return { server: serverOf(ctx), currency: player.currency, country };
};

/**
 * Records why a launch failed; a refusal also in the audit trail. Ignores errors that are not an outcome of a launch.
 * `launchId` is set when the launch was already recorded as started.
 */
const recordFailure = async (
  { database }: Context,
  order: { playerId: string; gameCode: string; launchedBy: string },
  error: unknown,
  launchId?: string,
): Promise<void> => {
  const { status, code } = error instanceof Problem ? error : {};
  const outcome = LaunchOutcome.safeParse(code).data;
  if (outcome === undefined) return;
  const { playerId, gameCode, launchedBy: by } = order;
  await inTransaction(database.sql, async (tx) => {
    if (launchId !== undefined) await updateOutcome(tx, launchId, outcome);
    const details = { by, gameCode, code, launchId: launchId ?? (await insertLaunch(tx, order, outcome)) };
    if (status === 422) await recordEvent(tx, 'launch_refused', details, playerId);
  });
};

/**
 * Creates a session and asks the game server to open the game; it calls `authenticate` before it answers. The
 * Idempotency-Key is consumed together with the session, whatever the game server answers (docs/adr/0108). Every launch is
 * recorded (docs/adr/0116).
 */
export const launch = async (
  ctx: Context,
  request: { owner: string; key: string | undefined },
  body: Order,
) => {
  const { playerId, gameCode } = body;
  const { database, env, log } = ctx;
  const order = { playerId, gameCode, launchedBy: request.owner };
  const recordAndThrow = (launchId?: string) => async (error: unknown) => {
    try {
      await recordFailure(ctx, order, error, launchId);
    } catch (err) {
      log.warn({ err, launchId }, 'a failed launch was not recorded');
    }
    throw error;
  };
  const { server, currency, country } = await prepare(ctx, body).catch(recordAndThrow());

  const sessionToken = randomBytes(32).toString('base64url');
  // Committed before the game server is called, because its `authenticate` callback needs the session.
  const launched = await withSecretIdempotencyKey(
    database.sql,
    { ...request, request: { path: '/v1/launches', body } },
    async (tx) => {
      const launchId = await insertLaunch(tx, order, 'started');
      const session = { tokenHash: sessionHash(sessionToken), playerId, gameCode, sessionId: launchId };
      const times = { ttl: env.SESSION_TTL_S, longest: env.SESSION_MAX_S };
      const { sessionId: _, ...sessionFields } = await insertSession(tx, session, times);
      return { launchId, ...sessionFields };
    },
    launchPath,
  );
  const { launchId } = launched;
  const details = { sessionToken };
  const answer = await server
    .launch({ playerId, currency, gameCode, countryCode: country, details })
    .catch(recordAndThrow(launchId));
  // The game is open now, so an error of this update must not fail the launch.
  await updateOutcome(database.sql, launchId, 'launched').catch((err: unknown) =>
    log.warn({ err, launchId }, 'a successful launch is still recorded as started'),
  );
  const url = [answer['launchUrl'], answer['gameUrl'], answer['url']].find(
    (field) => typeof field === 'string',
  );
  return { ...launched, launchUrl: url ?? null, gameServer: answer };
};
