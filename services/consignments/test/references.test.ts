import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { consignmentInput, ids, inventoryInput, partnerInput } from './inputs.ts';

let service: Service;
let client: string;
let item: string;
const create = async (path: string, body: object) =>
  ((await service.post(path, body).expect(201)).body as { id: string }).id;
beforeAll(async () => {
  service = await startService();
  client = await create('/partners', partnerInput({ name: 'Kestrel Cycles' }));
  item = await create('/inventory', inventoryInput({ partnerId: client }));
});
afterAll(() => service[Symbol.asyncDispose]());

const unknownId = '0198c5a0-7e57-7000-8000-00000000ffff';

const importLines = async (...lines: object[]) => {
  const { text } = await service
    .post('/consignments/import', {})
    .set('Content-Type', 'application/x-ndjson')
    .serialize(() => lines.map((line) => JSON.stringify(line)).join('\n'))
    .buffer(true)
    .expect(200);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; error: string; errors: object });
};

describe('clientName', () => {
  test('comes from the partner', async () => {
    const ours = consignmentInput({ clientId: client, clientName: undefined });
    const { body } = await service.post('/consignments', ours).expect(201);
    expect(body.clientName).toBe('Kestrel Cycles');
    const [line] = await importLines(ours);
    expect((await service.read(`/consignments/${line?.id}`)).body.clientName).toBe('Kestrel Cycles');
    await service.post('/consignments', { ...ours, clientName: 'Kestrel Cycles' }).expect(201);
  });

  test('that is not the name of the partner is 422', async () => {
    const wrong = consignmentInput({ clientId: client, clientName: 'kestrel cycles' });
    const { body } = await service.post('/consignments', wrong).expect(422);
    expect(body.code).toBe('client_name_mismatch');
    const [refused, next] = await importLines(wrong, consignmentInput());
    expect([refused?.error, typeof next?.id]).toEqual(['client_name_mismatch', 'string']);
    const id = await create('/consignments', consignmentInput());
    for (const patch of [
      { clientId: client, clientName: 'Other' },
      { clientName: 'Other', clientId: client.toUpperCase() },
    ])
      expect((await service.patch(`/consignments/${id}`, patch).expect(422)).body.code).toBe(
        'client_name_mismatch',
      );
    expect((await service.read(`/consignments/${id}`)).body.clientName).toBe('Van Dijk Flowers');
  });

  test('is required for a client of another system', async () => {
    const nameless = consignmentInput({ clientName: undefined });
    const { body } = await service.post('/consignments', nameless).expect(400);
    expect(Object.keys(body.errors as object)).toEqual(['clientName']);
    const [refused] = await importLines(nameless);
    expect([refused?.error, Object.keys(refused?.errors ?? {})]).toEqual([
      'validation_failed',
      ['clientName'],
    ]);
  });

  test('changes with the client, and stays when only the partner is renamed', async () => {
    const renamed = await create('/partners', partnerInput({ name: 'Before' }));
    const id = await create('/consignments', consignmentInput());
    const nameAfter = async (patch: object) =>
      (await service.patch(`/consignments/${id}`, patch).expect(200)).body.clientName as string;
    expect(await nameAfter({ clientId: renamed })).toBe('Before');
    await service.patch(`/partners/${renamed}`, { name: 'After' }).expect(200);
    expect(await nameAfter({ reference: 'PO 8' })).toBe('Before');
    expect(await nameAfter({ clientName: 'After' })).toBe('After');
    expect(await nameAfter({ clientId: ids.client })).toBe('After');
    expect(await nameAfter({ clientName: 'Of another system' })).toBe('Of another system');
  });
});

describe('a line', () => {
  const line = (productId: string) => ({ productId, quantity: 2 });

  test('refers to an inventory item, which then cannot be deleted', async () => {
    const id = await create('/consignments', consignmentInput({ lines: [line(item.toUpperCase())] }));
    expect((await service.read(`/consignments/${id}`)).body.lines).toEqual([
      { productId: item, description: null, quantity: 2, unit: 'piece' },
    ]);
    expect((await service.delete(`/inventory/${item}`).expect(409)).body.code).toBe('in_use');
    await service.patch(`/consignments/${id}`, { lines: [] }).expect(200);
  });

  test('with an unknown item is 422 in POST and PATCH, and refused in an import', async () => {
    const lines = [line(item), line(unknownId)];
    const id = await create('/consignments', consignmentInput());
    for (const refused of [
      service.post('/consignments', consignmentInput({ lines })),
      service.patch(`/consignments/${id}`, { lines }),
    ]) {
      const { body } = await refused.expect(422);
      expect([body.code, Object.keys(body.errors as object)]).toEqual([
        'unknown_product',
        ['lines.1.productId'],
      ]);
    }
    const [refused, next] = await importLines(
      consignmentInput({ lines }),
      consignmentInput({ lines: [line(item)] }),
    );
    expect([refused?.error, typeof next?.id]).toEqual(['unknown_product', 'string']);
    await service.delete(`/consignments/${next?.id}`).expect(204);
  });

  test('is stored in each of 50 concurrently created consignments', async () => {
    const input = consignmentInput({ clientId: client, clientName: undefined, lines: [line(item)] });
    const created = await Promise.all(Array.from({ length: 50 }, () => service.post('/consignments', input)));
    for (const { status, body } of created)
      expect([status, body.clientName, body.lines.length]).toEqual([201, 'Kestrel Cycles', 1]);
  });

  test('and the concurrent deletion of its item: one of them is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const product = await create('/inventory', inventoryInput());
      const [created, deleted] = await Promise.all([
        service.post('/consignments', consignmentInput({ lines: [line(product)] })),
        service.delete(`/inventory/${product}`),
      ]);
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([created.status, deleted.status]);
    }
  });
});

test('an import line that is sent again keeps its result, also if its client or product no longer exists', async () => {
  const partner = await create('/partners', partnerInput({ name: 'Short-lived' }));
  const product = await create('/inventory', inventoryInput());
  const lines = JSON.stringify(
    consignmentInput({
      clientId: partner,
      clientName: 'Short-lived',
      lines: [{ productId: product, quantity: 1 }],
    }),
  );
  const send = async () =>
    (
      await service
        .post('/consignments/import', {})
        .set({ 'Content-Type': 'application/x-ndjson', 'Import-Id': 'again' })
        .serialize(() => lines)
        .buffer(true)
        .expect(200)
    ).text;
  const first = await send();
  const { id } = JSON.parse(first) as { id: string };
  await service.patch(`/consignments/${id}`, { clientId: ids.client, lines: [] }).expect(200);
  await service.patch(`/partners/${partner}`, { name: 'Another name' }).expect(200);
  await service.delete(`/inventory/${product}`).expect(204);
  expect(await send()).toBe(first);
});
