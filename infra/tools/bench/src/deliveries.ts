import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ISql } from 'postgres';
import { atLeast, atMost, p99, repeat, type Figure } from './figure.ts';
import { startService, type BenchService } from './service.ts';
import { importRate } from './subjects/consignments.ts';

/** Starts a subscriber that answers immediately. */
const startReceiver = async () => {
  let received = 0;
  const server = createServer((req, res) => {
    received++;
    req.resume().once('end', () => res.writeHead(204).end());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: () => received,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

const scope = 'consignments:read consignments:write consignments:subscriptions';
const requestHeaders = async ({ keys }: BenchService) => ({
  Authorization: `Bearer ${await keys.token({ scope, ttl: 7200 })}`,
  'Content-Type': 'application/json',
});

let batchCount = 0;

const insertWarehouses = async (sql: ISql, count: number): Promise<void> => {
  const code = `B${batchCount++}-`;
  await sql`
    insert into warehouses (id, code, name, city, country_code, status)
    select gen_random_uuid(), ${code} || n, 'Many', 'Tartu', 'EE', 1 from generate_series(1, ${count}::int) n`;
};

const changesPerRun = 20_000;

/** Deliveries per second of one process to a subscriber that answers immediately. */
const deliveryRate = async (service: BenchService): Promise<Figure[]> => {
  using receiver = await startReceiver();
  const response = await fetch(`${service.url}/v1/feeds/consignments/subscriptions`, {
    method: 'POST',
    headers: await requestHeaders(service),
    body: JSON.stringify({ url: receiver.url, lists: ['warehouses'] }),
  });
  if (response.status !== 201) throw new Error(`subscriptions: ${response.status} ${await response.text()}`);
  const rates = await repeat(3, async (run) => {
    const start = performance.now();
    for (let batch = 0; batch < changesPerRun / 1000; batch++) await insertWarehouses(service.sql, 1000);
    while (receiver.received() < changesPerRun * (run + 1)) await sleep(5);
    return (changesPerRun * 1000) / (performance.now() - start);
  });
  // Time for duplicate deliveries to arrive.
  await sleep(5000);
  const duplicates = receiver.received() / (3 * changesPerRun) - 1;
  return [
    {
      label: 'Deliveries, against 500 a second',
      bound: atLeast(1, '×'),
      samples: rates.map((rate) => rate / 500),
      note: `${rates.map((rate) => Math.round(rate).toLocaleString('en')).join(', ')} a second; sent twice: ${(duplicates * 100).toFixed(3)} %`,
    },
  ];
};

/** Changes a record until `isEnough`; returns the ms from each commit until an event stream delivers the change. */
const streamDelays = async (
  service: BenchService,
  isEnough: (count: number) => boolean,
): Promise<number[]> => {
  const headers = await requestHeaders(service);
  const id = '00000000-0000-7000-8000-0000000000aa';
  await service.sql`
    insert into warehouses (id, code, name, city, country_code, status) values (${id}, 'DELAYED', 'A', 'Tartu', 'EE', 1)
    on conflict do nothing`;
  const streamEnd = new AbortController();
  const stream = await fetch(`${service.url}/v1/feeds/consignments/warehouses`, {
    headers: { ...headers, Accept: 'text/event-stream' },
    signal: streamEnd.signal,
  });
  let arrived = Promise.withResolvers<number>();
  const readStream = async () => {
    for await (const chunk of stream.body ?? [])
      if (Buffer.from(chunk).includes('event: updated')) arrived.resolve(Date.now());
  };
  // Rejects when `streamEnd` aborts the stream.
  readStream().catch(() => undefined);
  const delays: number[] = [];
  while (!isEnough(delays.length)) {
    await sleep(Math.random() * 100);
    arrived = Promise.withResolvers();
    const response = await fetch(`${service.url}/v1/warehouses/${id}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ name: `Name ${delays.length}` }),
    });
    if (response.status !== 200) throw new Error(`PATCH: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    const [{ committedAt }] = await service.sql<[{ committedAt: number }]>`
      select extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as "committedAt"
      from warehouses where id = ${id}`;
    delays.push((await arrived.promise) - committedAt);
  }
  streamEnd.abort();
  return delays;
};

/** Measures the delay of changes, alone and during an import, and then the rate of deliveries. */
export const deliveries = async (): Promise<Figure[]> => {
  await using service = await startService('consignments', { SUBSCRIBER_ADDRESSES: 'any' });
  const alone = await repeat(3, async () => p99(await streamDelays(service, (count) => count === 200)));
  const { sql } = service;
  const duringImport = await sql.begin(async (tx) => {
    // The transaction stays open during the import, with a change of its own.
    await insertWarehouses(tx, 1);
    let isImporting = true;
    const imports = repeat(50, () => importRate(service, 20_000)).finally(() => (isImporting = false));
    const delays = await streamDelays(service, () => !isImporting);
    await imports;
    return delays;
  });
  return [
    {
      label: 'Delay from the commit of a change until an event stream delivers it, p99',
      bound: atMost(150, 'ms'),
      samples: alone,
    },
    {
      label: 'The same during an import of 1,000,000 consignments, while a transaction stays open, p99',
      bound: atMost(150, 'ms'),
      samples: [p99(duringImport)],
      note: `${duringImport.length} changes`,
    },
    ...(await deliveryRate(service)),
  ];
};
