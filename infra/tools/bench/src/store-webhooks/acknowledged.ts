import { repeat, type Figure } from '../figure.ts';
import { startBackingServices, startService } from '../service.ts';
import { baseline } from './baseline.ts';
import { acknowledge, openShop, settings } from './shop.ts';

const runs = 5;
const seconds = 4;

interface Run {
  perSecond: number;
  p99: number;
  rows: number;
  /** Rows per second with prepared statements. */
  prepared: number;
}

const shown = ({ perSecond, rows, prepared }: Run): string =>
  [perSecond, rows, prepared].map(Math.round).join(' / ');

/** Acknowledged events per second against rows per second that pgbench inserts, measured alternately. */
export const acknowledged = async (): Promise<Figure[]> => {
  await using backing = await startBackingServices();
  await using service = await startService('store-webhooks', backing, { ...settings, WORKERS: 'off' });
  const shop = await openShop(service);
  await acknowledge(shop, seconds);
  const measured = await repeat(runs, async (): Promise<Run> => {
    const rows = await baseline(service.databaseUrl, seconds);
    const { perSecond, p99 } = await acknowledge(shop, seconds);
    return { perSecond, p99, rows, prepared: await baseline(service.databaseUrl, seconds, 'prepared') };
  });
  return [
    {
      what: 'acknowledged events (1.2 kB, 64 connections, one process) against rows inserted by pgbench over 16 connections',
      bound: '≥ 1.0 ×',
      samples: measured.map(({ perSecond, rows }) => perSecond / rows),
      unit: '×',
      holds: (ratio) => ratio >= 1,
      note: `per second: acknowledged / pgbench / pgbench with -M prepared: ${measured.map(shown).join('; ')}`,
    },
    {
      what: 'p99 of the acknowledgement at that load',
      bound: '≤ 40 ms',
      samples: measured.map(({ p99 }) => p99),
      unit: 'ms',
      holds: (ms) => ms <= 40,
    },
  ];
};
