import { NotFound, Problem, Unavailable } from '@platform/service-kit/problem';
import type { Guard } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { tokenOpens } from '../stores/domain.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { parseAddress, type HookAddress } from './events.ts';

/** The sender of a webhook, identified by the token of a store in the path. */
export interface Sender {
  store: KnownStore;
  address: HookAddress;
}

/**
 * Recognises the token in the path of a webhook. An unknown token is 404, and 503 while the database is
 * away, so that the sender tries again (docs/adr/0043).
 */
export const createTokenGuard = ({ tokens, oldUses }: Context): Guard<Sender> => ({
  security: [],
  schemes: {},
  keyOf: () => undefined,
  wasValid: (req) => {
    const address = parseAddress(req.url ?? '');
    return address !== undefined && tokens.wasValid(address.token);
  },
  identify: async (req) => {
    const address = parseAddress(req.url ?? '');
    if (address === undefined) throw new NotFound('webhook address');
    const found = await tokens.recognise(address.token);
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
    if (!tokenOpens(purpose, address.event, store.settings)) throw new NotFound('webhook address');
    if (found.inGrace) oldUses.count(tokenHash);
    return { store, address };
  },
});
