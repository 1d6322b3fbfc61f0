import { pageLimitBody, pageLimitQuery, readPageList, type Page } from '@platform/pagination/list';
import type { Prunable } from '@platform/service-kit/pruning';
import { inTransaction, record, type Queries } from '@platform/service-kit/record';
import { route, type Route } from '@platform/service-kit/route';
import { instant } from '@platform/service-kit/text';
import type { ISql } from 'postgres';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { firstRow, isoTime } from '../db/sql.ts';
import { isSessionOpen, sessionEnd, type SessionTimes } from '../ledger/sessions.ts';
import { recordEvent } from '../reporting/audit.ts';
import { PlayerPath } from './players/schema.ts';
import { getPlayer, lockPlayer } from './players/use-cases.ts';

export const expiresAt = instant().meta({
  description: 'End of the session; callbacks that name the session extend it',
});

const Session = z
  .object({
    sessionId: z.uuid().meta({ description: 'Same as the id of the launch; not a credential' }),
    playerId: z.string(),
    gameCode: z.string(),
    createdAt: instant(),
    expiresAt,
  })
  .meta({ id: 'Session' });

type SessionRow = z.input<typeof Session>;

/** Sessions that are one day older than their maximum lifetime; deleted in the background. */
export const outdatedSessions = ({ SESSION_MAX_S }: { SESSION_MAX_S: number }): Prunable => ({
  table: 'sessions',
  outdated: `created_at < now() - interval '1 day' - ${SESSION_MAX_S} * interval '1 second'`,
});

const sessionColumns = (sql: ISql) => sql`
  session_id as "sessionId", player_id as "playerId", session.game_code as "gameCode",
  ${isoTime(sql, sql`session.created_at`)} as "createdAt", ${isoTime(sql, sql`expires_at`)} as "expiresAt"`;

/** Inserts the session of a launch, with the times of the database clock. */
export const insertSession = (
  sql: ISql,
  session: { tokenHash: string; playerId: string; gameCode: string; sessionId: string },
  times: SessionTimes,
) =>
  firstRow(sql<[SessionRow]>`
    insert into sessions as session (token_hash, player_id, game_code, created_at, expires_at, session_id)
    values (${session.tokenHash}, ${session.playerId}, ${session.gameCode}, now(),
      ${sql.unsafe(sessionEnd('now()', 'now()', times))}, ${session.sessionId})
    returning ${sessionColumns(sql)}`);

/** The valid sessions of a player. */
const openSessions = (sql: ISql, playerId: string) => sql`
  select ${sessionColumns(sql)} from sessions session left join games game on game.game_code = session.game_code
  where ${sql.unsafe(isSessionOpen('session', 'game', 'now()'))} and player_id = ${playerId}`;

/**
 * Ends all sessions of a locked player, or one of them. Sets their end to their creation instead of now: a batch of the
 * ledger that started earlier compares the end with its own start, and would still accept the session. The ledger also locks the player before sessions.
 */
export const endSessions = (sql: ISql, playerId: string, sessionId?: string) => sql`
  update sessions set expires_at = created_at
  where player_id = ${playerId} and expires_at > now() ${sessionId === undefined ? sql`` : sql`and session_id = ${sessionId}`}`;

const endAndRecord = async (
  tx: Queries,
  { playerId, sessionId, by }: { playerId: string; sessionId?: string; by: string },
): Promise<void> => {
  await endSessions(tx, playerId, sessionId);
  await recordEvent(tx, 'sessions_ended', { by, sessionId }, playerId);
};

/** Routes of valid sessions. Launches create them, and callbacks that name a session extend it. */
export const sessionRoutes = (context: Context): Route[] => {
  const admin = context.tokens.guard('wallet:admin');
  const { sql } = context.database;
  return [
    ...record({
      path: '/v1/players/{playerId}/sessions',
      basePath: '',
      params: PlayerPath.extend({ sessionId: z.uuid() }),
      parents: PlayerPath,
      tag: 'Launches',
      name: 'session',
      schema: Session,
      computed: ['expiresAt'],
      read: context.tokens.guard('wallet:read'),
      write: admin,
      sql,
      list: {
        summary: 'Valid sessions, newest first',
        query: z.strictObject(pageLimitQuery),
        body: pageLimitBody('sessions', Session),
        page: async (query, { params: { playerId } }) => {
          await getPlayer(context, playerId);
          const read = ({ limit, offset }: Page) => sql<SessionRow[]>`
            ${openSessions(sql, playerId)} order by session_id desc limit ${limit + 1} offset ${String(offset)}`;
          return JSON.stringify(await readPageList('sessions', query, read));
        },
      },
      find: async (on, { params: { playerId, sessionId } }, lock) => {
        if (lock) await lockPlayer(on, playerId);
        const [session] = await on<SessionRow[]>`${openSessions(on, playerId)} and session_id = ${sessionId}`;
        return session && JSON.stringify(session);
      },
      remove: {
        delete: (on, { params, caller: { subject: by } }) => endAndRecord(on, { ...params, by }),
      },
    }),
    route(
      {
        method: 'delete',
        path: '/v1/players/{playerId}/sessions',
        operationId: 'endSessions',
        tag: 'Launches',
        summary: 'End all sessions of a player',
        auth: admin,
        params: PlayerPath,
        responses: { 204: { description: 'All sessions have ended' } },
        problems: [404],
      },
      async ({ params: { playerId }, caller: { subject: by } }) => {
        await inTransaction(sql, async (tx) => {
          await lockPlayer(tx, playerId);
          await endAndRecord(tx, { playerId, by });
        });
        return { status: 204 };
      },
    ),
  ];
};
