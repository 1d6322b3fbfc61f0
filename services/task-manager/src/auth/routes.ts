import { Problem } from '@platform/service-kit/problem';
import { anyone, route, type Route } from '@platform/service-kit/route';
import type { Request, Response } from 'express';
import type { Context } from '../context.ts';
import { isCrossSite } from './credential-cookie.ts';
import { Checked, LoggedIn, Login, Registration } from './schema.ts';
import { login, logout, refresh, register, whoIs, type LoggedIn as Entry } from './use-cases.ts';

const tag = 'Auth';
const noStore = { 'Cache-Control': 'no-store' };
const sets = { 'Set-Cookie': 'The access cookie and the refresh cookie, out of the reach of scripts' };

export const authRoutes = (context: Context): Route[] => {
  const { tokens, cookies } = context;
  const caller = tokens.guard();

  const forgetCookies = (req: Request, res: Response): void => {
    for (const cookie of [cookies.access, cookies.refresh]) res.append('Set-Cookie', cookie.clear(req));
  };

  const admit = (req: Request, res: Response, { user, accessToken, expiresAt, refreshToken }: Entry) => {
    res.append('Set-Cookie', cookies.access.write(req, accessToken));
    res.append('Set-Cookie', cookies.refresh.write(req, refreshToken));
    return { headers: noStore, body: { user, accessToken, expiresAt: expiresAt.toISOString() } };
  };

  /** Whose valid access token the request carries, if anybody's. */
  const currentSession = async (req: Request) => {
    try {
      const { subject, sessionId = '' } = await caller.identify(req);
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
        caller: anyone,
        body: { schema: Registration },
        responses: { 201: { description: 'The new user', body: LoggedIn, headers: sets } },
        problems: [409],
      },
      async ({ body, req, res }) => ({ status: 201, ...admit(req, res, await register(context, body)) }),
    ),
    route(
      {
        method: 'post',
        path: '/auth/login',
        operationId: 'login',
        tag,
        summary: 'Log in by email and password',
        description:
          'Ten failures in a row for one email from one address, or a hundred a day from one address: 429.',
        caller: anyone,
        body: { schema: Login },
        responses: { 200: { description: 'You are logged in', body: LoggedIn, headers: sets } },
        problems: [401],
      },
      async ({ body, req, res }) => ({
        status: 200,
        ...admit(req, res, await login(context, { ...body, address: req.ip })),
      }),
    ),
    route(
      {
        method: 'get',
        path: '/auth/check',
        operationId: 'check',
        tag,
        summary: 'Who you are, and until when',
        caller,
        responses: { 200: { description: 'You are logged in', body: Checked } },
      },
      async ({ caller }) => ({
        status: 200,
        headers: noStore,
        body: {
          user: await whoIs(context, caller.subject),
          expiresAt: caller.expiresAt.toISOString(),
        },
      }),
    ),
    route(
      {
        method: 'get',
        path: '/auth/logout',
        operationId: 'logout',
        tag,
        summary: 'End your session, if you have one',
        description:
          'Its access tokens are refused from then on, everywhere. Cookies do not count when another site sent you here.',
        caller: anyone,
        responses: {
          204: { description: 'You have no session', headers: { 'Set-Cookie': 'No cookies any more' } },
        },
      },
      async ({ req, res }) => {
        await logout(context, {
          current: await currentSession(req),
          refreshToken: cookies.refresh.read(req),
        });
        if (!isCrossSite(req)) forgetCookies(req, res);
        return { status: 204, headers: noStore };
      },
    ),
    route(
      {
        method: 'post',
        path: '/auth/refresh',
        operationId: 'refresh',
        tag,
        summary: 'Exchange the refresh cookie for new credentials',
        description: 'Each refresh token is good once. One that is used twice ends the session.',
        caller: anyone,
        headers: { Cookie: 'The refresh cookie' },
        responses: { 200: { description: 'You stay logged in', body: LoggedIn, headers: sets } },
        problems: [401],
      },
      async ({ req, res }) => {
        const entry = await refresh(context, cookies.refresh.read(req)).catch((error: unknown) => {
          if (error instanceof Problem && error.status === 401 && !isCrossSite(req)) forgetCookies(req, res);
          throw error;
        });
        return { status: 200, ...admit(req, res, entry) };
      },
    ),
  ];
};
