import { readdirSync } from 'node:fs';
import { fold, measureDrift } from '@platform/pagination/directory';
import { withMaintenance } from '@platform/pagination/maintenance';
import { inTestSchema } from '@platform/service-kit/testing';
import { migrate } from '@platform/service-kit/migrate';
import fc from 'fast-check';
import postgres from 'postgres';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { createApp } from '../src/app.ts';
import { migrations } from '../src/context.ts';
import { consignmentDirectory, directories } from '../src/db/directories.ts';
import { startService, type Service } from './harness.ts';
import { consignmentInput, forced, ids } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => service.context.database.sql`delete from consignments`);
afterAll(() => service[Symbol.asyncDispose]());

test('two migrations that start at the same time run one after the other', async () => {
  const server = postgres(inject('postgresUrl'), { max: 1 });
  await server`create database consignments_twice`;
  const located = new URL(inject('postgresUrl'));
  located.pathname = '/consignments_twice';
  const url = inTestSchema(located.href);
  await Promise.all([1, 2].map(() => migrate(url, migrations)));
  const sql = postgres(url, { max: 1 });
  const applied = readdirSync(migrations.folder).filter((file) => file.endsWith('.sql')).length;
  expect((await sql`select count(*)::int as applied from schema_migrations`)[0]).toEqual({ applied });
  await sql.end();
  await server`drop database consignments_twice`;
  await server.end();
});

/** Filters as query parameters, and the same as SQL. */
const filters = [
  { query: '', where: 'true' },
  { query: 'Status=1', where: 'status = 1' },
  { query: `ClientId=${ids.client}`, where: `client_id = '${ids.client}'` },
  { query: `WarehouseId=${ids.warehouse}`, where: `warehouse_id = '${ids.warehouse}'` },
  { query: 'EdiStatus=2', where: 'edi_status = 2' },
  { query: `CarrierId=${ids.carrier}`, where: `carrier_id = '${ids.carrier}'` },
  { query: 'ExternalId=X1', where: `external_id = 'X1'` },
  { query: 'SearchText=x1', where: `search_text like '%x1%'` },
  { query: 'Status=1&SearchText=X1', where: `status = 1 and search_text like '%x1%'` },
  { query: `Status=1&ClientId=${ids.client}`, where: `status = 1 and client_id = '${ids.client}'` },
  {
    query: `EdiStatus=0&Status=1&WarehouseId=${ids.warehouse}`,
    where: `edi_status = 0 and status = 1 and warehouse_id = '${ids.warehouse}'`,
  },
];

/** Expects pages of 3, read from the service `from`, to equal those of OFFSET and count(*). */
const expectEqualToOffset = async (from: Service): Promise<void> => {
  const { sql } = service.context.database;
  for (const { query, where } of filters) {
    const rows = await sql.unsafe<{ id: string }[]>(
      `select id from consignments where ${where} order by created_at desc, id desc`,
    );
    for (let index = 0; index * 3 <= rows.length; index++) {
      const { body } = await from.read(`/consignments?${query}&PageSize=3&PageIndex=${index}`).expect(200);
      const listedIds = (body.consignments as { id: string }[]).map(({ id }) => id);
      const page = rows.slice(index * 3, index * 3 + 3).map(({ id }) => id);
      expect([query, index, body.total, listedIds]).toEqual([query, index, rows.length, page]);
    }
  }
};

const change = fc.record({
  clientId: fc.constantFrom(ids.client, ids.otherClient),
  warehouseId: fc.constantFrom(ids.warehouse, null),
  carrierId: fc.constantFrom(ids.carrier, null),
  status: fc.integer({ min: 0, max: 2 }),
  ediStatus: fc.integer({ min: 0, max: 2 }),
  externalId: fc.constantFrom('X1', 'x1', null),
});
const step = fc.oneof(
  fc.record({ do: fc.constant('create' as const), change }),
  fc.record({ do: fc.constant('change' as const), at: fc.nat(20), change }),
  fc.record({ do: fc.constant('delete' as const), at: fc.nat(20), change }),
  fc.record({ do: fc.constant('fold' as const), change }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Applies a step to one of the records in `createdIds`. */
const apply = async (createdIds: string[], { do: what, change: fields, ...rest }: Step): Promise<void> => {
  const at = 'at' in rest ? rest.at % Math.max(1, createdIds.length) : 0;
  const id = createdIds[at];
  if (what === 'fold') {
    await fold(service.context.database.sql, consignmentDirectory);
  } else if (what === 'create' || id === undefined) {
    const { body } = await service.post('/consignments', consignmentInput(fields)).expect(201);
    createdIds.push(body.id as string);
  } else if (what === 'change') {
    await service.patch(`/consignments/${id}`, { ...fields, ...forced }).expect(200);
  } else {
    await service.context.database.sql`delete from consignments where id = ${id}`;
    createdIds.splice(at, 1);
  }
};

describe('every page and every total', () => {
  test('equals OFFSET and count(*) after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        await service.context.database.sql`delete from consignments`;
        const createdIds: string[] = [];
        for (const step of steps) {
          await apply(createdIds, step);
        }
        await expectEqualToOffset(service);
      }),
      { numRuns: 8 },
    );
    const { sql } = service.context.database;
    await fold(sql, consignmentDirectory);
    expect(await measureDrift(sql, consignmentDirectory)).toBe(0);
  });
});

test('pages that are read during writes have the total of their own snapshot', async () => {
  const writers = [1, 2, 3].map(async (writer) => {
    const createdIds: string[] = [];
    for (let n = 0; n < 30; n++) {
      const fields = {
        status: n % 2,
        clientId: ids.client,
        warehouseId: null,
        carrierId: null,
        ediStatus: 0,
        externalId: null,
      };
      const what = n % 5 === 4 ? 'delete' : n % 3 === 2 ? 'change' : 'create';
      await apply(createdIds, { do: what, at: n * writer, change: fields });
    }
  });
  let writing = true;
  const done = Promise.all(writers).finally(() => (writing = false));
  while (writing) {
    for (const { query } of filters) {
      const { body } = await service.read(`/consignments?${query}&PageSize=500`).expect(200);
      expect([query, body.consignments.length]).toEqual([query, body.total]);
    }
  }
  await done;
  await expectEqualToOffset(service);
});

test('a running instance folds changes and exports the number of pending changes and the drift', async () => {
  await using other = await startService({ databaseUrl: service.databaseUrl });
  await using running = withMaintenance(other.context, service.databaseUrl, directories);
  const { listener } = createApp(running);
  await request(listener)
    .post('/v1/consignments')
    .set('Authorization', service.writing)
    .send(consignmentInput())
    .expect(201);
  const metrics = async () => (await request(listener).get('/metrics').expect(200)).text;
  for (const list of ['consignments', 'inventory']) {
    await expect.poll(metrics).toContain(`directory_pending_changes{list="${list}"} 0\n`);
  }
  expect(await metrics()).toContain('# TYPE directory_drift_rows gauge');
});
