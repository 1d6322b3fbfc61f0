import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressList } from '@platform/auth/addresses';
import type { SecretBox } from '@platform/auth/secret-box';
import type { PathTokens } from '@platform/auth/path-tokens';
import { NotFound, Problem, Unavailable } from '@platform/service-kit/problem';
import type { FailureLimit } from '@platform/service-kit/failure-limit';
import type { Receipt, Stored } from '../inbox/receipt.ts';
import { tokenOpens } from '../stores/domain.ts';
import type { KnownStore } from '../stores/known-store.ts';
import type { TokenRow } from '../stores/tokens.ts';
import { taken, type HookAnswer } from './answer.ts';
import { readBody } from './body.ts';
import { clientAddress } from './client-address.ts';
import type { HookAddress } from './events.ts';
import { receiptOf } from './receipt.ts';

/** What of a received payment challenge the live answer needs. */
export interface Challenge {
  store: KnownStore;
  receipt: Receipt;
  stored: Stored | 'spooled';
}

export interface Reception {
  tokens: PathTokens<TokenRow>;
  /** Counts a use of a token that was rotated out. */
  countOldUse(tokenHash: string): void;
  /** Durable when it resolves. */
  accept(receipt: Receipt): Promise<Stored | 'spooled'>;
  failureLimit: FailureLimit;
  limit(res: ServerResponse, store: KnownStore): Promise<void>;
  completePayment(challenge: Challenge): Promise<HookAnswer>;
  isTrusted: AddressList;
  publicUrl: string;
  box: SecretBox;
  now(): Date;
}

/** How long a payment's event is left to the request that answers it before a worker looks at it. */
const liveMs = 60_000;

/** Token → limits → raw body → stored → answered. Everything else happens later. */
export const receive = async (
  reception: Reception,
  req: IncomingMessage,
  res: ServerResponse,
  address: HookAddress,
): Promise<HookAnswer> => {
  const isPayment = address.event === 'payment-auth-completed';
  reception.failureLimit.check(req);
  const found = await reception.tokens.recognise(address.token);
  if (found.state === 'unknown') {
    if (found.tokenHash !== undefined) await reception.failureLimit.count(req, found.tokenHash);
    throw new NotFound('webhook address');
  }
  if (found.state === 'undecidable')
    throw new Unavailable('token_undecidable', 'The token can not be checked now; send it again later.');
  const { store, tokenHash, purpose } = found.row;
  if (!tokenOpens(purpose, address.event, store.settings)) throw new NotFound('webhook address');
  if (found.inGrace) reception.countOldUse(tokenHash);
  // The browser of a customer, which can be anywhere, brings the result of a payment challenge.
  if (!isPayment && !store.allows(clientAddress(req, reception.isTrusted)))
    throw new Problem({ status: 403, code: 'address_not_allowed', detail: 'Not from this address.' });
  await reception.limit(res, store);

  const body = await readBody(req);
  const url = `${reception.publicUrl}${req.url}`;
  const { box, now } = reception;
  const receipt = receiptOf({ store, address, body, headers: req.headers, url, now: now(), box });
  if (!isPayment) {
    await reception.accept(receipt);
    return taken;
  }
  const held = { ...receipt, holdMs: liveMs };
  return reception.completePayment({ store, receipt: held, stored: await reception.accept(held) });
};
