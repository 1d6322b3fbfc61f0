import { randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { on, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type Gateway } from './gateway.ts';
import { request } from './http.ts';
import { startService, type Service } from './service.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';
const datagrams = createSocket('udp4');
let gateway: Gateway;
let service: Service;

beforeAll(async () => {
  datagrams.bind(0, '127.0.0.1');
  await once(datagrams, 'listening');
  service = await startService();
  gateway = await startGateway({
    upstreams: { 'quest-service': service.address, 'store-webhooks': service.address },
    telemetry: `127.0.0.1:${datagrams.address().port}`,
  });
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
  datagrams.close();
});

/** Waits for the telemetry message about the request with this id. */
const messageAbout = async (id: string): Promise<string> => {
  for await (const [message] of on(datagrams, 'message') as AsyncIterable<[Buffer]>)
    if (message.includes(id)) return message.toString();
  throw new Error('the gateway sent no message');
};

const get = async (path: string, ...fields: string[]) => {
  const id = randomUUID();
  const message = messageAbout(id);
  await request(gateway.port, path, 'GET', [`X-Request-Id: ${id}`, ...fields]);
  const [received] = service.received.splice(0);
  if (!received) throw new Error('the service received no request');
  const text = await message;
  return {
    id,
    received,
    text,
    span: JSON.parse(text.slice(text.indexOf('{'))) as Record<string, string | number>,
  };
};

describe('traceparent', () => {
  test('of a caller is continued, and the span of the gateway is between those of caller and service', async () => {
    const {
      id: requestId,
      received,
      span,
    } = await get('/v1/quests/1', `traceparent: 00-${trace}-${caller}-00`, 'tracestate: a=1');
    const [, id, parent, flags] = received.headers['traceparent']?.split('-') ?? [];
    expect({ id, flags }).toEqual({ id: trace, flags: '00' });
    expect(parent).toMatch(/^[0-9a-f]{16}$/);
    expect(parent).not.toBe(caller);
    expect(received.headers['tracestate']).toBe('a=1');
    expect(span).toMatchObject({ trace, parent: caller, span: parent, method: 'GET', status: 200 });
    expect(span).toMatchObject({ service: 'quest-service', requestId });
    expect(span['end']).toEqual(expect.any(Number));
  });

  test('is created if there is none, and its trace id is in the access log', async () => {
    const { id, received, span } = await get('/v1/quests/1');
    expect(received.headers['traceparent']).toBe(`00-${span['trace']}-${span['span']}-01`);
    expect(span).toMatchObject({ trace: expect.stringMatching(/^[0-9a-f]{32}$/), parent: '' });
    expect(await gateway.entry(id)).toMatchObject({ trace_id: span['trace'] });
  });

  test.each([
    `00-${trace}-${caller}-01-more`,
    `00-${'0'.repeat(32)}-${caller}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace.toUpperCase()}-${caller}-01`,
    `ff-${trace}-${caller}-01`,
    '"}{',
  ])('the invalid value %s is replaced', async (invalid) => {
    const { received, span } = await get('/v1/quests/1', `traceparent: ${invalid}`, 'tracestate: a=1');
    expect(received.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(received.headers['traceparent']).not.toContain(trace);
    expect(received.headers).not.toHaveProperty('tracestate');
    expect(span['parent']).toBe('');
  });
});

test('a span contains neither the path nor the query', async () => {
  const token = 't'.repeat(43);
  const { text } = await get(`/api/v1/hooks/order_updated/${token}?key=secret`, `Cookie: id=${token}`);
  expect(text).toContain('store-webhooks');
  expect(text).not.toMatch(/ttt|secret|order_updated/);
});
