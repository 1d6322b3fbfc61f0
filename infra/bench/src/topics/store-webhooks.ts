/** How fast webhooks are acknowledged and processed, and what a full inbox costs. */
import postgres from 'postgres';
import { claim } from 'store-webhooks/claim';
import { percentile, repeat, type Figure, type Topic } from '../figure.ts';
import { startGround, startService } from '../service.ts';
import { baseline, baselineProgram } from '../store-webhooks/baseline.ts';
import { claimTime, fillInbox, untilProcessed } from '../store-webhooks/inbox.ts';
import { bodies, requests } from '../store-webhooks/orders.ts';
import { fire } from '../wallet/fire.ts';

const connections = 64;
const runs = 3;
const many = 20_000;

type Service = Awaited<ReturnType<typeof startService>>;

const createStore = async ({ url, keys }: Service): Promise<{ id: string; address: string }> => {
  const answer = await fetch(`${url}/v1/stores`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await keys.token({ scope: 'stores:admin' })}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'Bench', storeUrl: 'https://shop.example.test/', pos: { kind: 'blaze' } }),
  });
  const { id, webhookToken } = (await answer.json()) as { id: string; webhookToken: string };
  return { id, address: `${url}/api/v1/hooks/order_updated/${webhookToken}` };
};

let batch = 0;

/** Acknowledged events a second and their latencies; throws unless all were taken. */
const acknowledge = async (address: string, count: number) => {
  const { perSecond, latencies, answers } = await fire(
    address,
    requests(address, bodies(`b${batch++}`, count)),
    connections,
  );
  if (answers.some((answer) => answer !== '{}')) throw new Error('a webhook was not taken');
  return { perSecond, p99: percentile(latencies, 0.99) };
};

const measure = async (): Promise<Figure[]> => {
  await using ground = await startGround();
  await using service = await startService('store-webhooks', ground, {
    SECRETS_KEY: 'ab'.repeat(32),
    SPOOL_DIR: '/tmp/bench-spool',
    WORKERS: 'off',
  });
  const sql = postgres(service.databaseUrl, { max: 2, onnotice: () => undefined });
  const { id, address } = await createStore(service);
  await acknowledge(address, many);

  const acknowledged = await repeat(runs, async () => {
    const rows = await baseline(service.databaseUrl, 4);
    return { ...(await acknowledge(address, many)), rows };
  });

  await sql`truncate inbox`;
  await service.restart({ WORKERS: 'on' });
  await acknowledge(address, 2000);
  await untilProcessed(sql);
  const processed = await repeat(runs, async () => {
    const start = performance.now();
    const { p99 } = await acknowledge(address, many / 2);
    await untilProcessed(sql);
    return { perSecond: (many / 2 / (performance.now() - start)) * 1000, p99 };
  });

  await service.restart({ WORKERS: 'off' });
  const emptyAndFull = async () => {
    await sql`truncate inbox`;
    const empty = await acknowledge(address, many);
    const emptyClaim = await claimTime(sql, claim);
    await sql`truncate inbox`;
    await fillInbox(sql, id, 1_000_000);
    const full = await acknowledge(address, many);
    return {
      acknowledge: empty.perSecond / full.perSecond,
      claim: (await claimTime(sql, claim)) / emptyClaim,
    };
  };
  const full = await repeat(runs, emptyAndFull);

  const pruning = await repeat(runs, async () => {
    await sql`truncate inbox`;
    await fillInbox(sql, id, 200_000, 40);
    const without = await acknowledge(address, many);
    // Housekeeping starts with the process: this one prunes while it is measured.
    await service.restart({ WORKERS: 'on' });
    const meanwhile = await acknowledge(address, many);
    await untilProcessed(sql);
    const [left] = await sql<{ count: number }[]>`
      select count(*)::int from inbox where store_id = ${id} and entity like 'order:old-%'`;
    await service.restart({ WORKERS: 'off' });
    return { ratio: without.perSecond / meanwhile.perSecond, left: left?.count ?? -1 };
  });
  await sql.end();

  return [
    {
      what: `acknowledged events (1.2 kB, 64 connections, one process) against rows inserted by ${baselineProgram} over 16`,
      bound: '≥ 1.0 ×',
      samples: acknowledged.map(({ perSecond, rows }) => perSecond / rows),
      unit: '×',
      holds: (ratio) => ratio >= 1,
      note: acknowledged
        .map(({ perSecond, rows }) => `${Math.round(perSecond)} / ${Math.round(rows)} a second`)
        .join(', '),
    },
    {
      what: 'p99 of the acknowledgement at that load',
      bound: '≤ 40 ms',
      samples: acknowledged.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (ms) => ms <= 40,
    },
    {
      what: 'processed events (order_updated with 5 items), workers in the same process, under full load',
      bound: '≥ 1,500 /s',
      samples: processed.map(({ perSecond }) => perSecond),
      unit: '/s',
      holds: (perSecond) => perSecond >= 1500,
    },
    {
      what: 'p99 of the acknowledgement meanwhile',
      bound: '≤ 100 ms',
      samples: processed.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (ms) => ms <= 100,
    },
    {
      what: 'acknowledgement with 1,000,000 rows in the inbox against none',
      bound: '≤ 1.2 ×',
      samples: full.map((ratio) => ratio.acknowledge),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
    },
    {
      what: 'claim with 1,000,000 rows in the inbox against none',
      bound: '≤ 1.2 ×',
      samples: full.map((ratio) => ratio.claim),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
    },
    {
      what: 'acknowledgement while 200,000 old events are pruned and new ones processed, against neither',
      bound: '≤ 3 ×',
      samples: pruning.map(({ ratio }) => ratio),
      unit: '×',
      holds: (ratio) => ratio <= 3,
      note: `left of the 200,000: ${pruning.map(({ left }) => left).join(', ')}`,
    },
  ];
};

export const topic: Topic = { title: 'store-webhooks: receiving and processing', measure };
