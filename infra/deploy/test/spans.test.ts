import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openDatabase, type Database } from '@platform/service-kit/db';
import { readEnv, traceEnv } from '@platform/service-kit/env';
import { runOutsideRequest } from '@platform/service-kit/request-scope';
import { cloneServiceDatabase } from '@platform/service-kit/testing';
import { openProvider } from '@platform/tracing/provider';
import { inSpan, openTracing } from '@platform/tracing/trace';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startCollector, waitFor, type Collector, type Span } from './collector.ts';
import { serviceFolder } from './service.ts';

const stack = new AsyncDisposableStack();
let collector: Collector;
let database: Database;

beforeAll(async () => {
  collector = stack.use(await startCollector());
  const tracing = await openTracing('spans-test', { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  if (tracing) stack.use(tracing);
  const clone = stack.use(await cloneServiceDatabase(inject('postgresUrl'), serviceFolder('quest-service')));
  database = stack.use(openDatabase({ url: clone.url, name: 'spans-test', max: 1 }));
});
afterAll(() => stack.disposeAsync());

/** Runs a job, waits for its span, and returns all spans of its trace by name. */
const spansOf = async (job: string, work: () => Promise<unknown>): Promise<Map<string, Span>> => {
  await inSpan(job, work).catch(() => undefined);
  const { traceId } = await waitFor(() => collector.spans.find(({ name }) => name === job), job);
  return new Map((await collector.trace(traceId)).map((span) => [span.name, span]));
};

describe.concurrent('a statement', () => {
  test('that fails has a span with its SQLSTATE, but without its message and values', async () => {
    const id = '0198c1b0-0000-7000-8000-000000000001';
    const spans = await spansOf('failing', async () => {
      const insert = () =>
        database.sql`insert into quests (quest_id, title, version, question_count, created_at, updated_at)
          values (${id}, 'a title', ${id}, 0, now(), now())`;
      await insert();
      await insert();
    });
    expect(spans.get('insert')).toMatchObject({
      status: { code: 2 },
      attributes: { 'db.response.status_code': '23505', 'db.operation.name': 'insert' },
    });
    expect(JSON.stringify([...spans.values()])).not.toMatch(/0198c1b0|duplicate key/);
  });

  test('that fails in a request also has a span with its SQLSTATE', async () => {
    const spans = await spansOf('failing in a request', () =>
      runOutsideRequest(async () => database.sql`select 1 / ${0}::int as quotient`),
    );
    expect(spans.get('select')?.attributes).toMatchObject({ 'db.response.status_code': '22012' });
  });

  test('in a transaction is a child of the span of the transaction, like begin and commit', async () => {
    const spans = await spansOf('transferring', () =>
      database.orm.transaction((tx) => tx.execute('select 1')),
    );
    expect(spans.get('transaction')?.parentSpanId).toBe(spans.get('transferring')?.spanId);
    for (const name of ['begin', 'select', 'commit'])
      expect([name, spans.get(name)?.parentSpanId]).toEqual([name, spans.get('transaction')?.spanId]);
  });

  test('outside of requests and jobs creates no span', async () => {
    await database.sql`select 'outside of jobs'`;
    await spansOf('afterwards', () => database.ping());
    expect(collector.bodies.join('')).not.toContain('outside of jobs');
  });
});

describe.concurrent('a call by node:http', () => {
  const call = (url: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      request(url, (response) => response.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });

  test('continues the trace and contains neither path nor query', async () => {
    const received: IncomingMessage['headers'][] = [];
    const server = createServer((req, res) => {
      received.push(req.headers);
      res.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const spans = await spansOf('calling', () => call(`http://${address}/secret-path?secret=query`));
    server.close();
    const span = spans.get(`GET ${address}`);
    expect(received[0]?.['traceparent']).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
    expect(span?.attributes).toMatchObject({ 'http.response.status_code': 200 });
    expect(JSON.stringify(span)).not.toContain('secret');
  });

  test('to a server that is down has a span with an error', async () => {
    const spans = await spansOf('calling a closed port', () => call('http://127.0.0.1:1/'));
    expect(spans.get('GET 127.0.0.1:1')?.status.code).toBe(2);
    expect(spans.get('calling a closed port')?.status.code).toBe(2);
  });
});

describe.concurrent('OTEL_TRACES_SAMPLER', () => {
  test.for([
    ['always_off', '1', 0],
    ['traceidratio', '0', 0],
    ['always_on', '0', 1],
    [undefined, undefined, 1],
  ] as const)('%s with the ratio %s samples %i of one trace', async ([sampler, share, count]) => {
    await using samplingCollector = await startCollector();
    const variables = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share };
    const provider = openProvider({
      service: 'sampled',
      endpoint: samplingCollector.url,
      env: readEnv(traceEnv, variables),
    });
    provider.getTracer('test').startSpan('sample').end();
    await provider.shutdown();
    expect(samplingCollector.spans).toHaveLength(count);
  });

  test('is rejected when it follows the `sampled` flag of the caller', () => {
    const variables = { OTEL_TRACES_SAMPLER: 'parentbased_always_on' };
    expect(() => readEnv(traceEnv, variables)).toThrow(/OTEL_TRACES_SAMPLER is wrong/);
  });
});
