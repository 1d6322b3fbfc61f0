import postgres from 'postgres';
import { claim } from 'store-webhooks/claim-events';
import { plansByIndex } from 'store-webhooks/plans';
import { repeat, type Figure } from '../figure.ts';
import { startBackingServices, startService } from '../service.ts';
import { claimTime, fillInbox } from './inbox.ts';
import { acknowledge, openShop, settings } from './shop.ts';

const seconds = 3;
const rows = 1_000_000;

/** A service with its own PostgreSQL and `filled` rows in the inbox. */
const start = async (filled: number) => {
  const stack = new AsyncDisposableStack();
  const backing = stack.use(await startBackingServices());
  const service = stack.use(await startService('store-webhooks', backing, { ...settings, WORKERS: 'off' }));
  // As the service's own pool is set up.
  const sql = postgres(service.databaseUrl, {
    max: 2,
    onnotice: () => undefined,
    connection: plansByIndex,
  });
  stack.defer(() => sql.end());
  const shop = await openShop(service);
  if (filled > 0) await fillInbox(sql, shop.id, filled);
  await acknowledge(shop, seconds);
  return {
    measure: async () => ({
      perSecond: (await acknowledge(shop, seconds)).perSecond,
      claimMs: await claimTime(sql, claim),
    }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
};

/** What a million rows cost an acknowledgement and a claim: both services in turn. */
export const million = async (): Promise<Figure[]> => {
  await using empty = await start(0);
  await using full = await start(rows);
  const measured = await repeat(5, async () => {
    const [one, other] = [await empty.measure(), await full.measure()];
    return {
      acknowledge: one.perSecond / other.perSecond,
      claim: other.claimMs / one.claimMs,
      note: `${one.claimMs.toFixed(1)} / ${other.claimMs.toFixed(1)} ms`,
    };
  });
  return [
    {
      what: 'acknowledgement with 1,000,000 rows in the inbox against none',
      bound: '≤ 1.2 ×',
      samples: measured.map((ratio) => ratio.acknowledge),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
    },
    {
      what: 'claim with 1,000,000 rows in the inbox against none',
      bound: '≤ 1.2 ×',
      samples: measured.map((ratio) => ratio.claim),
      unit: '×',
      holds: (ratio) => ratio <= 1.2,
      note: `64 events, none / a million: ${measured.map(({ note }) => note).join('; ')}`,
    },
  ];
};
