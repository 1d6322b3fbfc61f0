import { readPageList, type Page } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import type { Route } from '@platform/service-kit/route';
import type { Context } from '../../context.ts';
import { PlayerPath } from '../players/schema.ts';
import { endSessionsOf, lockPlayer, getPlayer } from '../players/use-cases.ts';
import { findSession, listSessions } from './queries.ts';
import { Session, SessionList, SessionPath, SessionQuery } from './schema.ts';

/** Sessions that hold. Launches make them; their times are moved by the callbacks that name them. */
export const sessionRecord = (context: Context): Route[] =>
  record({
    path: '/v1/players/{playerId}/sessions',
    basePath: '',
    params: SessionPath,
    parents: PlayerPath,
    tag: 'Launches',
    name: 'session',
    schema: Session,
    computed: ['expiresAt'],
    read: context.tokens.guard('wallet:read'),
    write: context.tokens.guard('wallet:admin'),
    sql: context.database.sql,
    list: {
      summary: 'Valid sessions, newest first',
      query: SessionQuery,
      body: SessionList,
      page: async (query, { params: { playerId } }) => {
        await getPlayer(context, playerId);
        const read = (page: Page) => listSessions(context.database.sql, playerId, page);
        return JSON.stringify(await readPageList('sessions', query, read));
      },
    },
    find: async (on, { params: { playerId, sessionId } }, lock) => {
      if (lock) await lockPlayer(on, playerId);
      const session = await findSession(on, playerId, sessionId);
      return session && JSON.stringify(session);
    },
    remove: {
      delete: (on, { params, caller: { subject: by } }) => endSessionsOf(on, { ...params, by }),
    },
  });
