import { afterAll, beforeAll, expect, test } from 'vitest';
import { startService, type Service } from '../../test/harness.ts';
import { inventoryInput } from '../../test/inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const unknownId = '0198c5a0-7e57-7000-8000-00000000ffff';

const addItem = async (stock: object = { quantity: 10, reserved: 2 }): Promise<string> => {
  const { body } = await service.post('/inventory', inventoryInput(stock)).expect(201);
  return (body as { id: string }).id;
};

const move = (id: string, body: object) => service.post(`/inventory/${id}/movements`, body);

const stockOf = async (id: string) => {
  const { quantity, reserved } = (await service.read(`/inventory/${id}`).expect(200)).body as {
    quantity: number;
    reserved: number;
  };
  return { quantity, reserved };
};

test('a movement changes the stock, can be read, and is listed newest first', async () => {
  const id = await addItem();
  const before = await service.read(`/inventory/${id}`);
  const created = await move(id, { quantity: 5, reserved: 3, reference: 'DN-1', reason: 'Delivery' }).expect(
    201,
  );
  expect(created.body).toStrictEqual({
    id: expect.any(String) as string,
    quantity: 5,
    reserved: 3,
    reason: 'Delivery',
    reference: 'DN-1',
    consignmentId: null,
    createdBy: expect.any(String) as string,
    createdAt: expect.stringMatching(/Z$/) as string,
  });
  expect(await stockOf(id)).toEqual({ quantity: 15, reserved: 5 });
  expect((await service.read(`/inventory/${id}`)).headers['etag']).not.toBe(before.headers['etag']);
  const address = created.headers['location']?.replace('/v1', '') ?? '';
  expect((await service.read(address).expect(200)).body).toEqual(created.body);
  await service
    .read(address)
    .set('If-None-Match', created.headers['etag'] ?? '')
    .expect(304);

  const second = await move(id, { quantity: -1, reference: 'DN-2' }).expect(201);
  const { body } = await service.read(`/inventory/${id}/movements`).expect(200);
  const first = expect.objectContaining({ quantity: 10, reserved: 2, reference: null }) as object;
  expect(body).toStrictEqual({ index: 0, total: 3, movements: [second.body, created.body, first] });
  const page = await service.read(`/inventory/${id}/movements?pageindex=1&PageSize=1`).expect(200);
  expect(page.body).toStrictEqual({ index: 1, total: 3, movements: [created.body] });
});

test('setting the stock of an item stores a movement without a reference, so that movements add up to the stock', async () => {
  const id = await addItem({ quantity: 10, reserved: 2 });
  await move(id, { quantity: 5, reference: 'DN-1' }).expect(201);
  await service.patch(`/inventory/${id}`, { quantity: 12, reserved: 0 }).expect(200);
  await service.patch(`/inventory/${id}`, { quantity: 12, description: 'Counted' }).expect(200);
  await service.patch(`/inventory/${id}`, { quantity: 1, reserved: 2 }).expect(409);
  await service.patch(`/inventory/${id}`, { quantity: 1, productCode: '' }).expect(400);
  const { movements, total } = (await service.read(`/inventory/${id}/movements`).expect(200)).body as {
    movements: { quantity: number; reserved: number; reference: string | null; createdBy: string }[];
    total: number;
  };
  const by = movements[1]?.createdBy;
  const bySetting = { reference: null, consignmentId: null, reason: null, createdBy: by };
  expect(movements).toMatchObject([
    { quantity: -3, reserved: -2, ...bySetting },
    { quantity: 5, reserved: 0, reference: 'DN-1' },
    { quantity: 10, reserved: 2, ...bySetting },
  ]);
  expect(total).toBe(3);
  const empty = await addItem({ quantity: 0, reserved: 0 });
  expect((await service.read(`/inventory/${empty}/movements`).expect(200)).body.total).toBe(0);
});

test('fifty concurrent requests with one movement move once; another movement with its reference is refused', async () => {
  const id = await addItem();
  const movement = { quantity: 4, reference: 'DN-7', reason: null };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => {
      const request = move(id, movement);
      return n % 2 === 0 ? request : request.set('Idempotency-Key', `${id} ${n}`);
    }),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(201);
  expect(await stockOf(id)).toEqual({ quantity: 14, reserved: 2 });
  for (const other of [{ quantity: 5 }, { reserved: 1 }, { reason: 'Counted' }]) {
    const refused = await move(id, { ...movement, ...other }).expect(409);
    expect(refused.body.code).toBe('duplicate_reference');
  }
  const elsewhere = await addItem();
  await move(elsewhere, movement).expect(201);
});

test('of fifty concurrent movements, as many succeed as the stock allows; the others get the remaining stock', async () => {
  const id = await addItem({ quantity: 12, reserved: 2 });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, n) => move(id, { quantity: -1, reference: `pick ${n}` })),
  );
  const refused = answers.filter(({ status }) => status === 409);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(refused).toHaveLength(40);
  for (const { body } of refused)
    expect(body).toMatchObject({
      code: 'not_enough_stock',
      left: [{ inventoryId: id, quantity: 2, reserved: 2, available: 0 }],
    });
  expect(await stockOf(id)).toEqual({ quantity: 2, reserved: 2 });
});

test.each([
  { quantity: -11, reference: 'a' },
  { quantity: -9, reference: 'a' },
  { reserved: 9, reference: 'a' },
  { reserved: -3, reference: 'a' },
  { quantity: 2_147_483_647, reference: 'a' },
  { quantity: -2_147_483_647, reserved: -2_147_483_647, reference: 'a' },
])('%j is refused with 409 for 10 units of which 2 are reserved, and changes nothing', async (movement) => {
  const id = await addItem();
  const { body } = await move(id, movement).expect(409);
  expect(['not_enough_stock', 'too_much_stock']).toContain(body.code);
  expect(await stockOf(id)).toEqual({ quantity: 10, reserved: 2 });
  // The movement of the new item.
  expect((await service.read(`/inventory/${id}/movements`)).body.total).toBe(1);
  await move(id, { quantity: 1, reference: 'a' }).expect(201);
});

test.each([
  [{ quantity: 1 }, 'reference'],
  [{ quantity: 1, reference: '' }, 'reference'],
  [{ quantity: 1, reference: 'x'.repeat(201) }, 'reference'],
  [{ quantity: 1, reference: 'a\0b' }, 'reference'],
  [{ quantity: 1, reference: null }, 'reference'],
  [{ reference: 'a' }, 'quantity'],
  [{ quantity: 0, reserved: 0, reference: 'a' }, 'quantity'],
  [{ quantity: 1.5, reference: 'a' }, 'quantity'],
  [{ quantity: '1', reference: 'a' }, 'quantity'],
  [{ quantity: 2 ** 31, reference: 'a' }, 'quantity'],
  [{ reserved: -(2 ** 31), reference: 'a' }, 'reserved'],
  [{ quantity: 1, reference: 'a', reason: '' }, 'reason'],
  [{ quantity: 1, reference: 'a', reason: 'a\0b' }, 'reason'],
  [{ quantity: 1, reference: 'a', consignmentId: unknownId }, 'consignmentId'],
])('a movement of %j is refused, and the error names the field', async (movement, field) => {
  const { body } = await move(await addItem(), movement).expect(400);
  expect(Object.keys(body.errors as object)).toEqual([field]);
});

test('movements of an unknown item, a movement of another item, and a token that only reads are refused', async () => {
  const [id, other] = [await addItem(), await addItem()];
  const { body } = await move(id, { quantity: 1, reference: 'a' });
  await move(unknownId, { quantity: 1, reference: 'a' }).expect(404);
  await service.read(`/inventory/${unknownId}/movements`).expect(404);
  await service.read(`/inventory/1/movements`).expect(400);
  await service.read(`/inventory/${id}/movements?SearchText=a`).expect(400);
  await service.read(`/inventory/${other}/movements/${body.id}`).expect(404);
  await service
    .read(`/inventory/${id}/movements`)
    .set('Authorization', `Bearer ${await service.tokens.token({ scope: 'quests:read' })}`)
    .expect(403);
  const reading = `Bearer ${await service.tokens.token({ scope: 'consignments:read' })}`;
  await move(id, { quantity: 1, reference: 'b' }).set('Authorization', reading).expect(403);
  expect(await stockOf(id)).toEqual({ quantity: 11, reserved: 2 });
});

test('a movement that fails halfway stores nothing and changes no stock', async () => {
  const id = await addItem();
  const { sql } = service.context.database;
  await sql`alter table stock_movements add constraint fault check (reference <> 'fault')`;
  await move(id, { quantity: 1, reference: 'fault' }).expect(500);
  await sql`alter table stock_movements drop constraint fault`;
  expect(await stockOf(id)).toEqual({ quantity: 10, reserved: 2 });
  await move(id, { quantity: 1, reference: 'fault' }).expect(201);
  expect(await stockOf(id)).toEqual({ quantity: 11, reserved: 2 });
});

test('an item never has more units reserved than it has', async () => {
  const refused = await service.post('/inventory', inventoryInput({ quantity: 1, reserved: 2 })).expect(400);
  expect(refused.body.errors).toEqual({ reserved: ['must be at most quantity'] });
  const id = await addItem();
  for (const patch of [{ quantity: 1 }, { reserved: 11 }, { quantity: 5, reserved: 6 }]) {
    const { body } = await service.patch(`/inventory/${id}`, patch).expect(409);
    expect(body).toMatchObject({ code: 'not_enough_stock', left: [{ inventoryId: id, available: 8 }] });
  }
  await service.patch(`/inventory/${id}`, { quantity: 1, reserved: 0 }).expect(200);
  expect(await stockOf(id)).toEqual({ quantity: 1, reserved: 0 });
});

test('deleting an item deletes its movements', async () => {
  const id = await addItem();
  await move(id, { quantity: 1, reference: 'a' }).expect(201);
  await service.delete(`/inventory/${id}`).expect(204);
  await service.read(`/inventory/${id}/movements`).expect(404);
  const rows = await service.context.database.sql`select from stock_movements where inventory_id = ${id}`;
  expect(rows).toHaveLength(0);
});
