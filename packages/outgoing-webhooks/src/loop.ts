import type { IncomingHttpHeaders } from 'node:http';

/** Identifies this software, because a loop may lead over another platform of it. */
const loopId = 'platform-subscriptions';

/** Every request to a subscriber has it. Source: RFC 8586. */
export const loopHeader = { 'cdn-loop': loopId };

/** Whether a subscription of this or another platform caused the request, also through relays that pass on its header fields. */
export const isFromSubscription = (headers: IncomingHttpHeaders): boolean =>
  String(headers['cdn-loop'])
    .split(',')
    .some((entry) => entry.split(';', 1)[0]?.trim() === loopId);
