import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startService, type Service } from './harness.ts';
import { partnerInput } from './inputs.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
beforeEach(() => service.context.database.sql`delete from partners`);
afterAll(() => service[Symbol.asyncDispose]());

describe('the relationships of a partner', () => {
  const create = async (changes: object = {}) =>
    (await service.post('/partners', partnerInput(changes)).expect(201)).body as { id: string };
  const patch = async (id: string, changes: object) =>
    (await service.patch(`/partners/${id}`, changes).expect(200)).body as object;

  test('are those in the request, or only `relationship`, which is always the first', async () => {
    expect(await create({ relationship: 2 })).toMatchObject({ relationship: 2, relationships: [2] });
    expect(await create({ relationship: 1, relationships: [1, 0] })).toMatchObject({
      relationship: 1,
      relationships: [1, 0],
    });
  });

  test('change with a patch of `relationship`, which changes with a patch of `relationships`', async () => {
    const { id } = await create({ relationship: 0, relationships: [0, 1, 2] });
    expect(await patch(id, { relationship: 3 })).toMatchObject({ relationship: 3, relationships: [3, 1, 2] });
    expect(await patch(id, { relationship: 2 })).toMatchObject({ relationship: 2, relationships: [2, 1] });
    expect(await patch(id, { relationships: [1] })).toMatchObject({ relationship: 1, relationships: [1] });
    expect(await patch(id, { name: 'Renamed' })).toMatchObject({ relationship: 1, relationships: [1] });
  });

  test('are all matched by Relationship, and omitted in the list', async () => {
    await create({ code: 'A', relationship: 0, relationships: [0, 1] });
    await create({ code: 'B', relationship: 1 });
    await create({ code: 'C', relationship: 0, status: 0 });
    const codes = async (query: string) => {
      const { total, partners } = (await service.read(`/partners?${query}`).expect(200)).body as {
        total: number;
        partners: { code: string }[];
      };
      expect(total).toBe(partners.length);
      for (const partner of partners)
        expect(Object.keys(partner)).toEqual(['id', 'code', 'name', 'relationship', 'status']);
      return partners.map(({ code }) => code);
    };
    expect(await codes('Relationship=1')).toEqual(['B', 'A']);
    expect(await codes('Relationship=0')).toEqual(['C', 'A']);
    expect(await codes('Relationship=0&Status=1')).toEqual(['A']);
    expect(await codes('Relationship=1&SearchText=van')).toEqual(['B', 'A']);
    expect(await codes('Relationship=2')).toEqual([]);
  });

  test.each([
    [{ relationship: 0, relationships: [1, 0] }, 'relationships'],
    [{ relationship: 0, relationships: [] }, 'relationships'],
    [{ relationship: 0, relationships: [0, 0] }, 'relationships'],
    [{ relationship: 0, relationships: [0, 1, 2, 3, 3] }, 'relationships'],
    [{ relationship: 0, relationships: [0, 4] }, 'relationships.1'],
    [{ relationship: 0, relationships: null }, 'relationships'],
    [{ relationship: 0, relationships: '0,1' }, 'relationships'],
  ])('%j are refused, and the error names the field', async (changes, name) => {
    const { id } = await create();
    for (const refused of [
      service.post('/partners', partnerInput(changes)),
      service.patch(`/partners/${id}`, changes),
    ])
      expect(Object.keys((await refused.expect(400)).body.errors as object)).toEqual([name]);
  });
});
