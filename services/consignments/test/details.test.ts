import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, forced, ids } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const address = {
  name: 'Van Dijk Flowers',
  street: 'Bloemstraat 1',
  postalCode: '1016 KV',
  city: 'Amsterdam',
  countryCode: 'NL',
};
const line = { productId: null, description: 'Vases, wrapped', quantity: 3, unit: 'box' };
const parcel = { count: 2, weightGrams: 1500, lengthMm: 400, widthMm: 300, heightMm: 200 };
const full = {
  lines: [line, { ...line, description: 'Red tulips', quantity: 50 }],
  parcels: [parcel],
  pickupAddress: address,
  deliveryAddress: { ...address, name: 'Corner Shop', city: 'Utrecht' },
  plannedPickupAt: '2026-03-01T08:00:00.000Z',
  plannedDeliveryAt: '2026-03-02T16:00:00.000Z',
  deliveredAt: null,
  trackingNumber: '3SABC123',
  trackingUrl: 'https://track.example.test/3SABC123?lang=en',
  consigneeId: ids.otherClient,
  supplierId: ids.carrier,
};
const none = {
  lines: [],
  parcels: [],
  ...Object.fromEntries(
    Object.keys(full)
      .slice(2)
      .map((field) => [field, null]),
  ),
};

const create = async (changes: object = {}) =>
  (await service.post('/consignments', consignmentInput(changes)).expect(201)).body as { id: string };

describe('lines, parcels, addresses and times of a consignment', () => {
  test('are in the record and not in the list', async () => {
    const created = await create(full);
    expect(created).toMatchObject(full);
    const { body } = await service.read(`/consignments/${created.id}`).expect(200);
    expect(body).toStrictEqual(created);
    const { consignments } = (await service.read('/consignments')).body as { consignments: object[] };
    for (const field of Object.keys(full)) expect(consignments[0]).not.toHaveProperty(field);
  });

  test('are empty if omitted, and units, counts and postal codes have a default', async () => {
    expect(await create()).toMatchObject(none);
    const { postalCode: _, ...short } = address;
    expect(
      await create({
        lines: [{ description: 'Vases', quantity: 1 }],
        parcels: [{}],
        pickupAddress: short,
      }),
    ).toMatchObject({
      lines: [{ productId: null, description: 'Vases', quantity: 1, unit: 'piece' }],
      parcels: [{ count: 1, weightGrams: null, lengthMm: null, widthMm: null, heightMm: null }],
      pickupAddress: { ...short, postalCode: null },
    });
  });

  test('are changed by a patch: lists as a whole, an address field by field, null clears', async () => {
    const { id } = await create(full);
    const patch = async (changes: object) =>
      (await service.patch(`/consignments/${id}`, changes).expect(200)).body as object;
    expect(
      await patch({ lines: [line], deliveryAddress: { street: 'Oudegracht 2', postalCode: null } }),
    ).toMatchObject({
      ...full,
      lines: [line],
      deliveryAddress: { ...full.deliveryAddress, street: 'Oudegracht 2', postalCode: null },
    });
    expect(await patch({ deliveredAt: '2026-03-02T17:30:00+01:00', status: 6, ...forced })).toMatchObject({
      lines: [line],
      deliveredAt: '2026-03-02T16:30:00.000Z',
      status: 6,
    });
    expect(await patch({ ...none, status: 0, ...forced })).toMatchObject(none);
    const { body } = await service
      .patch(`/consignments/${id}`, { pickupAddress: { city: 'Gent' } })
      .expect(400);
    expect(Object.keys(body.errors as object)).toEqual([
      'pickupAddress.name',
      'pickupAddress.street',
      'pickupAddress.countryCode',
    ]);
    expect((await service.read(`/consignments/${id}`)).body).toMatchObject(none);
  });

  test('change the ETag when they change, and only then', async () => {
    const { id } = await create(full);
    const etag = async (changes: object) =>
      (await service.patch(`/consignments/${id}`, changes).expect(200)).headers['etag'];
    const before = await etag({});
    expect(await etag({ lines: full.lines, pickupAddress: { city: address.city } })).toBe(before);
    expect(await etag({ lines: [line] })).not.toBe(before);
  });

  test('are not lost when two instances change them at the same time', async () => {
    await using other = await startService({ databaseUrl: service.databaseUrl });
    const { id } = await create(full);
    for (let round = 1; round <= 10; round++) {
      const changes = [
        service.patch(`/consignments/${id}`, { lines: [{ ...line, quantity: round }] }),
        other.patch(`/consignments/${id}`, { deliveryAddress: { street: `Street ${round}` } }),
      ];
      expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200]);
      expect((await service.read(`/consignments/${id}`)).body).toMatchObject({
        lines: [{ quantity: round }],
        deliveryAddress: { ...full.deliveryAddress, street: `Street ${round}` },
      });
    }
  });

  test('are deleted with it', async () => {
    const { sql } = service.context.database;
    const { id } = await create(full);
    await service.delete(`/consignments/${id}`).expect(204);
    expect(await sql`select from consignment_details where id = ${id}`).toHaveLength(0);
  });

  test('are stored together with it or not at all', async () => {
    await using isolated = await startService();
    const { sql } = isolated.context.database;
    await sql`alter table consignment_details add constraint none check (details ->> 'trackingNumber' <> '3SABC123')`;
    await isolated.post('/consignments', consignmentInput(full)).expect(500);
    const { text } = await isolated
      .post('/consignments/import', {})
      .set('Content-Type', 'application/x-ndjson')
      .serialize(() =>
        [consignmentInput(), consignmentInput(full)].map((line) => JSON.stringify(line)).join('\n'),
      )
      .buffer(true);
    expect(JSON.parse(text)).not.toHaveProperty('id');
    expect((await isolated.read('/consignments')).body.total).toBe(0);
    const { body } = await isolated.post('/consignments', consignmentInput()).expect(201);
    await isolated.patch(`/consignments/${body.id}`, { ...full, reference: 'PO 9' }).expect(500);
    expect((await isolated.read(`/consignments/${body.id}`)).body).toEqual(body);
  });

  test('are imported', async () => {
    const lines = [
      consignmentInput({ ...full, reference: 'imported' }),
      consignmentInput(),
      { colour: 'red' },
    ];
    const { text } = await service
      .post('/consignments/import', {})
      .set('Content-Type', 'application/x-ndjson')
      .serialize(() => lines.map((imported) => JSON.stringify(imported)).join('\n'))
      .buffer(true)
      .expect(200);
    const [first, second] = text
      .trim()
      .split('\n')
      .map((result) => JSON.parse(result) as { id: string });
    expect((await service.read(`/consignments/${first?.id}`)).body).toMatchObject(full);
    expect((await service.read(`/consignments/${second?.id}`)).body).toMatchObject(none);
  });

  test.each([
    ['lines', {}, 'lines'],
    ['lines', [{ quantity: 1 }], 'lines.0'],
    ['lines', [{ ...line, quantity: 0 }], 'lines.0.quantity'],
    ['lines', [{ ...line, quantity: 2 ** 31 }], 'lines.0.quantity'],
    ['lines', [{ ...line, unit: '' }], 'lines.0.unit'],
    ['lines', [{ ...line, description: 'a\0b' }], 'lines.0.description'],
    ['lines', [{ ...line, productId: 'TUL-R' }], 'lines.0.productId'],
    ['lines', [{ ...line, price: 1 }], 'lines.0.price'],
    ['lines', Array.from({ length: 201 }, () => line), 'lines'],
    ['parcels', [{ ...parcel, weightGrams: -1 }], 'parcels.0.weightGrams'],
    ['parcels', [{ ...parcel, count: 1.5 }], 'parcels.0.count'],
    ['pickupAddress', { ...address, countryCode: 'Netherlands' }, 'pickupAddress.countryCode'],
    ['pickupAddress', { ...address, street: '\0' }, 'pickupAddress.street'],
    ['deliveryAddress', 'Bloemstraat 1', 'deliveryAddress'],
    ['plannedPickupAt', 'tomorrow', 'plannedPickupAt'],
    ['plannedPickupAt', '0000-01-01T00:00:00Z', 'plannedPickupAt'],
    ['plannedDeliveryAt', '9999-12-31T23:59:59-01:00', 'plannedDeliveryAt'],
    ['deliveredAt', 1_772_352_000, 'deliveredAt'],
    ['trackingNumber', '', 'trackingNumber'],
    ['trackingUrl', 'javascript:alert(1)', 'trackingUrl'],
    ['trackingUrl', 'track.example.test', 'trackingUrl'],
    ['trackingUrl', 'https://例.example.test/', 'trackingUrl'],
    ['trackingUrl', `https://track.example.test/${'x'.repeat(1000)}`, 'trackingUrl'],
    ['consigneeId', 7, 'consigneeId'],
  ])('%s: %j is refused, and the error names the field', async (field, value, name) => {
    const { id } = await create();
    for (const refused of [
      service.post('/consignments', consignmentInput({ [field]: value })),
      service.patch(`/consignments/${id}`, { [field]: value }),
    ])
      expect(Object.keys((await refused.expect(400)).body.errors as object)).toEqual([name]);
  });
});
