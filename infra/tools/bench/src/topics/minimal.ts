/** All guarantees on, against the least that one would write by hand without them. */
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { repeat, type Figure, type Topic } from '../figure.ts';
import { load } from '../load.ts';
import { minimalDebits, prepareDebits } from '../minimal/debits.ts';
import { startBareNginx, startGateway } from '../minimal/nginx.ts';
import { minimalWebhooks, prepareWebhooks } from '../minimal/webhooks.ts';
import { startBare } from '../quest-service/bare.ts';
import { fillQuest, pageOf } from '../quest-service/quests.ts';
import { startBackingServices, startService } from '../service.ts';
import { untilProcessed } from '../store-webhooks/inbox.ts';
import { acknowledge, openShop, settings } from '../store-webhooks/shop.ts';
import { debitFor, openWallet, players } from '../wallet-operator/wallet.ts';

const runs = 5;
const seconds = 4;

interface Run {
  ours: number;
  baseline: number;
}

const ratioFigure = (what: string, required: number, measured: readonly Run[], against: string): Figure => ({
  what,
  bound: `≥ ${required} ×`,
  samples: measured.map(({ ours, baseline }) => ours / baseline),
  unit: '×',
  holds: (ratio) => ratio >= required,
  rates: { ours: measured.map(({ ours }) => ours), baseline: measured.map(({ baseline }) => baseline) },
  note: against,
});

const debits = async (): Promise<Figure[]> => {
  await using wallet = await openWallet();
  const { databaseUrl } = wallet.service;
  await debitFor(wallet, 2 * seconds);
  const p99s: number[] = [];
  const turn = (over: number) => async (): Promise<Run> => {
    await prepareDebits(databaseUrl);
    const baseline = await minimalDebits(databaseUrl, over, seconds);
    const { perSecond, p99 } = await debitFor(wallet, seconds, over);
    if (over === players) p99s.push(p99);
    return { ours: perSecond, baseline };
  };
  const spread = await repeat(runs, turn(players));
  const single = await repeat(runs, turn(1));
  const against = 'pgbench, 16 clients, a function on three tables with primary keys only';
  return [
    ratioFigure('Signed debits over HTTP, 64 connections, 200 players', 1, spread, against),
    ratioFigure('The same, all on one player', 5, single, against),
    {
      what: 'p99 of a debit at 64 connections',
      bound: '≤ 20 ms',
      samples: p99s,
      unit: 'ms',
      holds: (ms) => ms <= 20,
    },
  ];
};

/** A backlog that is processed within this time after the last webhook does not count. */
const graceMs = 2000;

const webhooks = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('store-webhooks', backing, settings);
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => undefined });
  const shop = await openShop(service);
  const minimal = async (): Promise<number> => {
    await prepareWebhooks(service.databaseUrl);
    return minimalWebhooks(service.databaseUrl, seconds);
  };
  const processed = async (): Promise<number> => {
    const start = performance.now();
    const { answered } = await acknowledge(shop, seconds);
    await untilProcessed(sql);
    return (answered / Math.max(seconds * 1000, performance.now() - start - graceMs)) * 1000;
  };
  await processed();
  const both = await repeat(runs, async () => ({ baseline: await minimal(), ours: await processed() }));
  await sql.end();
  await service.restart({ WORKERS: 'off' });
  await acknowledge(shop, seconds);
  const acknowledged = await repeat(runs, async () => ({
    baseline: await minimal(),
    ours: (await acknowledge(shop, seconds)).perSecond,
  }));
  const against = 'pgbench, 16 clients, inserting one such body and its unique key a transaction';
  return [
    ratioFigure('Webhooks acknowledged and processed, 64 connections', 0.35, both, against),
    ratioFigure('Webhooks acknowledged, workers off', 0.8, acknowledged, against),
  ];
};

const questions = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  const secret = randomBytes(32).toString('hex');
  await using service = await startService('quest-service', backing, { GATEWAY_SECRET: secret });
  const path = await fillQuest(service, 25);
  const bytes = await pageOf(service, path);
  await using bare = await startBare(bytes);
  await using gateway = await startGateway('quest-service', service.url, secret);
  await using proxy = await startBareNginx(bare.url);
  const rate = async (url: string): Promise<number> => {
    const { perSecond, failed } = await load({ url, requests: [{ path }], connections: 64, seconds });
    if (failed > 0) throw new Error(`${failed} requests failed`);
    return perSecond;
  };
  const turn = (ours: string, baseline: string) => async (): Promise<Run> => ({
    baseline: await rate(baseline),
    ours: await rate(ours),
  });
  // V8 optimises a hot path for longer than one measurement takes.
  await repeat(4, turn(service.url, bare.url));
  const direct = await repeat(runs, turn(service.url, bare.url));
  const proxied = await repeat(runs, turn(gateway.url, proxy.url));
  return [
    ratioFigure('List of 25 questions (28 kB), 64 connections', 0.6, direct, 'bare Express 5, same bytes'),
    ratioFigure('The same through the gateway', 0.75, proxied, 'nginx that only proxies to that Express'),
  ];
};

const parts = { debits, webhooks, questions };

export const topic: Topic = {
  title: 'In short: all guarantees on, against minimal baselines',
  parts,
  measure: async () => {
    const figures: Figure[] = [];
    for (const part of Object.values(parts)) figures.push(...(await part()));
    return figures;
  },
};
