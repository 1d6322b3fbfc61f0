import { readFile } from 'node:fs/promises';
import request from 'supertest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from '../../test/harness.ts';
import { consignmentInput, inventoryInput } from '../../test/inputs.ts';
import { statuses, transitions } from './statuses.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service[Symbol.asyncDispose]());

const unknownId = '0198c5a0-7e57-7000-8000-00000000ffff';
const [draft, booked, picking, packed, dispatched, inTransit, delivered, cancelled, lost] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8,
];

const add = async (path: string, input: object): Promise<string> => {
  const { body } = await service.post(path, input).expect(201);
  return (body as { id: string }).id;
};
const addItem = (quantity = 10, reserved = 0) => add('/inventory', inventoryInput({ quantity, reserved }));
const addConsignment = (changes: object = {}) => add('/consignments', consignmentInput(changes));
const lineOf = (productId: string, quantity: number) => ({ productId, quantity });

const change = (id: string, patch: object) => service.patch(`/consignments/${id}`, patch);
const set = (id: string, status: number | undefined) => change(id, { status }).expect(200);
const force = (id: string, status: number | undefined) =>
  change(id, { status, force: true, reason: 'A mistake' }).expect(200);

/** Quantity and reserved. */
const stockOf = async (id: string) => {
  const { quantity, reserved } = (await service.read(`/inventory/${id}`).expect(200)).body;
  return [quantity, reserved] as [number, number];
};
const historyOf = async (id: string) => (await service.read(`/consignments/${id}/history`).expect(200)).body;

describe('transitions', () => {
  test.each(statuses.map((name, from) => [name, from] as const))(
    'from %s only those in the table are allowed without force',
    async (name, from) => {
      const next: readonly string[] = transitions[name].next;
      for (const [to, target] of statuses.entries()) {
        const id = await addConsignment({ status: from });
        const { status, body } = await change(id, { status: to });
        const isAllowed = to === from || next.includes(target);
        expect([target, status, body.code]).toEqual([
          target,
          isAllowed ? 200 : 409,
          isAllowed ? undefined : 'transition_not_allowed',
        ]);
        expect((await service.read(`/consignments/${id}`)).body.status).toBe(isAllowed ? to : from);
        if (!isAllowed) await force(id, to);
      }
    },
  );

  test('are the same in the guide and in the code', async () => {
    const guide = await readFile(new URL('../../../../docs/consignments.md', import.meta.url), 'utf8');
    for (const [name, { goods, next }] of Object.entries(transitions)) {
      const row = guide.split('\n').find((line) => line.startsWith(`| ${name} `)) ?? '';
      const cells = row.split('|').map((cell) => cell.trim());
      expect(cells.slice(1, 4)).toEqual([name, next.join(', ') || 'none', goods]);
    }
  });
});

describe('the history of a consignment', () => {
  test('has who changed the status, when, from, to and why, newest first', async () => {
    const id = await addConsignment();
    expect(await historyOf(id)).toEqual({ index: 0, total: 0, history: [] });
    await change(id, { status: booked, reason: 'By phone' }).expect(200);
    await force(id, draft);
    await change(id, { status: draft, reference: 'PO 1', force: true, reason: 'No change of status' });
    const entry = {
      id: expect.any(String) as string,
      changedBy: expect.stringMatching(/./) as string,
      changedAt: expect.stringMatching(/Z$/) as string,
    };
    const [newest, oldest] = [
      { ...entry, from: booked, to: draft, forced: true, reason: 'A mistake' },
      { ...entry, from: draft, to: booked, forced: false, reason: 'By phone' },
    ];
    expect(await historyOf(id)).toStrictEqual({ index: 0, total: 2, history: [newest, oldest] });
    const page = await service.read(`/consignments/${id}/history?PAGEINDEX=1&PageSize=1`).expect(200);
    expect(page.body).toStrictEqual({ index: 1, total: 2, history: [oldest] });
  });

  test('is 404 for an unknown and a deleted consignment, 403 for another scope', async () => {
    const id = await addConsignment();
    await set(id, booked);
    const others = `Bearer ${await service.tokens.token({ scope: 'quests:read' })}`;
    await service.read(`/consignments/${id}/history`).set('Authorization', others).expect(403);
    await service.delete(`/consignments/${id}`).expect(204);
    await service.read(`/consignments/${id}/history`).expect(404);
    await service.read(`/consignments/${unknownId}/history`).expect(404);
    await service.read('/consignments/1/history').expect(400);
  });
});

test.each([
  [{ status: 0, force: true }, 'reason'],
  [{ status: 0, force: true, reason: '' }, 'reason'],
  [{ status: 0, force: true, reason: 'a\0b' }, 'reason'],
  [{ status: 0, force: true, reason: 'x'.repeat(501) }, 'reason'],
  [{ status: 0, reason: null }, 'reason'],
  [{ status: 0, force: 'yes', reason: 'a' }, 'force'],
])('a patch of %j is refused, and the error names the field', async (patch, field) => {
  const { body } = await change(await addConsignment(), patch).expect(400);
  expect(Object.keys(body.errors as object)).toEqual([field]);
});

test('a patch with force and a reason but without a change changes nothing', async () => {
  const id = await addConsignment();
  const before = await service.read(`/consignments/${id}`);
  const { body, headers } = await change(id, { status: 0, force: true, reason: 'a' }).expect(200);
  expect([body, headers['etag']]).toEqual([before.body, before.headers['etag']]);
  expect((await historyOf(id)).total).toBe(0);
});

describe('stock', () => {
  test('is reserved by booking, taken out by dispatch, and stays out on delivery', async () => {
    const [item, other] = [await addItem(), await addItem(5, 1)];
    const lines = [
      lineOf(item, 3),
      lineOf(other, 4),
      lineOf(item, 2),
      { description: 'A crate', quantity: 99 },
    ];
    const id = await addConsignment({ lines });
    expect(await stockOf(item)).toEqual([10, 0]);
    await set(id, booked);
    expect([await stockOf(item), await stockOf(other)]).toEqual([
      [10, 5],
      [5, 5],
    ]);
    await set(id, picking);
    await set(id, packed);
    expect(await stockOf(item)).toEqual([10, 5]);
    await set(id, dispatched);
    expect([await stockOf(item), await stockOf(other)]).toEqual([
      [5, 0],
      [1, 1],
    ]);
    await set(id, inTransit);
    await set(id, delivered);
    expect(await stockOf(item)).toEqual([5, 0]);
    const { body } = await service.read(`/inventory/${item}/movements`).expect(200);
    expect(body.movements).toMatchObject([
      { quantity: -5, reserved: -5, reference: null, consignmentId: id },
      { quantity: 0, reserved: 5, reference: null, consignmentId: id },
      { quantity: 10, reserved: 0, reference: null, consignmentId: null },
    ]);
  });

  test('is released by cancelling and by deleting, and returned by force only', async () => {
    const item = await addItem();
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map((quantity) => addConsignment({ lines: [lineOf(item, quantity)] })),
    );
    for (const id of [first, second, third]) await set(id ?? '', booked);
    expect(await stockOf(item)).toEqual([10, 6]);
    await set(first ?? '', cancelled);
    expect(await stockOf(item)).toEqual([10, 5]);
    await service.delete(`/consignments/${second}`).expect(204);
    expect(await stockOf(item)).toEqual([10, 3]);
    await set(third ?? '', dispatched);
    expect(await stockOf(item)).toEqual([7, 0]);
    await force(third ?? '', booked);
    expect(await stockOf(item)).toEqual([10, 3]);
    await set(third ?? '', dispatched);
    await force(third ?? '', cancelled);
    expect(await stockOf(item)).toEqual([10, 0]);
    await force(third ?? '', delivered);
    expect(await stockOf(item)).toEqual([7, 0]);
    await service.delete(`/consignments/${third}`).expect(204);
    expect(await stockOf(item)).toEqual([7, 0]);
  });

  test('of a lost consignment stays out until it is returned with force', async () => {
    const item = await addItem();
    const id = await addConsignment({ lines: [lineOf(item, 3)] });
    await set(id, booked);
    await set(id, dispatched);
    await change(id, { status: lost, reason: 'The lorry burnt out' }).expect(200);
    expect(await stockOf(item)).toEqual([7, 0]);
    expect((await historyOf(id)).history[0]).toMatchObject({ to: lost, reason: 'The lorry burnt out' });
    await force(id, delivered);
    expect(await stockOf(item)).toEqual([7, 0]);
    await force(id, cancelled);
    expect(await stockOf(item)).toEqual([10, 0]);
  });

  test('that is not enough refuses the whole booking and reports the remaining stock', async () => {
    const [rich, poor] = [await addItem(10), await addItem(4, 2)];
    const id = await addConsignment({ lines: [lineOf(rich, 10), lineOf(poor, 3)] });
    const { body } = await change(id, { status: booked, reference: 'PO 9' }).expect(409);
    expect(body.code).toBe('not_enough_stock');
    expect(body.left).toEqual([{ inventoryId: poor, quantity: 4, reserved: 2, available: 2 }]);
    expect([await stockOf(rich), await stockOf(poor)]).toEqual([
      [10, 0],
      [4, 2],
    ]);
    expect((await historyOf(id)).total).toBe(0);
    expect((await service.read(`/consignments/${id}`)).body).toMatchObject({
      status: draft,
      reference: null,
    });
  });

  test('is refused for lines whose units together exceed an integer of the database', async () => {
    const item = await addItem();
    const most = 2_147_483_647;
    const id = await addConsignment({ lines: [lineOf(item, most), lineOf(item, most)] });
    for (const status of [booked, dispatched]) {
      const patch = { status, force: true, reason: 'Too many' };
      expect((await change(id, patch).expect(409)).body.code).toBe('not_enough_stock');
    }
  });

  test('follows the lines of a consignment that has moved stock', async () => {
    const [item, other] = [await addItem(), await addItem()];
    const id = await addConsignment({ lines: [lineOf(item, 3)] });
    await set(id, booked);
    await change(id, { lines: [lineOf(item, 1), lineOf(other, 2)] }).expect(200);
    expect([await stockOf(item), await stockOf(other)]).toEqual([
      [10, 1],
      [10, 2],
    ]);
    await change(id, { lines: [lineOf(item, 11)] }).expect(409);
    await change(id, { status: dispatched, lines: [lineOf(item, 4)] }).expect(200);
    expect([await stockOf(item), await stockOf(other)]).toEqual([
      [6, 0],
      [10, 0],
    ]);
  });

  test('is not moved by POST or import, whatever the status, nor by status changes that leave the goods where they are', async () => {
    const item = await addItem();
    const lines = [lineOf(item, 3)];
    const id = await addConsignment({ status: booked, lines });
    const line = JSON.stringify(consignmentInput({ status: dispatched, lines }));
    const imported = await request(service.app)
      .post('/v1/consignments/import')
      .set({ Authorization: service.writing, 'Content-Type': 'application/x-ndjson' })
      .send(line)
      .expect(200);
    const importedId = (JSON.parse(imported.text) as { id: string }).id;
    await set(importedId, delivered);
    await set(id, picking);
    await change(id, { lines: [lineOf(item, 2)] }).expect(200);
    expect(await stockOf(item)).toEqual([10, 0]);
    await force(importedId, booked);
    expect(await stockOf(item)).toEqual([10, 3]);
    await set(id, dispatched);
    expect(await stockOf(item)).toEqual([8, 3]);
    await service.delete(`/consignments/${importedId}`).expect(204);
    expect(await stockOf(item)).toEqual([8, 0]);
  });

  test('that consignments have reserved cannot be released by hand, and its item cannot be deleted', async () => {
    const item = await addItem(10, 2);
    const id = await addConsignment({ lines: [lineOf(item, 3)] });
    await service.delete(`/inventory/${item}`).expect(409);
    await set(id, booked);
    for (const refused of [
      service.patch(`/inventory/${item}`, { reserved: 2 }),
      service.patch(`/inventory/${item}`, { quantity: 2, reserved: 2 }),
      service.post(`/inventory/${item}/movements`, { reserved: -3, reference: 'a' }),
    ])
      expect((await refused.expect(409)).body.code).toBe('not_enough_stock');
    await service.post(`/inventory/${item}/movements`, { reserved: -2, reference: 'a' }).expect(201);
    await change(id, { lines: [] }).expect(200);
    await service.delete(`/inventory/${item}`).expect(204);
  });

  test('is not shown to a caller who may not use the product', async () => {
    const others = await addItem(7);
    const client = '0198c5a0-7e57-7000-8000-0000000000cc';
    const id = await addConsignment({ clientId: client });
    const limited = await service.tokens.token({
      scope: 'consignments:write',
      claims: { clients: [client] },
    });
    const { body } = await change(id, { status: booked, lines: [lineOf(others, 8)] })
      .set('Authorization', `Bearer ${limited}`)
      .expect(422);
    expect([body.code, body.left]).toEqual(['unknown_product', undefined]);
    for (const path of [`/inventory/${others}/movements`, `/consignments/${await addConsignment()}/history`])
      await service.read(path).set('Authorization', `Bearer ${limited}`).expect(404);
    await service
      .post(`/inventory/${others}/movements`, { quantity: 1, reference: 'a' })
      .set('Authorization', `Bearer ${limited}`)
      .expect(404);
  });

  test('is reserved for as many of fifty concurrent bookings as it is enough for', async () => {
    const item = await addItem(20);
    const ids = await Promise.all(
      Array.from({ length: 50 }, () => addConsignment({ lines: [lineOf(item, 1)] })),
    );
    const answers = await Promise.all(ids.map((id) => change(id, { status: booked })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(30);
    expect(await stockOf(item)).toEqual([20, 20]);
  });

  test('is reserved once by fifty concurrent bookings of one consignment', async () => {
    const item = await addItem(20);
    const id = await addConsignment({ lines: [lineOf(item, 2)] });
    const answers = await Promise.all(Array.from({ length: 50 }, () => change(id, { status: booked })));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(await stockOf(item)).toEqual([20, 2]);
    expect((await historyOf(id)).total).toBe(1);
  });

  test('is reserved without deadlock for forty bookings whose lines have two items in either order', async () => {
    const [item, other] = [await addItem(100), await addItem(100)];
    const ids = await Promise.all(Array.from({ length: 40 }, () => addConsignment()));
    const lines = [lineOf(item, 1), lineOf(other, 2)];
    const answers = await Promise.all(
      ids.map((id, n) => change(id, { status: booked, lines: n % 2 === 0 ? lines : lines.toReversed() })),
    );
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    expect([await stockOf(item), await stockOf(other)]).toEqual([
      [100, 40],
      [100, 80],
    ]);
  });

  test('is unchanged when a booking fails halfway', async () => {
    const item = await addItem();
    const id = await addConsignment({ lines: [lineOf(item, 2)], reference: 'before' });
    const { sql } = service.context.database;
    await sql`alter table consignments add constraint fault check (reference <> 'fault')`;
    await change(id, { status: booked, reference: 'fault' }).expect(500);
    await sql`alter table consignments drop constraint fault`;
    expect(await stockOf(item)).toEqual([10, 0]);
    expect((await historyOf(id)).total).toBe(0);
    // The movement of the new item.
    expect((await service.read(`/inventory/${item}/movements`)).body.total).toBe(1);
    await set(id, booked);
    expect(await stockOf(item)).toEqual([10, 2]);
  });
});
