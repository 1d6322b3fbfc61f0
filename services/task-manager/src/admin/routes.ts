import type { TokenVerifier } from '@platform/auth/bearer';
import { noStore } from '@platform/service-kit/record-versions';
import { route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { eventPage, SecurityEventQuery, SecurityEvents } from '../security/events.ts';
import { emptyResponse } from '../empty-response.ts';
import { Account, Accounts, UserPath, UserQuery } from './schema.ts';
import {
  audit,
  endAllSessions,
  findAccount,
  lockAccount,
  readAccount,
  sendPasswordReset,
  unlockAccount,
} from './use-cases.ts';

const tag = 'Administration';
const path = '/auth/admin/users';

/** The operations that change an account. */
const changes = [
  {
    method: 'post',
    action: '/lock',
    operationId: 'lockUser',
    summary: 'Lock an account',
    outcome: 'All sessions have ended, and nobody can log in',
    change: lockAccount,
    problems: [404],
  },
  {
    method: 'post',
    action: '/unlock',
    operationId: 'unlockUser',
    summary: 'Unlock an account',
    outcome: 'The user can log in',
    change: unlockAccount,
    problems: [404],
  },
  {
    method: 'post',
    action: '/password-reset',
    operationId: 'sendPasswordReset',
    summary: 'Mail a user a code for a new password',
    outcome: 'The mail will be sent, unless the last one is unused and less than three minutes old',
    change: sendPasswordReset,
    problems: [404, 409],
  },
  {
    method: 'delete',
    action: '/sessions',
    operationId: 'endUserSessions',
    summary: 'End all sessions of a user',
    outcome: 'The user has no session',
    change: endAllSessions,
    problems: [404],
  },
] as const;

/** Account operations for operators with the scope `accounts:admin`. The log records each call with its operator. */
export const adminRoutes = (context: Context, operators: TokenVerifier): Route[] => {
  const auth = operators.guard('accounts:admin');
  const { sql } = context.database;
  return [
    route(
      {
        method: 'get',
        path,
        operationId: 'findUsers',
        tag,
        summary: 'Find an account by email address',
        auth,
        query: UserQuery,
        responses: { 200: { description: 'One account or none', body: Accounts } },
      },
      async ({ query, caller }) => {
        const account = await findAccount(context, query.email);
        const userId = account && (JSON.parse(account) as { id: string }).id;
        audit(context, 'findUsers', { operator: caller.subject, userId });
        return { status: 200, headers: noStore, rawBody: `{"users":[${account ?? ''}]}` };
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/{id}`,
        operationId: 'getUser',
        tag,
        summary: 'One account',
        auth,
        params: UserPath,
        responses: { 200: { description: 'The account', body: Account } },
        problems: [404],
      },
      async ({ params: { id }, caller }) => {
        audit(context, 'getUser', { operator: caller.subject, userId: id });
        return { status: 200, headers: noStore, rawBody: await readAccount(sql, id) };
      },
    ),
    route(
      {
        method: 'get',
        path: `${path}/{id}/security-events`,
        operationId: 'listUserSecurityEvents',
        tag,
        summary: 'Security events of an account',
        auth,
        params: UserPath,
        query: SecurityEventQuery,
        responses: { 200: { description: 'One page; empty past the end', body: SecurityEvents } },
        problems: [404],
      },
      async ({ params: { id }, query, caller }) => {
        audit(context, 'listUserSecurityEvents', { operator: caller.subject, userId: id });
        await readAccount(sql, id);
        return { status: 200, headers: noStore, rawBody: await eventPage(sql, id, query) };
      },
    ),
    ...changes.map(({ action, outcome, change, ...operation }) =>
      route(
        {
          ...operation,
          path: `${path}/{id}${action}`,
          tag,
          auth,
          params: UserPath,
          responses: { 204: { description: outcome } },
        },
        ({ params, caller }) => {
          const call = { operator: caller.subject, userId: params.id };
          audit(context, operation.operationId, call);
          return emptyResponse(204, change(context, call));
        },
      ),
    ),
  ];
};
