import { createFeed } from '@platform/feed';
import { recordPlans, type PlanRecorder } from '@platform/service-kit/testing';
import postgres, { type ISql } from 'postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from './harness.ts';
import { consignmentInput, ids } from './inputs.ts';

const consignmentFilters = [
  `ClientId=${ids.client}`,
  `CarrierId=${ids.carrier}`,
  `WarehouseId=${ids.warehouse}`,
  'Status=1',
  'EdiStatus=1',
  'ExternalId=a',
];

/** Overrides with which the plans of all statements are recorded, also those of searches. */
const recordedBy = ({ database, sql }: PlanRecorder) => ({
  database,
  searches: { run: <T>(_: boolean, read: (on: ISql) => Promise<T>) => read(sql) },
});

test('every list is read by an index, without a sequential scan or a sort of the whole table', async () => {
  await using first = await startService();
  await using plans = recordPlans(
    first.databaseUrl,
    /_directory_|scan of (?:partners|warehouses)|feed_(?:state|pending)/,
  );
  const { health } = first.context;
  const follow = createFeed({
    service: 'consignments',
    database: plans.database,
    health,
    days: 30,
    anyCaseQuery: true,
  });
  const overrides = { ...recordedBy(plans), follow };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  await service.post('/consignments', consignmentInput()).expect(201);
  const queries = [
    '/consignments?PageIndex=7',
    ...consignmentFilters.map((filter) => `/consignments?${filter}`),
    ...consignmentFilters.slice(0, 3).map((filter) => `/consignments?${filter}&Status=1`),
    '/consignments?Status=1&EdiStatus=1',
    '/inventory',
    '/inventory?IncludeDepleted=true&PageIndex=7',
    `/inventory?PartnerId=${ids.client}`,
    `/inventory?WarehouseId=${ids.warehouse}&IncludeDepleted=true`,
    '/inventory?PartnerProductId=a',
    `/feeds/consignments/consignments/export?ClientId=${ids.client}`,
    `/feeds/consignments/inventory/export?PartnerId=${ids.client}`,
    // These lists have some thousand rows, which are all read to count them; only their order needs an index.
    '/partners',
    '/partners?Status=1',
    '/warehouses',
    '/warehouses?Status=1',
  ];
  for (const path of queries)
    expect([path, await plans.faultsOf(() => service.read(path).expect(200))]).toEqual([path, []]);
});

test('a SearchText uses the trigram index, or reads the list in its order', async () => {
  await using first = await startService();
  await using plans = recordPlans(first.databaseUrl);
  const overrides = recordedBy(plans);
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  for (const list of ['consignments', 'inventory', 'partners', 'warehouses'])
    for (const text of ['flowers', 'fl']) {
      const path = `/${list}?SearchText=${text}`;
      expect([path, await plans.faultsOf(() => service.read(path).expect(200))]).toEqual([path, []]);
    }
});

test('a change of the status or the lines returns no earlier status changes, of which there may be any number', async () => {
  await using first = await startService();
  const statements: string[] = [];
  const sql = postgres(first.databaseUrl, {
    max: 2,
    debug: (_connection, text) => void statements.push(text),
  });
  onTestFinished(() => sql.end());
  const overrides = { database: { ...first.context.database, sql } };
  await using service = await startService({ databaseUrl: first.databaseUrl, overrides });
  const { id } = (await service.post('/consignments', consignmentInput()).expect(201)).body as { id: string };
  for (const patch of [
    { status: 1 },
    { status: 2 },
    { lines: [] },
    { lines: [{ description: 'a', quantity: 1 }] },
  ])
    await service.patch(`/consignments/${id}`, patch).expect(200);
  const reading = statements.filter((text) => /^\s*select/.test(text) && text.includes('status_changes'));
  expect(reading.length).toBeGreaterThan(0);
  expect(reading.filter((text) => text.includes('row_to_json'))).toEqual([]);
});
