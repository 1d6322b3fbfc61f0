import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFromSubscription } from '@platform/outgoing-webhooks';
import { readBody } from '@platform/service-kit/body';
import { createLru } from '@platform/service-kit/lru';
import { networksOf, widestNetworkOf, type Network } from '@platform/service-kit/network';
import { Problem } from '@platform/service-kit/problem';
import { createRequestRateLimit } from '@platform/service-kit/rate-limit';
import type { AnyAnswer, Route } from '@platform/service-kit/route';
import type { Context } from '../context.ts';
import { answerPayment } from '../payments/use-cases.ts';
import { readable } from '../providers/payload-parsing.ts';
import type { EventToStore } from '../inbox/inbox.ts';
import type { KnownStore } from '../stores/known-store.ts';
import { receivedEventOf, reportUnreadable } from './received-event.ts';
import type { HookAddress, Sender } from './token-guard.ts';

/** The answer to nearly every webhook. */
const accepted: AnyAnswer = { status: 200, rawBody: '{}' };

/** The largest body of a webhook, in bytes. */
export const maxBody = 1_048_576;

/**
 * For this time only the request itself may process the event of a payment; then a worker may claim it. If the provider
 * takes longer, both query it, which is harmless; if the instance crashed, the worker settles the payment soon.
 */
const requestHoldMs = 4000;

/** In bytes. Smaller, because the browser of every customer has this token; a challenge result has at most 20 kB. */
const maxChallengeBody = 65_536;

/**
 * Limits the requests per minute of each store that has such a limit. Requests with `networks` are counted separately for
 * each network, because any customer has the payments token and must not block other customers or the store's webhooks.
 */
const createStoreLimit = ({ redis }: Context) => {
  const limits = createLru(1000, 0, (perMinute: number) =>
    createRequestRateLimit({
      redis,
      prefix: `store-webhooks:hooks:${perMinute}`,
      points: perMinute,
      seconds: 60,
    }),
  );
  return async (
    res: ServerResponse,
    { id, settings }: KnownStore,
    networks?: readonly Network[],
  ): Promise<void> => {
    const perMinute = settings.requestsPerMinute;
    if (perMinute == null) return;
    const counters = networks?.map(({ name, factor }) => ({ name: `a:${id} ${name}`, factor }));
    await limits.memo(perMinute).count(res, counters ?? [{ name: id, factor: 1 }]);
  };
};

const storeEvent = async ({ inbox, tracker }: Context, received: EventToStore) => {
  const stored = await inbox.storeEvent(received);
  if (stored !== 'duplicate') reportUnreadable(tracker, received.event);
  return stored;
};

/**
 * Stores the event of a payment and answers it. An event without a payment, or above the limit of unsettled events, is only
 * answered and not stored, unless it must be retried until its payment has a result. During an outage it is unknown whether
 * there is a payment, so all events are stored until they fill half of the spool; webhooks have the other half.
 */
const receivePayment = async (
  context: Context,
  received: EventToStore,
  network: string,
): Promise<AnyAnswer | undefined> => {
  const { event, store } = received;
  const unsettled =
    event.entity === null ? undefined : context.unsettledLimit.begin(store.id, network, event.body.length);
  let isSettled = false;
  try {
    const stored = unsettled === undefined ? 'unstored' : await storeEvent(context, received);
    const outcome = await answerPayment(context, received, stored, network);
    isSettled = outcome.isNew === true;
    const hasRoom = context.inbox.spool.bytes < context.env.SPOOL_MAX_BYTES / 2;
    const mustStore = outcome.isRetried === true || (outcome.isUndecided === true && hasRoom);
    if (stored === 'unstored' && mustStore)
      await storeEvent(context, received).catch((err: unknown) =>
        context.log.warn({ err }, 'a payment event was answered but not stored'),
      );
    return outcome.redirect;
  } finally {
    unsettled?.end(isSettled);
  }
};

/** Receives a webhook of a known sender: limits → raw body → store → answer. Processing happens later. */
export const createReceiver = (context: Context): Route['handle'] => {
  const { env, box, now, nextId, clientAddress, bodyBudget, reading, storedLimit } = context;
  const limitStore = createStoreLimit(context);

  /** A separate function, because variables of the handler, such as the parsed body, stay in memory until the event is stored. */
  const eventToStore = (
    store: KnownStore,
    address: HookAddress,
    req: IncomingMessage,
    body: Buffer,
  ): EventToStore => {
    const { headers } = req;
    const url = `${env.PUBLIC_URL}${req.url}`;
    const receivedAt = now();
    const content = readable(body, headers['content-type']);
    const request = { store, address, body, content, headers, url, receivedAt };
    const event = receivedEventOf(box, nextId(receivedAt.getTime()), request);
    if (address.event === 'payment-auth-completed') event.holdMs = requestHoldMs;
    return { event, store };
  };

  return async ({ caller, req, res }) => {
    const { store, tokenHash, address } = caller as Sender;
    const isPayment = address.event === 'payment-auth-completed';
    // Not 508 (Loop Detected), because alerts count a 5xx as a failure of the service.
    if (isFromSubscription(req.headers))
      throw new Problem({
        status: 403,
        code: 'loop_detected',
        detail: 'A subscription may not send to a webhook address: its changes would cause further changes.',
      });
    // A payment result comes from the browser of a customer, which can be anywhere.
    if (!isPayment && !store.allows(clientAddress(req)))
      throw new Problem({
        status: 403,
        code: 'address_not_allowed',
        detail: 'The store does not accept webhooks from this address.',
      });
    await limitStore(res, store, isPayment ? networksOf(clientAddress(req)) : undefined);
    // The events of payments have limits of their own.
    if (!isPayment) storedLimit.require(tokenHash);
    const limit = isPayment ? maxChallengeBody : maxBody;
    const body = await readBody(req, limit, ({ length }) => bodyBudget.take(res, length));
    if (body === undefined)
      throw new Problem({
        status: 413,
        code: 'too_large',
        detail: `The body is larger than ${limit / 1024} KiB.`,
      });
    return bodyBudget.countWhile(res, async () => {
      const network = widestNetworkOf(clientAddress(req));
      // Customers must not delay each other or the webhooks of the store.
      const path = isPayment ? [`payments from ${network}`, store.id] : [store.id];
      const received = await reading(path, () => eventToStore(store, address, req, body));
      if (isPayment) return (await receivePayment(context, received, network)) ?? accepted;
      const stored = await storeEvent(context, received);
      if (stored !== 'duplicate') storedLimit.count(tokenHash, body.length);
      return accepted;
    });
  };
};
