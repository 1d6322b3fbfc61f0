import type { Page } from '@platform/pagination/list';
import { NotFound } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';
import type { z } from 'zod';
import { decimal, minorUnits } from '@platform/wallet-protocol/money';
import type { Context } from '../context.ts';
import { getPlayer } from '../accounts/players/use-cases.ts';
import { databaseNow } from '../db/time.ts';
import { inForce, pending, limitKinds, type Change, type Wanted } from './changes.ts';
import {
  changeLimits,
  isSlowToLimit,
  listChanges,
  listHistory,
  lockPlayer,
  type Setter,
} from './changes-queries.ts';
import { limitText, remainingOf, usedOf } from './domain.ts';
import type { LimitSet, NewLimits } from './schema.ts';
import { findSession } from './session-queries.ts';
import { readLimits } from './counters.ts';

/** The limits in force that the player, or the operator, has set. */
const limitsSetBy = (
  changes: readonly (Change & { setBy: Setter })[],
  setter: Setter,
  now: Date,
): z.input<typeof LimitSet> => {
  const view: z.input<typeof LimitSet> = {};
  const own = changes.filter(({ setBy }) => setBy === setter);
  for (const { kind, period, value } of inForce(own, now)) {
    if (value === null) continue;
    if (kind === 'session') view.sessionMinutes = Number(value);
    else if (period !== 'session') view[kind] = { ...view[kind], [period]: decimal(value) };
  }
  return view;
};

const wantedOf = ({ sessionMinutes, ...money }: z.output<typeof NewLimits>): Wanted[] =>
  limitKinds.flatMap(({ kind, period }) => {
    if (kind === 'session' || period === 'session')
      return sessionMinutes === undefined ? [] : [{ kind, period, value: BigInt(sessionMinutes) }];
    const amount = money[kind]?.[period];
    return amount === undefined ? [] : [{ kind, period, value: BigInt(minorUnits(amount)) }];
  });

/** The limits of a player, and how much of them is used. Throws NotFound. */
export const getLimits = async (ctx: Context, playerId: string) => {
  const { currency, timeZone } = await getPlayer(ctx, playerId);
  const { sql } = ctx.database;
  const now = await databaseNow(sql);
  const changes = await listChanges(sql, playerId);
  const playerLimits = (await readLimits(sql, [playerId], now, ctx.env.SESSION_BREAK_S)).get(playerId);
  return {
    playerId,
    currency,
    timeZone: timeZone ?? 'UTC',
    player: limitsSetBy(changes, 'player', now),
    operator: limitsSetBy(changes, 'operator', now),
    pending: pending(changes, now).map(({ kind, period, setBy, value, effectiveAt }) => ({
      kind,
      period,
      setBy,
      limit: value === null ? null : limitText(kind, value),
      effectiveAt: effectiveAt.toISOString(),
    })),
    lowest: (playerLimits?.limits ?? []).map((limit) => {
      const { kind, period, value, since } = limit;
      const used = playerLimits ? usedOf(playerLimits, limit) : 0n;
      return {
        kind,
        period,
        limit: limitText(kind, value),
        used: limitText(kind, used),
        remaining: limitText(kind, remainingOf(limit, used)),
        since: since.toISOString(),
      };
    }),
  };
};

/** Sets the limits of one setter; `planChanges` says when they are in force. Throws NotFound. */
export const putLimits = async (
  ctx: Context,
  by: string,
  playerId: string,
  body: z.output<typeof NewLimits>,
) => {
  const { setBy } = body;
  const change = (on: Sql) =>
    on.begin(async (sql) => {
      const now = await lockPlayer(sql, playerId);
      if (now === undefined) throw new NotFound('player');
      await changeLimits(sql, { playerId, setBy, by, now }, wantedOf(body), ctx.env.SESSION_BREAK_S);
    });
  // The first limit of a player adds up very many entries, so it gets a connection of its own.
  if (await isSlowToLimit(ctx.database.sql, playerId)) await ctx.firstLimitConnection.run(change);
  else await change(ctx.database.sql);
  return getLimits(ctx, playerId);
};

/** All changes of the limits of a player, newest first; one more than the page holds. Throws NotFound. */
export const limitHistory = async (ctx: Context, playerId: string, page: Page) => {
  await getPlayer(ctx, playerId);
  return listHistory(ctx.database.sql, playerId, page);
};

const minuteMs = 60_000;

/** Time and result of the newest session of play, for reality checks. Throws NotFound. */
export const getPlaySession = async (ctx: Context, playerId: string) => {
  const { currency } = await getPlayer(ctx, playerId);
  const breakS = ctx.env.SESSION_BREAK_S;
  const row = await findSession(ctx.database.sql, playerId, breakS);
  if (row === undefined) return { playerId, currency, session: null };
  const now = (await databaseNow(ctx.database.sql)).getTime();
  const started = new Date(row.startedAt);
  const lastBet = new Date(row.lastBetAt);
  const isOver = now - lastBet.getTime() >= breakS * 1000;
  const end = isOver ? lastBet.getTime() : now;
  const wagered = BigInt(row.wagered);
  const lost = BigInt(row.lost);
  return {
    playerId,
    currency,
    session: {
      startedAt: started.toISOString(),
      lastBetAt: lastBet.toISOString(),
      minutes: Math.max(0, Math.floor((end - started.getTime()) / minuteMs)),
      isOver,
      wagered: decimal(wagered),
      won: decimal(wagered - lost),
      result: decimal(-lost),
    },
  };
};
