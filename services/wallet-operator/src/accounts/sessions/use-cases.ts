import { randomBytes } from 'node:crypto';
import { onceWithSecret } from '@platform/service-kit/idempotency';
import { NotFound, Problem } from '@platform/service-kit/problem';
import type { z } from 'zod';
import type { Context } from '../../context.ts';
import { getGame } from '../games/use-cases.ts';
import { playerRow } from '../players/use-cases.ts';
import { sessionHash } from './token-hash.ts';
import { serverOf } from './game-server.ts';
import type { Launch, NewLaunch } from './schema.ts';
import { findLaunch, insertSession, type LaunchRow } from './queries.ts';

const refuse = (code: string, detail: string) => new Problem({ status: 422, code, detail });

/** The address of a launch. */
export const launchPath = ({ launchId }: { launchId: string }): string => `/v1/launches/${launchId}`;

/**
 * Creates a session and asks the game server to open the game, which calls `authenticate` before it answers. An
 * Idempotency-Key is used up with the session, whatever the game server answers: docs/adr/0108.
 */
export const launch = async (
  ctx: Context,
  request: { owner: string; key: string | undefined },
  order: z.output<typeof NewLaunch>,
): Promise<z.input<typeof Launch>> => {
  const { playerId, gameCode, countryCode } = order;
  const server = serverOf(ctx);
  const player = await playerRow(ctx, playerId);
  const game = await getGame(ctx, gameCode);
  if (player.status === 'disabled') throw refuse('player_disabled', 'The player is locked.');
  if (player.excluded) throw refuse('player_self_excluded', 'The player is self-excluded.');
  if (!game.enabled) throw refuse('game_disabled', 'The game is disabled.');
  const country = countryCode ?? player.countryCode;
  if (country === null) throw refuse('country_unknown', 'Neither the request nor the player says a country.');

  const sessionToken = randomBytes(32).toString('base64url');
  const session = { tokenHash: sessionHash(sessionToken), playerId, gameCode };
  // Committed before the game server is called, because it looks for the session.
  const launched = await onceWithSecret(
    ctx.database.sql,
    { ...request, request: { path: '/v1/launches', body: order } },
    (tx) => insertSession(tx, session, ctx.env.SESSION_TTL_S),
    launchPath,
  );
  const answer = await server.launch({
    playerId,
    currency: player.currency,
    gameCode,
    countryCode: country,
    details: { sessionToken },
  });
  const url = [answer['launchUrl'], answer['gameUrl'], answer['url']].find((one) => typeof one === 'string');
  return { ...launched, launchUrl: url ?? null, gameServer: answer };
};

/** A launch whose session has not been deleted: that happens a day after it expired. Throws NotFound. */
export const getLaunch = async ({ database }: Context, launchId: string): Promise<LaunchRow> => {
  const row = await findLaunch(database.sql, launchId);
  if (row === undefined) throw new NotFound('launch');
  return row;
};
