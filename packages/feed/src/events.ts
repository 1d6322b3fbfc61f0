import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender, setFixedHeaders } from '@platform/service-kit/respond';
import { toProblem } from '@platform/service-kit/problem';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { cursorText } from './log.ts';
import type { Reader, SeenPage } from './reader.ts';

export const eventStream = 'text/event-stream';

/** Interval of heartbeats, in ms. The gateway closes connections that are silent for five minutes. */
const heartbeatMs = 15_000;
/** A client that reads nothing for this long is disconnected, in ms. */
const defaultIdleMs = 30_000;
/** Interval at which the credential is checked while nothing changes, in ms. */
export const credentialCheckMs = 250;

/** Whether the request asks for events. */
export const asksForEvents = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.accept ?? '').toLowerCase().includes(eventStream);

/** Page → its events as text, so that a page that readers share is serialised once. */
const eventTexts = new WeakMap<SeenPage, Buffer>();

const eventText = (page: SeenPage): Buffer => {
  const cached = eventTexts.get(page);
  if (cached !== undefined) return cached;
  const events = page.changes.map(({ change: { action, version, stamp }, json }) => {
    const id = cursorText({ ...page.next, position: BigInt(version), stamp: BigInt(stamp) });
    return `id: ${id}\nevent: ${action}\ndata: ${json}\n\n`;
  });
  const text = Buffer.from(events.join(''));
  eventTexts.set(page, text);
  return text;
};

/** A comment and the reader's current cursor, which also moves past changes that are not visible to the reader. */
const heartbeat = ({ next }: SeenPage): string => `:\nid: ${cursorText(next)}\n\n`;

/** Random delay before a client reconnects, so that not all reconnect at once. */
const pauseMs = (): number => 500 + Math.round(Math.random() * 2500);

/**
 * Writes the changes that a reader sees as server-sent events, until the client disconnects, its credential or cursor becomes
 * invalid, or `hasToEnd` returns true. The headers are sent after the first page was read, so that an error can still be answered.
 */
export const sendEvents = async (
  reader: Reader,
  hasToEnd: () => boolean,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  idleMs = defaultIdleMs,
): Promise<void> => {
  withoutDeadline(req);
  stopCounting(req.scope);
  let page = await reader.read();
  setFixedHeaders(req, res);
  res.setHeader('Content-Type', eventStream);
  res.setHeader('Cache-Control', 'no-store');
  const write = createSender(res, idleMs);
  let sentAt = -Infinity;
  const send = async (text: string | Buffer): Promise<void> => {
    sentAt = performance.now();
    await write(text).catch(() => res.destroy());
  };
  for (let isNew = true; !hasToEnd() && !res.destroyed;) {
    if (isNew && page.changes.length > 0) await send(eventText(page));
    else if (performance.now() - sentAt >= heartbeatMs) await send(heartbeat(page));
    try {
      isNew = (await reader.wait(page.hasMore ? 0 : credentialCheckMs)) || page.hasMore;
      if (isNew) page = await reader.read();
    } catch (error) {
      const { status } = toProblem(error);
      if (status < 500) break;
      if (status !== 503) throw error;
      // The stream continues while the database is unavailable, because browsers do not reconnect after a 503.
      isNew = false;
      await sleep(pauseMs());
    }
  }
  if (!res.destroyed) res.end(`retry: ${pauseMs()}\n\n`);
};
