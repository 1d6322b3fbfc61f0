import type { Guard } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { SessionName } from '../sessions/refresh-token.ts';

/**
 * Lets everybody pass. A request with a refresh cookie that this service has issued counts against the limit of its session,
 * not of its network, where anybody may use up the limit. It need not be the session's valid one.
 */
export const refreshGuard = ({
  refreshTokens,
  cookies,
}: Pick<Context, 'refreshTokens' | 'cookies'>): Guard<SessionName | undefined> => ({
  security: [],
  schemes: {},
  identify: (req) => {
    const token = refreshTokens.read(cookies.refresh.read(req) ?? '');
    return token?.issued ? token.session : undefined;
  },
  keyOf: (session) => session && `session:${session.id}`,
});
