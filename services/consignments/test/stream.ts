import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { createHttpServer } from '@platform/service-kit/server';
import { listen } from '@platform/service-kit/service';
import type { Service } from './harness.ts';

export interface ResultLine {
  line: number;
  id?: string;
  error?: string;
  detail?: string;
  errors?: Record<string, string[]>;
  stopped?: true;
}

/** The service on a real socket, for bodies that are sent in pieces. */
export const listening = async ({ app, writing }: Service) => {
  const server = createHttpServer(app);
  const { port } = await listen(server, '127.0.0.1', 0);

  /** Starts an import; `headers` are added. */
  const begin = (headers: Record<string, string> = {}) => {
    const req = request({
      port,
      method: 'POST',
      path: '/v1/consignments/import',
      headers: { Authorization: writing, 'Content-Type': 'application/x-ndjson', ...headers },
    });
    req.on('error', () => undefined);
    const answered = once(req, 'response') as Promise<[IncomingMessage]>;
    const results = (async function* () {
      const [res] = await answered;
      for await (const line of createInterface(res)) yield JSON.parse(line) as ResultLine;
    })();
    return {
      req,
      answered: answered.then(([res]) => res),
      send: (...lines: (object | string)[]) => {
        req.write(
          lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''),
        );
      },
      /** The next result line; undefined at the end. */
      next: async () => (await results.next()).value as ResultLine | undefined,
      rest: async () => {
        const rest: ResultLine[] = [];
        for await (const result of results) rest.push(result);
        return rest;
      },
    };
  };
  return {
    begin,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
