import type { IncomingMessage } from 'node:http';
import { hashOfSent } from '@platform/auth/path-tokens';
import { NotFound, Problem, Unavailable } from '@platform/service-kit/problem';
import type { Guard } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { tokenOpens } from '../stores/domain.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { hookEvents, type HookEvent } from './events.ts';

/** The address of a webhook without its token. */
export interface HookAddress {
  event: HookEvent;
  /** The provider in the path. */
  service: string | null;
}

/** The sender of a webhook, identified by the token of a store in the path. */
export interface Sender {
  store: KnownStore;
  address: HookAddress;
}

declare module 'http' {
  interface IncomingMessage {
    /** Hash of the webhook token in the path, computed once for each request; undefined for a malformed token. */
    hookToken?: { hash: string | undefined };
  }
}

/** Characters of a provider in the path. */
const segment = /^[\w.~-]{1,100}$/;

/** The last parts of the path as they were sent: no token and no provider needs escapes. */
const partsOf = ({ url = '' }: IncomingMessage): string[] => url.split('?', 1).join('').split('/').slice(-2);

const tokenHashOf = (req: IncomingMessage): string | undefined =>
  (req.hookToken ??= { hash: hashOfSent(partsOf(req)[1] ?? '') }).hash;

/**
 * Recognises the token in the path of a webhook. An unknown token is 404, and 503 while the database is
 * away, so that the sender tries again (docs/adr/0043).
 */
export const createTokenGuard = ({ tokens, oldUses }: Context, event: HookEvent): Guard<Sender> => ({
  security: [],
  schemes: {},
  keyOf: () => undefined,
  wasValid: (req) => tokens.wasValid(tokenHashOf(req)),
  identify: async (req) => {
    const service = hookEvents[event].service ? (partsOf(req)[0] ?? '') : null;
    if (service !== null && !segment.test(service)) throw new NotFound('webhook address');
    const found = await tokens.recognise(tokenHashOf(req));
    if (found.state === 'undecidable')
      throw new Unavailable('token_undecidable', 'The token can not be checked now; send it again later.');
    if (found.state === 'unknown')
      throw new Problem({
        status: 404,
        code: 'not_found',
        detail: 'There is no such webhook address.',
        unknownCredential: found.tokenHash,
      });
    const { store, tokenHash, purpose } = found.row;
    if (!tokenOpens(purpose, event, store.settings)) throw new NotFound('webhook address');
    if (found.inGrace) oldUses.count(tokenHash);
    return { store, address: { event, service } };
  },
});
