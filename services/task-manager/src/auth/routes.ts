import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@platform/auth/bearer';
import { Problem } from '@platform/service-kit/problem';
import { noStore } from '@platform/service-kit/record-versions';
import { anyone, noLookupLimit, route, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { isSameOrigin } from './cookies.ts';
import { clientOf } from '../sessions/client.ts';
import { whenDone } from '../when-done.ts';
import { refreshGuard } from './refresh-guard.ts';
import { Checked, LoggedIn, Login, LoginWait, Registration } from './schema.ts';
import {
  getSessionUser,
  liftLoginWait,
  login,
  logout,
  refresh,
  register,
  type LoggedIn as Session,
} from './use-cases.ts';

const tag = 'Auth';
/** For routes that read credentials without a guard, which would set Vary. */
const noStoreVary = { ...noStore, Vary: 'Authorization, Cookie' };
const setsCookies = { 'Set-Cookie': 'The access cookie and the refresh cookie, both HttpOnly' };
const deletesCookies = { 'Set-Cookie': 'Deletes both cookies' };

const liftRoute = (context: Context, operators: TokenVerifier): Route =>
  route(
    {
      method: 'post',
      path: '/auth/login-waits/lift',
      operationId: 'liftLoginWait',
      tag,
      summary: 'End the wait after failed logins',
      description:
        'For operators: ends the wait of a network and, with an email, of that account: from that network ' +
        'and from those it does not know. The log keeps who did it.',
      auth: operators.guard('accounts:admin'),
      body: { schema: LoginWait, example: { address: '198.51.100.7', email: 'ada@example.test' } },
      responses: { 204: { description: 'Logins are possible again' } },
    },
    ({ caller, body }) => whenDone(204, liftLoginWait(context, caller.subject, body)),
  );

export const authRoutes = (context: Context): Route[] => {
  const { tokens, cookies, operators } = context;
  const auth = tokens.guard();

  const clearCookies = (req: IncomingMessage, res: ServerResponse): void => {
    for (const cookie of [cookies.access, cookies.refresh]) res.appendHeader('Set-Cookie', cookie.clear(req));
  };

  /** Sets the cookies and returns the rest of the answer. */
  const loggedIn = (req: IncomingMessage, res: ServerResponse, session: Session) => {
    const { user, accessToken, expiresAt, refreshToken } = session;
    res.appendHeader('Set-Cookie', cookies.access.write(req, accessToken));
    res.appendHeader('Set-Cookie', cookies.refresh.write(req, refreshToken));
    return { headers: noStoreVary, body: { user, accessToken, expiresAt: expiresAt.toISOString() } };
  };

  /** The session of the request's access token; undefined without a valid one. */
  const currentSession = async (req: IncomingMessage) => {
    try {
      const { subject, sessionId = '' } = await auth.identify(req, noLookupLimit);
      return { userId: subject, id: sessionId };
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return undefined;
      throw error;
    }
  };

  return [
    route(
      {
        method: 'post',
        path: '/auth/register',
        operationId: 'register',
        tag,
        summary: 'Create a user and log in',
        description: 'Limited by network and by email: 429. When too many passwords wait to be hashed: 503.',
        auth: anyone,
        body: {
          schema: Registration,
          example: { email: 'my-name@example.test', password: 'correct horse battery', name: 'Ada' },
        },
        responses: { 201: { description: 'The new user', body: LoggedIn, headers: setsCookies } },
        problems: [409],
      },
      async ({ body, req, res }) => {
        const session = await register(context, { ...body, ...clientOf(context, req) });
        return { status: 201, ...loggedIn(req, res, session) };
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/login',
        operationId: 'login',
        tag,
        summary: 'Log in by email and password',
        description:
          'After ten failures in a row for one email from one network: 429 with growing waits. After a hundred ' +
          'failures a network waits too, and after a hundred for one email all networks that its account ' +
          'does not know; an account that has logged in from a network before does not wait there.',
        auth: anyone,
        body: { schema: Login, example: { email: 'demo@example.test', password: 'try-me-out-2026' } },
        responses: { 200: { description: 'You are logged in', body: LoggedIn, headers: setsCookies } },
        problems: [401, 403],
      },
      async ({ body, req, res }) => {
        const session = await login(context, { ...body, ...clientOf(context, req) });
        return { status: 200, ...loggedIn(req, res, session) };
      },
    ),
    route(
      {
        method: 'get',
        path: '/auth/check',
        operationId: 'checkSession',
        tag,
        summary: 'Who you are, and until when',
        auth,
        responses: { 200: { description: 'You are logged in', body: Checked } },
      },
      async ({ caller }) => ({
        status: 200,
        headers: noStore,
        body: {
          user: await getSessionUser(context.database.sql, caller.subject),
          expiresAt: caller.expiresAt.toISOString(),
        },
      }),
    ),
    route(
      {
        method: 'post',
        path: '/auth/refresh',
        operationId: 'refresh',
        tag,
        summary: 'Refresh the session',
        description:
          'Exchanges the refresh cookie for new credentials. A refresh token works once. For 30 seconds the token that was exchanged gets working credentials ' +
          'of the same session again; used later, it ends the session. With an access cookie of another ' +
          'session it is refused.',
        auth: refreshGuard(context),
        headers: { Cookie: 'The refresh cookie' },
        responses: {
          200: { description: 'You stay logged in', body: LoggedIn, headers: setsCookies },
          401: { description: 'The refresh token is not valid', headers: deletesCookies },
        },
        problems: [401, 403],
      },
      async ({ req, res }) => {
        const tokens = {
          accessToken: cookies.access.read(req),
          refreshToken: cookies.refresh.read(req),
          ...clientOf(context, req),
        };
        const beforeLookup = () => context.guessLimit.check(req, 'refresh_token');
        const session = await refresh(context, tokens, beforeLookup).catch((error: unknown) => {
          if (error instanceof Problem && error.status === 401 && isSameOrigin(req)) clearCookies(req, res);
          throw error;
        });
        return { status: 200, ...loggedIn(req, res, session) };
      },
    ),
    ...(operators === undefined ? [] : [liftRoute(context, operators)]),
    route(
      {
        method: 'get',
        path: '/auth/logout',
        operationId: 'logout',
        tag,
        summary: 'End your session, if you have one',
        description:
          'Every instance refuses its access tokens from then on. Cookies do not count when a page of ' +
          'another origin caused the request.',
        auth: anyone,
        responses: { 204: { description: 'You have no session', headers: deletesCookies } },
      },
      async ({ req, res }) => {
        const forged = await logout(context, {
          current: await currentSession(req),
          refreshToken: cookies.refresh.read(req),
          beforeLookup: () => context.guessLimit.check(req, 'refresh_token'),
        });
        if (forged !== undefined) await context.guessLimit.count(req, forged);
        if (isSameOrigin(req)) clearCookies(req, res);
        return { status: 204, headers: noStoreVary };
      },
    ),
  ];
};
