import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSender, setFixedHeaders } from '@platform/service-kit/respond';
import { toProblem } from '@platform/service-kit/problem';
import { stopCounting, withoutDeadline } from '@platform/service-kit/request-scope';
import { cursorText } from './log.ts';
import type { Reader, SeenPage } from './reader.ts';

export const eventStream = 'text/event-stream';

/** Between two signs of life, in ms; the gateway closes what is silent for five minutes. */
const heartbeatMs = 15_000;
/** A client that takes nothing of what it was sent for so long is cut off, in ms. */
const defaultIdleMs = 30_000;
/** Between two looks at the credential while nothing changes, in ms. */
export const lookMs = 250;

/** Whether the request asks for events. */
export const asksForEvents = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && (headers.accept ?? '').toLowerCase().includes(eventStream);

/** What readers share is written once. */
const texts = new WeakMap<SeenPage, Buffer>();

const textOf = (page: SeenPage): Buffer => {
  const known = texts.get(page);
  if (known !== undefined) return known;
  const events = page.changes.map(({ change: { action, version, stamp }, json }) => {
    const id = cursorText({ ...page.next, position: BigInt(version), stamp: BigInt(stamp) });
    return `id: ${id}\nevent: ${action}\ndata: ${json}\n\n`;
  });
  const text = Buffer.from(events.join(''));
  texts.set(page, text);
  return text;
};

/** A comment, and where the reader is after all changes that it was sent, also when none of the later ones were for it. */
const heartbeat = ({ next }: SeenPage): string => `:\nid: ${cursorText(next)}\n\n`;

/** Between the ends of a stream and the next attempts of its readers, which must not all come at once. */
const pauseMs = (): number => 500 + Math.round(Math.random() * 2500);

/**
 * Writes what a reader sees as server-sent events, until the client has gone, its credential is no longer valid, its cursor
 * leads nowhere or it has to end. The headers follow the first page, so that an error before is an answer.
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
    if (isNew && page.changes.length > 0) await send(textOf(page));
    else if (performance.now() - sentAt >= heartbeatMs) await send(heartbeat(page));
    try {
      isNew = (await reader.wait(page.hasMore ? 0 : lookMs)) || page.hasMore;
      if (isNew) page = await reader.read();
    } catch (error) {
      const { status } = toProblem(error);
      if (status < 500) break;
      if (status !== 503) throw error;
      // The stream outlives a database that is away, because browsers do not come back after a 503.
      isNew = false;
      await sleep(pauseMs());
    }
  }
  if (!res.destroyed) res.end(`retry: ${pauseMs()}\n\n`);
};
