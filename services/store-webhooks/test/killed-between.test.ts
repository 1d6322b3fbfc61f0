import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@platform/local/postgres';
import { startProxy } from '@platform/service-kit/testing';
import { afterAll, expect, test } from 'vitest';
import { startService } from './harness.ts';
import { holdAt, type HoldPoint } from './hold.ts';
import { fire, sendOrder, startProcess } from './process.ts';

const postgres = await startPostgres({ durable: true });
afterAll(() => postgres.stop());

interface Pair extends HoldPoint {
  between: string;
  answered: boolean;
  /** The database gets beyond the point, but the process dies before it gets the result. */
  committed?: boolean;
  /** What the database knows of the probe when the process is dead. */
  left: { state: string; attempts: number; effects: number } | undefined;
}

const ofOrder = "for each row when (new.entity = 'order:probe')";
const onOrders = "on orders for each row when (new.id = 'probe')";
const toldOf = "for each row when (new.reference = 'probe')";
const storing = `before insert on events ${ofOrder}`;
const queueing = `before insert on queue ${ofOrder}`;
const committing: HoldPoint = {
  kind: 'constraint trigger',
  trigger: `after insert on notifications deferrable initially deferred ${toldOf}`,
};
const begun = { state: 'pending', attempts: 1, effects: 0 };

const pairs: Pair[] = [
  {
    between: 'received and stored',
    trigger: storing,
    answered: false,
    left: undefined,
  },
  {
    between: 'stored and queued',
    trigger: queueing,
    answered: false,
    left: undefined,
  },
  {
    between: 'stored and answered',
    trigger: queueing,
    answered: false,
    committed: true,
    // It was claimed when it was stored.
    left: begun,
  },
  {
    between: 'planned and ended',
    trigger: "before delete on queue for each row when (old.entity = 'order:probe')",
    answered: true,
    left: begun,
  },
  {
    between: 'marked and effect',
    trigger: `before insert ${onOrders}`,
    answered: true,
    left: begun,
  },
  {
    between: 'effect and its notification',
    trigger: `before insert on notifications ${toldOf}`,
    answered: true,
    left: begun,
  },
  {
    between: 'effect and done',
    ...committing,
    answered: true,
    left: begun,
  },
  {
    between: 'done and known to be done',
    ...committing,
    answered: true,
    committed: true,
    left: { state: 'done', attempts: 1, effects: 1 },
  },
];

test.each(pairs)(
  'killed under load between $between: every acknowledged event has its effect, once',
  async ({ answered, committed = false, left, ...point }) => {
    await using service = await startService({ serverUrl: postgres.url, work: false });
    const { webhookToken } = await service.store();
    const { sql } = service.context.database;
    await sql`create table effects (id text not null)`;
    await sql`create function count_effect() returns trigger language plpgsql as
      $$ begin insert into effects values (new.id); return new; end $$`;
    await sql`create trigger count_effect after insert or update on orders
      for each row execute function count_effect()`;
    await using hold = await holdAt(service.databaseUrl, point);
    await using proxy = await startProxy(service.databaseUrl);
    // The spool has no room, so a webhook that the database does not confirm in time gets no 200.
    await using running = await startProcess(
      { databaseUrl: proxy.url, spool: service.spool },
      { SPOOL_MAX_BYTES: '0', LEASE_MS: '2000' },
    );
    using load = fire(running.url, webhookToken, 'load', 200);
    while (load.acknowledged.length < 40) await sleep(10);
    // Undefined where the process is killed before it answers, which is asserted below.
    const probe = sendOrder(running.url, webhookToken, 'probe').catch(() => undefined);
    await hold.reached();
    // The answer is on its way while the worker already claims.
    if (answered) await probe;
    if (committed) {
      proxy.withholdAnswers();
      await hold.open();
    }
    await running.kill();
    await load.stop();
    expect((await probe) === 200).toBe(answered);
    await hold.release();
    const [found] = await sql`
      select state, attempts, (select count(*)::int from effects where id = 'probe') as effects
      from inbox where entity = 'order:probe'`;
    expect(found).toEqual(left);

    await using next = await startProcess(service, { LEASE_MS: '1000' });
    // A sender delivers again what it got no 200 for.
    const expected = [...load.acknowledged, ...load.unacknowledged, 'probe'];
    const again = answered ? load.unacknowledged : [...load.unacknowledged, 'probe'];
    for (const id of again) expect(await sendOrder(next.url, webhookToken, id)).toBe(200);
    await service.settled();
    expect(await next.stop()).toBe(0);
    const once = expected.toSorted();
    const inbox = await sql`select substr(entity, 7) as id from inbox where state = 'done'`;
    const effects = await sql`select id from effects`;
    const notifications = await sql`select reference as id from notifications`;
    for (const rows of [inbox, effects, notifications])
      expect(rows.map((row) => String(row['id'])).toSorted()).toEqual(once);
  },
);
