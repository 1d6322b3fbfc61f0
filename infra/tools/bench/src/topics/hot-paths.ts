/** The requests that are sent most often, with all guarantees on, against the least that one would write by hand. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, atMost, compare, repeat, type MeasureOptions, type Topic } from '../figure.ts';
import { minimalDebits, minimalWebhooks } from '../hot-paths/minimal-sql.ts';
import { startGateway } from '../hot-paths/gateway.ts';
import { startProgram } from '../program.ts';
import { processedRate, rateOf } from '../rates.ts';
import { shippedOptions, startService } from '../service.ts';
import { fillQuest } from '../subjects/quest-service.ts';
import { openShop, orderRequest, startWebhooks, untilProcessed } from '../subjects/store-webhooks.ts';
import { players, sendDebits, startWallet } from '../subjects/wallet-operator.ts';

const debits = async ({ seconds = 4 }: MeasureOptions) => {
  await using wallet = await startWallet();
  const against = 'pgbench, 16 clients, a function on three tables with primary keys only';
  const p99s: number[] = [];
  const over = (count: number) => ({
    ours: async () => {
      const { perSecond, p99 } = await sendDebits(wallet, { seconds, over: count });
      if (count === players) p99s.push(p99);
      return perSecond;
    },
    baseline: () => minimalDebits(wallet, count, seconds),
    note: against,
  });
  const figures = [
    await compare({
      what: 'Signed debits over HTTP, 64 connections, 200 players',
      bound: atLeast(1, '×'),
      ...over(players),
    }),
    await compare({ what: 'The same, all on one player', bound: atLeast(5, '×'), ...over(1) }),
  ];
  const alone = await repeat(3, () => sendDebits(wallet, { seconds, connections: 1 }));
  return [
    ...figures,
    { what: 'p99 of a debit at 64 connections', bound: atMost(20, 'ms'), samples: p99s.slice(-5) },
    { what: 'p50 of a lone debit', bound: atMost(3, 'ms'), samples: alone.map(({ p50 }) => p50) },
  ];
};

const webhooks = async ({ seconds = 4 }: MeasureOptions) => {
  await using service = await startWebhooks();
  const shop = await openShop(service);
  const minimal = {
    baseline: () => minimalWebhooks(service, seconds),
    note: 'pgbench, 16 clients, inserting one such body and its unique key a transaction',
  };
  const processed = await compare({
    what: 'Webhooks acknowledged and processed, 64 connections',
    bound: atLeast(0.35, '×'),
    ours: () => processedRate(service.url, shop, seconds, () => untilProcessed(service.sql)),
    ...minimal,
  });
  await service.restart({ WORKERS: 'off' });
  const acknowledged = await compare({
    what: 'Webhooks acknowledged, workers off',
    bound: atLeast(0.8, '×'),
    ours: () => rateOf(service.url, orderRequest(shop), { seconds }),
    ...minimal,
  });
  return [processed, acknowledged];
};

const questions = async ({ seconds = 4 }: MeasureOptions) => {
  const secret = randomBytes(32).toString('hex');
  await using service = await startService('quest-service', { GATEWAY_SECRET: secret });
  const path = await fillQuest(service, 25);
  const page = await fetch(service.url + path);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const file = join(folder, 'page.json');
  writeFileSync(file, Buffer.from(await page.arrayBuffer()));
  await using bare = await startProgram(
    new URL('../hot-paths/bare-express.ts', import.meta.url),
    file,
    shippedOptions(),
  );
  rmSync(folder, { recursive: true });
  await using gateway = await startGateway('quest-service', service.url, secret);
  const rate = (url: string) => () => rateOf(url, { path }, { seconds });
  return [
    await compare({
      what: 'List of 25 questions (28 kB), 64 connections',
      bound: atLeast(0.6, '×'),
      ours: rate(service.url),
      baseline: rate(bare.url),
      warmUp: 4,
      note: 'bare Express 5, same bytes',
    }),
    await compare({
      what: 'The same through the gateway',
      bound: atLeast(0.6, '×'),
      ours: rate(gateway.url),
      baseline: rate(service.url),
      note: 'without the gateway',
    }),
  ];
};

export const topic: Topic = {
  title: 'Hot paths: all guarantees on, against minimal baselines',
  parts: { debits, webhooks, questions },
};
