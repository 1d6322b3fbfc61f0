import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../test/harness.ts';
import { consignmentInput, ids, inventoryInput, partnerInput, warehouseInput } from '../../test/inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const unknownId = '0198c5a0-7e57-7000-8000-00000000ffff';
const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string;

const unknownDetails = {
  lines: [],
  parcels: [],
  pickupAddress: null,
  deliveryAddress: null,
  plannedPickupAt: null,
  plannedDeliveryAt: null,
  deliveredAt: null,
  trackingNumber: null,
  trackingUrl: null,
  consigneeId: null,
  supplierId: null,
};

describe.each([
  {
    path: '/consignments',
    details: unknownDetails,
    name: 'consignments',
    input: consignmentInput({ carrierId: ids.carrier.toUpperCase(), reference: 'PO 7' }),
    full: {
      consignmentNumber: 'CN-1',
      clientId: ids.client,
      clientName: 'Van Dijk Flowers',
      carrierId: ids.carrier,
      warehouseId: null,
      status: 0,
      ediStatus: 0,
      externalId: null,
      reference: 'PO 7',
      ...unknownDetails,
      createdAt: stamp,
      updatedAt: stamp,
    },
    change: { status: 1, ediStatus: 3, externalId: 'SAP-9', reference: null },
    required: ['consignmentNumber', 'clientId'],
  },
  {
    path: '/partners',
    name: 'partners',
    input: partnerInput(),
    details: { relationships: [0] },
    full: { code: 'VDF', name: 'Van Dijk Flowers', relationship: 0, relationships: [0], status: 1 },
    change: { name: 'Van Dijk', relationship: 3, relationships: [3, 1], status: 0 },
    required: ['code', 'name', 'relationship'],
  },
  {
    path: '/inventory',
    name: 'inventory',
    input: inventoryInput(),
    full: { ...inventoryInput(), description: '', reserved: 0, updatedAt: stamp },
    change: { quantity: 3, reserved: 2, description: 'Fifty red tulips' },
    required: ['partnerId', 'partnerProductId', 'productCode', 'warehouseId'],
  },
  {
    path: '/warehouses',
    name: 'warehouses',
    input: warehouseInput(),
    full: { ...warehouseInput(), status: 1 },
    change: { city: 'Rotterdam', status: 0 },
    required: ['code', 'name', 'city', 'countryCode'],
  },
])('$path', ({ path, name, input, full, change, required, details = {} }) => {
  test('creates, returns, lists and changes a record', async () => {
    const created = await service.post(path, input).expect(201);
    const { id } = created.body as { id: string };
    expect(created.body).toStrictEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string, ...full });
    expect(created.headers['location']).toBe(`/v1${path}/${id}`);
    expect((await service.get(`${path}/${id}`).expect(200)).body).toEqual(created.body);
    expect((await service.get(`${path}/${id.toUpperCase()}`).expect(200)).body).toEqual(created.body);

    const changed = await service.patch(`${path}/${id}`, change).expect(200);
    expect(changed.body).toEqual({
      ...created.body,
      ...change,
      ...('updatedAt' in full ? { updatedAt: stamp } : {}),
    });
    expect((await service.get(`${path}/${id}`)).body).toEqual(changed.body);
    const listed = await service.read(path).expect(200);
    const item = Object.fromEntries(
      Object.entries(changed.body as object).filter(([field]) => !(field in details)),
    );
    expect(listed.body).toStrictEqual({ index: 0, total: 1, [name]: [item] });
  });

  test('accepts the media type of a merge patch', async () => {
    const { body } = await service.post(path, input);
    await service
      .patch(`${path}/${body.id}`, change)
      .set('Content-Type', 'application/merge-patch+json')
      .expect(200);
  });

  test('an empty patch, or one with the current values, changes nothing', async () => {
    const created = await service.post(path, input);
    for (const patch of [
      {},
      Object.fromEntries(Object.keys(change).map((key) => [key, created.body[key]])),
    ]) {
      const { body, headers } = await service.patch(`${path}/${created.body.id}`, patch).expect(200);
      expect([body, headers['etag']]).toEqual([created.body, created.headers['etag']]);
    }
  });

  test('a read with its ETag returns 304, and only the current ETag changes and deletes it', async () => {
    const created = await service.post(path, input);
    const address = `${path}/${created.body.id}`;
    const first = created.headers['etag'] ?? '';
    expect((await service.read(address)).headers['etag']).toBe(first);
    const known = await service.read(address).set('If-None-Match', first).expect(304);
    expect([known.text, known.headers['etag']]).toEqual(['', first]);

    const changed = await service.patch(address, change).set('If-Match', first).expect(200);
    const second = changed.headers['etag'] ?? '';
    expect(second).not.toBe(first);
    await service.read(address).set('If-None-Match', first).expect(200);
    for (const stale of [service.patch(address, {}), service.delete(address)])
      expect((await stale.set('If-Match', first).expect(412)).body.code).toBe('stale');
    expect((await service.read(address)).body).toEqual(changed.body);

    await service.delete(address).set('If-Match', `"other", ${second}`).expect(204);
    for (const gone of [service.read(address), service.delete(address)]) await gone.expect(404);
  });

  test('of two changes with the same If-Match, one is applied', async () => {
    const { body, headers } = await service.post(path, input);
    const changes = [change, change].map((patch) =>
      service.patch(`${path}/${body.id}`, patch).set('If-Match', headers['etag'] ?? ''),
    );
    const statuses = (await Promise.all(changes)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412]);
  });

  test('many requests with one Idempotency-Key create one record; another body is refused', async () => {
    const key = `once ${path}`;
    const create = (body: object) => service.post(path, body).set('Idempotency-Key', key);
    const { total } = (await service.read(path)).body as { total: number };
    const answers = await Promise.all(Array.from({ length: 5 }, () => create(input)));
    expect(
      new Set(answers.map(({ status, text, headers }) => `${status} ${text} ${headers['etag']}`)).size,
    ).toBe(1);
    expect((await service.read(path)).body.total).toBe(total + 1);
    expect((await create({ ...input, ...change }).expect(422)).body.code).toBe('idempotency_key_reused');
    await service.post(path, input).set('Idempotency-Key', 'x'.repeat(129)).expect(400);
  });

  test('returns 400 and names unknown fields', async () => {
    const { body } = await service.post(path, { ...input, colour: 'red' }).expect(400);
    expect(body).toMatchObject({ code: 'validation_failed', errors: { colour: ['unknown field'] } });
    const { id } = (await service.post(path, input)).body as { id: string };
    for (const field of ['id', 'createdAt', 'updatedAt', 'searchText', '__proto__']) {
      const sent = JSON.parse(`{"${field}": "2026-01-01T00:00:00.000Z"}`) as object;
      const refused = await service.patch(`${path}/${id}`, sent).expect(400);
      expect(Object.keys(refused.body.errors as object)).toContain(field);
    }
    await service.post(path, { ...input, id }).expect(400);
  });

  test('names all missing fields', async () => {
    const { body } = await service.post(path, {}).expect(400);
    expect(Object.keys(body.errors as object)).toEqual(required);
  });

  test('returns 404 for an unknown id', async () => {
    for (const answer of [
      await service.get(`${path}/${unknownId}`),
      await service.patch(`${path}/${unknownId}`, change),
      await service.delete(`${path}/${unknownId}`),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    }
    await service.get(`${path}/1`).expect(400);
    await service.patch(`${path}/1`, change).expect(400);
  });

  test('returns 405 and 415 for other methods and media types', async () => {
    const put = await service.post(`${path}/${unknownId}`, {}).expect(405);
    expect(put.headers['allow']).toBe('GET, HEAD, PATCH, DELETE');
    await service.post(path, {}).type('text/plain').send('hello').expect(415);
  });
});

describe('a field', () => {
  test.each([
    ['/consignments', consignmentInput({ consignmentNumber: '' }), 'consignmentNumber'],
    ['/consignments', consignmentInput({ consignmentNumber: 'x'.repeat(101) }), 'consignmentNumber'],
    ['/consignments', consignmentInput({ clientName: 'a\0b' }), 'clientName'],
    ['/consignments', consignmentInput({ clientName: '\ud800' }), 'clientName'],
    ['/consignments', consignmentInput({ clientName: null }), 'clientName'],
    ['/consignments', consignmentInput({ clientName: undefined }), 'clientName'],
    ['/consignments', consignmentInput({ clientId: '7' }), 'clientId'],
    ['/consignments', consignmentInput({ carrierId: 7 }), 'carrierId'],
    ['/consignments', consignmentInput({ status: 9 }), 'status'],
    ['/consignments', consignmentInput({ status: -1 }), 'status'],
    ['/consignments', consignmentInput({ status: '1' }), 'status'],
    ['/consignments', consignmentInput({ status: 1.5 }), 'status'],
    ['/consignments', consignmentInput({ ediStatus: 5 }), 'ediStatus'],
    ['/consignments', consignmentInput({ externalId: '' }), 'externalId'],
    ['/partners', partnerInput({ relationship: 4 }), 'relationship'],
    ['/partners', partnerInput({ status: 2 }), 'status'],
    ['/inventory', inventoryInput({ quantity: -1 }), 'quantity'],
    ['/inventory', inventoryInput({ quantity: 2 ** 31 }), 'quantity'],
    ['/inventory', inventoryInput({ reserved: -1 }), 'reserved'],
    ['/warehouses', warehouseInput({ countryCode: 'nl' }), 'countryCode'],
    ['/warehouses', warehouseInput({ countryCode: 'NLD' }), 'countryCode'],
  ])('of %s is refused, and the error names it: %j', async (path, input, field) => {
    const { body } = await service.post(path, input).expect(400);
    expect(body).toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining(field) as string,
    });
    expect(Object.keys(body.errors as object)).toEqual([field]);
  });

  test('stores every character', async () => {
    const clientName = `"'\\\u2028<b>${'😀'.repeat(20)}\t\n%_`;
    const { body } = await service.post('/consignments', consignmentInput({ clientName })).expect(201);
    expect((await service.get(`/consignments/${body.id}`)).body.clientName).toBe(clientName);
  });
});

test('a partner or a warehouse to which another record refers is not deleted', async () => {
  const partner = (await service.post('/partners', partnerInput())).body as { id: string };
  const warehouse = (await service.post('/warehouses', warehouseInput())).body as { id: string };
  const uses = [
    ['/consignments', consignmentInput({ clientId: partner.id, warehouseId: warehouse.id })],
    ['/consignments', consignmentInput({ carrierId: partner.id, warehouseId: warehouse.id })],
    ['/consignments', consignmentInput({ consigneeId: partner.id, warehouseId: warehouse.id })],
    ['/consignments', consignmentInput({ supplierId: partner.id, warehouseId: warehouse.id })],
    ['/inventory', { ...inventoryInput(), partnerId: partner.id, warehouseId: warehouse.id }],
  ] as const;
  for (const [list, input] of uses) {
    const { body } = await service.post(list, input).expect(201);
    for (const address of [`/partners/${partner.id}`, `/warehouses/${warehouse.id}`]) {
      expect((await service.delete(address).expect(409)).body.code).toBe('in_use');
      await service.read(address).expect(200);
    }
    await service.delete(`${list}/${body.id}`).expect(204);
  }
  await service.delete(`/partners/${partner.id}`).expect(204);
  await service.delete(`/warehouses/${warehouse.id}`).expect(204);
});

test('a deleted record is no longer in the list and the total', async () => {
  await using isolated = await startService();
  for (let n = 0; n < 3; n++) await isolated.post('/consignments', consignmentInput({ status: n }));
  const { consignments } = (await isolated.read('/consignments')).body as { consignments: { id: string }[] };
  await isolated.delete(`/consignments/${consignments[1]?.id}`).expect(204);
  const left = await isolated.read('/consignments').expect(200);
  expect(left.body).toMatchObject({ total: 2, consignments: [consignments[0], consignments[2]] });
  expect((await isolated.read('/consignments?Status=1')).body.total).toBe(0);
});
