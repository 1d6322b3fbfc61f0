import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Record<string, unknown>;

/** How the providers answer. */
export type Behaviour =
  | 'normal'
  | 'hang'
  | 'html'
  | 'redirect'
  | 'forbidden'
  | 'limited'
  | 'error'
  | 'garbage';

export interface ProviderRequest {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** The look-ups of providers; the maps have their records. */
export interface StandIn extends AsyncDisposable {
  url: string;
  /** Blaze: carts by public key, members by id. */
  carts: Map<string, Json>;
  members: Map<string, Json>;
  /** Square: orders and customers by id. */
  orders: Map<string, Json>;
  customers: Map<string, Json>;
  /** Persona: inquiries by id. */
  inquiries: Map<string, Json>;
  /** Both 3DS servers: results by threeDSServerTransID. */
  results: Map<string, Json>;
  behaviour: Behaviour;
  requests: ProviderRequest[];
  /** Answers the hanging requests. */
  release(): void;
}

const textOf = async (req: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of req) text += String(chunk);
  return text;
};

const misbehave = (behaviour: Exclude<Behaviour, 'normal' | 'hang'>, res: ServerResponse): void => {
  if (behaviour === 'html') res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  if (behaviour === 'garbage')
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"transStatus": 7, "id": []}');
  if (behaviour === 'redirect') res.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' }).end();
  if (behaviour === 'forbidden') res.writeHead(403, { 'content-type': 'application/json' }).end('{}');
  if (behaviour === 'limited') res.writeHead(429, { 'content-type': 'application/json' }).end('{}');
  if (behaviour === 'error') res.writeHead(500, { 'content-type': 'application/json' }).end('{}');
};

const find = (standIn: StandIn, { method, path, body }: ProviderRequest): Json | undefined => {
  const last = decodeURIComponent(path.split('/').at(-1) ?? '');
  if (method === 'POST' && path === '/postauth')
    return standIn.results.get(String((JSON.parse(body) as Json)['threeDSServerTransID']));
  if (method !== 'GET') return undefined;
  if (path.startsWith('/3ds/results/')) return standIn.results.get(last);
  if (path.startsWith('/api/v1/partner/store/cart/')) return standIn.carts.get(last);
  if (path.startsWith('/api/v1/partner/store/members/')) return standIn.members.get(last);
  if (path.startsWith('/v2/orders/')) return standIn.orders.get(last);
  if (path.startsWith('/v2/customers/')) return standIn.customers.get(last);
  if (path.startsWith('/api/v1/inquiries/')) return standIn.inquiries.get(last);
  return undefined;
};

/** Starts a stand-in for all providers on a free port of 127.0.0.1. */
export const startStandIn = async (): Promise<StandIn> => {
  let hanging = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    const request = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: await textOf(req),
    };
    standIn.requests.push(request);
    if (standIn.behaviour === 'hang') await hanging.promise;
    const { behaviour } = standIn;
    if (behaviour === 'hang') return;
    if (behaviour !== 'normal') return misbehave(behaviour, res);
    const record = find(standIn, request);
    res.writeHead(record === undefined ? 404 : 200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(record ?? { error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    carts: new Map(),
    members: new Map(),
    orders: new Map(),
    customers: new Map(),
    inquiries: new Map(),
    results: new Map(),
    behaviour: 'normal',
    requests: [],
    release: () => {
      hanging.resolve();
      hanging = Promise.withResolvers();
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return standIn;
};
