import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@platform/auth/bearer';
import { Problem } from '@platform/service-kit/problem';
import { noStore } from '@platform/service-kit/record-versions';
import { anyone, noLookupLimit, route, type Guard, type Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { clientOf } from '../sessions/client.ts';
import type { SessionIds } from '../sessions/refresh-token.ts';
import { emptyResponse } from '../empty-response.ts';
import { isSameOrigin } from './cookies.ts';
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

/**
 * Admits every request. One with a refresh cookie that this service issued counts for the rate limit of its session instead of
 * its network, because other clients may use up the limit of the network. The cookie may be an outdated one.
 */
const refreshGuard = ({
  refreshTokens,
  cookies,
}: Pick<Context, 'refreshTokens' | 'cookies'>): Guard<SessionIds | undefined> => ({
  security: [],
  schemes: {},
  identify: (req) => {
    const token = refreshTokens.read(cookies.refresh.read(req) ?? '');
    return token?.issued ? token.session : undefined;
  },
  keyOf: (session) => session && `session:${session.id}`,
});

const tag = 'Auth';
/** Routes that read credentials without a guard set Vary themselves. */
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
        'For operators: ends the wait of a network. With an email, it also ends the waits of that account on this network ' +
        'and on networks from which the account has never logged in. The log records the operator.',
      auth: operators.guard('accounts:admin'),
      body: { schema: LoginWait, example: { address: '198.51.100.7', email: 'ada@example.test' } },
      responses: { 204: { description: 'Logins are possible again' } },
    },
    ({ caller, body }) => emptyResponse(204, liftLoginWait(context, caller.subject, body)),
  );

export const authRoutes = (context: Context): Route[] => {
  const { tokens, cookies, operators } = context;
  const auth = tokens.guard();

  const clearCookies = (req: IncomingMessage, res: ServerResponse): void => {
    for (const cookie of [cookies.access, cookies.refresh]) res.appendHeader('Set-Cookie', cookie.clear(req));
  };

  /** Sets the cookies of a session and returns the headers and the body of the response. */
  const setSessionCookies = (req: IncomingMessage, res: ServerResponse, session: Session) => {
    const { user, accessToken, expiresAt, refreshToken } = session;
    res.appendHeader('Set-Cookie', cookies.access.write(req, accessToken));
    res.appendHeader('Set-Cookie', cookies.refresh.write(req, refreshToken));
    return { headers: noStoreVary, body: { user, accessToken, expiresAt: expiresAt.toISOString() } };
  };

  /** The session of the access token in the request. Undefined without a valid token. */
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
        description:
          'Too many registrations from a network or for an email: 429. Too many passwords waiting to be hashed: 503.',
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
        return { status: 201, ...setSessionCookies(req, res, session) };
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/login',
        operationId: 'login',
        tag,
        summary: 'Log in with email and password',
        description:
          'After ten failures in a row for one email from one network: 429 with growing waits. After a hundred failures ' +
          'from one network, the network must wait. After a hundred for one email, all networks must wait for this email. ' +
          'These two limits do not apply to an account on a network from which it has logged in before.',
        auth: anyone,
        body: { schema: Login, example: { email: 'demo@example.test', password: 'try-me-out-2026' } },
        responses: { 200: { description: 'You are logged in', body: LoggedIn, headers: setsCookies } },
        problems: [401, 403],
      },
      async ({ body, req, res }) => {
        const session = await login(context, { ...body, ...clientOf(context, req) });
        return { status: 200, ...setSessionCookies(req, res, session) };
      },
    ),
    route(
      {
        method: 'get',
        path: '/auth/check',
        operationId: 'checkSession',
        tag,
        summary: 'Your account and when the token expires',
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
          'Exchanges the refresh cookie for new credentials. If the same cookie is sent again within 30 seconds, it gets ' +
          'credentials of the same session; if it is sent later, the session ends. Refused together with an ' +
          'access cookie of another session.',
        auth: refreshGuard(context),
        headers: { Cookie: 'The refresh cookie' },
        responses: {
          200: { description: 'You stay logged in', body: LoggedIn, headers: setsCookies },
          401: { description: 'The refresh token is not valid', headers: deletesCookies },
        },
        problems: [401, 403],
      },
      async ({ req, res }) => {
        const credentials = {
          accessToken: cookies.access.read(req),
          refreshToken: cookies.refresh.read(req),
          ...clientOf(context, req),
        };
        const beforeLookup = () => context.guessLimit.check(req, 'refresh_token');
        const session = await refresh(context, credentials, beforeLookup).catch((error: unknown) => {
          if (error instanceof Problem && error.status === 401 && isSameOrigin(req)) clearCookies(req, res);
          throw error;
        });
        return { status: 200, ...setSessionCookies(req, res, session) };
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
          'Afterwards every instance refuses the access tokens of the session. Cookies are ignored when a page of ' +
          'another origin caused the request.',
        auth: anyone,
        responses: { 204: { description: 'You have no session', headers: deletesCookies } },
      },
      async ({ req, res }) => {
        const unknownToken = await logout(context, {
          current: await currentSession(req),
          refreshToken: cookies.refresh.read(req),
          beforeLookup: () => context.guessLimit.check(req, 'refresh_token'),
        });
        if (unknownToken !== undefined) await context.guessLimit.count(req, unknownToken);
        if (isSameOrigin(req)) clearCookies(req, res);
        return { status: 204, headers: noStoreVary };
      },
    ),
  ];
};
