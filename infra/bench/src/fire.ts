import { connect } from 'node:net';

export interface Fired {
  perSecond: number;
  /** In ms, one for each request. */
  latencies: number[];
  /** Bodies of the answers, in no order. */
  answers: string[];
}

const endOfHead = Buffer.from('\r\n\r\n');

/** Sends prepared requests over one kept-alive connection, one after the other. */
const runConnection = (url: URL, next: () => Buffer | undefined, result: Fired): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname);
    socket.setNoDelay(true);
    let pending: Buffer | undefined;
    let sentAt = 0;
    const send = (): void => {
      const request = next();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', send);
    socket.on('error', reject);
    socket.on('data', (data) => {
      pending = pending === undefined ? data : Buffer.concat([pending, data]);
      const head = pending.indexOf(endOfHead);
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(pending.toString('latin1', 0, head))?.[1]);
      if (pending.length < head + 4 + length) return;
      result.latencies.push(performance.now() - sentAt);
      result.answers.push(pending.toString('utf8', head + 4));
      pending = undefined;
      send();
    });
  });

/**
 * Sends all requests over so many connections. Made for this: a general load generator takes as much
 * of the machine as the service that it measures, and knows no request twice.
 */
export const fire = async (url: string, requests: readonly Buffer[], connections: number): Promise<Fired> => {
  const result: Fired = { perSecond: 0, latencies: [], answers: [] };
  let at = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: connections }, () => runConnection(new URL(url), () => requests[at++], result)),
  );
  result.perSecond = (requests.length / (performance.now() - start)) * 1000;
  return result;
};
