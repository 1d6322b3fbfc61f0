import type { IncomingMessage } from 'node:http';
import { hashSentToken } from '@platform/auth/path-tokens';
import { NotFound, Problem, Unavailable } from '@platform/service-kit/problem';
import type { Guard } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { StoreSettings, TokenPurpose } from '../stores/settings.ts';
import { hookEvents, type HookEvent } from '../webhooks.ts';

/** The address of a webhook without its token. */
export interface HookAddress {
  event: HookEvent;
  /** The provider in the path. */
  service: string | null;
}

/** The sender of a webhook, identified by the token of a store in the path. */
export interface Sender {
  store: KnownStore;
  tokenHash: string;
  address: HookAddress;
}

/** Allowed characters and length of a provider in the path. */
const segment = /^[\w.~-]{1,100}$/;

/** The provider, if the path of the event has one, and the hash of the token; undefined if the token is malformed. */
const credentialOf = ({ url = '' }: IncomingMessage) => {
  // The path is not decoded, because tokens and providers contain no escapes.
  const [path = ''] = url.split('?', 1);
  const [provider = '', token = ''] = path.split('/').slice(-2);
  return { provider, tokenHash: hashSentToken(token) };
};

/**
 * Whether a token may be used for an event. The payments token is visible in the browsers of customers, so it
 * may only be used for payment-auth-completed.
 */
const isAllowedFor = (purpose: TokenPurpose, event: HookEvent, { payments }: StoreSettings): boolean =>
  event === 'payment-auth-completed'
    ? purpose === 'payments' || payments.every(({ acceptStoreToken }) => acceptStoreToken !== false)
    : purpose === 'events';

/**
 * Recognises the token in the path of a webhook. An unknown token returns 404, or 503 while the database is
 * unavailable, so that the sender tries again (docs/adr/0043).
 */
export const createTokenGuard = (
  { tokens, replacedTokenUses }: Context,
  event: HookEvent,
): Guard<Sender> => ({
  security: [],
  schemes: {},
  // The memory for bodies is shared fairly between stores.
  keyOf: ({ store }) => store.id,
  identify: async (req, limit) => {
    const { provider, tokenHash } = credentialOf(req);
    const service = hookEvents[event].service ? provider : null;
    if (service !== null && !segment.test(service)) throw new NotFound('webhook address');
    const recognised = await tokens.recognise(tokenHash, () => limit.checkGuesses('path_token'));
    if (recognised.state === 'undecidable')
      throw new Unavailable('token_undecidable', 'The token cannot be checked now; send it again later.');
    if (recognised.state === 'unknown')
      throw new Problem({
        status: 404,
        code: 'not_found',
        detail: 'There is no such webhook address.',
        unknownCredential:
          recognised.tokenHash === undefined ? undefined : { kind: 'path_token', hash: recognised.tokenHash },
      });
    const { store, purpose } = recognised.row;
    if (!isAllowedFor(purpose, event, store.settings)) throw new NotFound('webhook address');
    if (recognised.inGrace) replacedTokenUses.count(recognised.row.tokenHash);
    return { store, tokenHash: recognised.row.tokenHash, address: { event, service } };
  },
});
