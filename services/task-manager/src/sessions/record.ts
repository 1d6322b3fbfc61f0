import { sessionEnded, type Caller } from '@platform/auth/bearer';
import { pageListJson, pageOf, slice } from '@platform/pagination/list';
import { record } from '@platform/service-kit/record';
import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { recordEvent } from '../security/events.ts';
import { clientOf } from './client.ts';
import { findClient, findSession, listSessions } from './queries.ts';
import { Session, SessionPath, SessionQuery, Sessions } from './schema.ts';
import { deleteSessions, lockSession, revokeSessions } from './use-cases.ts';

const tag = 'Sessions';

/** Routes with which users list and end their sessions. */
export const sessionRoutes = (context: Context): Route[] => {
  const { tokens, database } = context;
  const { sql } = database;
  const user = tokens.guard();
  const currentSession = ({ caller }: { caller: Caller }) => ({
    userId: caller.subject,
    id: caller.sessionId ?? '',
  });
  const routes = record({
    path: '/auth/sessions',
    basePath: '/api/v1',
    params: SessionPath,
    tag,
    name: 'session',
    schema: Session,
    computed: ['current', 'lastUsedAt', 'network', 'expiresAt'],
    read: user,
    write: user,
    sql,
    list: {
      summary: 'Your sessions, newest first',
      query: SessionQuery,
      body: Sessions,
      page: async (query, target) => {
        const page = pageOf(query);
        const rows = await listSessions(sql, currentSession(target), page);
        return pageListJson('sessions', page, slice(rows, page.limit));
      },
    },
    find: (tx, target, lock) => findSession(tx, currentSession(target), target.params.id, lock),
    remove: {
      delete: async (tx, { params, caller }) => {
        const client = await findClient(tx, currentSession({ caller }));
        if (client === undefined) throw sessionEnded();
        await recordEvent(tx, caller.subject, 'session_ended', client);
        await deleteSessions(tx, caller.subject, { only: params.id });
      },
    },
    committed: ({ params, caller }) => revokeSessions(context, caller.subject, [params.id]),
  });
  const deleteOthers = route(
    {
      method: 'delete',
      path: '/auth/sessions',
      operationId: 'deleteOtherSessions',
      tag,
      summary: 'End all your other sessions',
      auth: user,
      responses: { 204: { description: 'This is your only session' } },
    },
    async (target) => {
      const { userId, id } = currentSession(target);
      const ended = await sql.begin(async (tx) => {
        await lockSession(tx, { userId, id });
        await recordEvent(tx, userId, 'other_sessions_ended', clientOf(context, target.req));
        return deleteSessions(tx, userId, { except: id });
      });
      await revokeSessions(context, userId, ended);
      return { status: 204, headers: noStore };
    },
  );
  return [...routes, deleteOthers];
};
