import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { projectInput, startService, type Service } from './harness.ts';
import { sync, type ReadPage } from './sync.ts';

interface Project {
  id: string;
  name: string;
  updated_at: string;
}

let service: Service;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  await service.context.database.sql`delete from projects`;
});
afterAll(() => service[Symbol.asyncDispose]());

const create = async (name: string): Promise<Project> =>
  (await service.admin.post('/projects', projectInput({ name })).expect(201)).body;
const change = (id: string, name: string) => service.admin.patch(`/projects/${id}`, { name }).expect(200);
const read: ReadPage<Project> = async (query) => (await service.read(`/projects?${query}`).expect(200)).body;
const names = async (query: string) => (await read(query)).projects.map(({ name }) => name);

describe('a walk by page numbers', () => {
  test('returns a project that is changed or created during the walk on a later page', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c', 'd']) made.push(await create(name));
    expect(await names('limit=2&page=1')).toEqual(['a', 'b']);
    await change(made[2]?.id ?? '', 'c changed');
    await create('e');
    expect(await names('limit=2&page=2')).toEqual(['d', 'c changed']);
    expect(await names('limit=2&page=3')).toEqual(['e']);
  });

  test('can be resumed if nothing before that point has changed', async () => {
    for (const name of ['a', 'b', 'c']) await create(name);
    expect(await names('limit=2&page=1')).toEqual(['a', 'b']);
    expect(await names('limit=2&page=2')).toEqual(['c']);
  });

  test('misses a project if one before it moves to the end, as OFFSET would', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c']) made.push(await create(name));
    expect(await names('limit=1&page=1')).toEqual(['a']);
    await change(made[0]?.id ?? '', 'a changed');
    expect(await names('limit=1&page=2')).toEqual(['c']);
    // A reader that continues from the last updated_at does not miss it.
    expect(await names(`limit=2&modified_after=${made[0]?.updated_at}`)).toEqual(['b', 'c']);
  });
});

type Change = { kind: 'add' } | { kind: 'change' | 'remove' | 'deliver'; which: number };

const which = fc.nat(30);
const changes = fc.array(
  fc.oneof(
    fc.constant({ kind: 'add' } as const),
    fc.record({ kind: fc.constantFrom('change', 'deliver', 'remove'), which }),
  ),
  { maxLength: 4 },
);

const apply = async (ids: string[], step: Change): Promise<void> => {
  if (step.kind === 'add') {
    ids.push((await create('new')).id);
    return;
  }
  const at = step.which % Math.max(ids.length, 1);
  const id = ids[at];
  if (id === undefined) return;
  if (step.kind === 'remove') {
    await service.admin.delete(`/projects/${id}?force=true`).expect(204);
    ids.splice(at, 1);
  } else if (step.kind === 'change') await change(id, `changed ${step.which}`);
  else {
    await service.admin
      .post(`/projects/${id}/deliverables`, { language: 'de', type: 'evidence' })
      .expect(201);
  }
};

describe('a walk by updated_at', () => {
  test('misses no change that is made between two pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 3, max: 5 }),
        fc.array(changes, { maxLength: 12 }),
        async (limit, steps) => {
          await service.context.database.sql`delete from projects`;
          const ids: string[] = [];
          for (let n = 0; n < 7; n++) ids.push((await create(`p${n}`)).id);
          const pending = steps.values();
          const copy = new Map<string, Project>();
          const disturbed: ReadPage<Project> = async (query) => {
            const body = await read(query);
            for (const step of pending.next().value ?? []) await apply(ids, step);
            return body;
          };
          let seen: string | undefined;
          // The reader may continue several times; the last time nothing changes any more.
          for (let n = 0; n < 3; n++) seen = await sync(disturbed, copy, seen, limit);
          for (const rest of pending) for (const step of rest) await apply(ids, step);
          await sync(read, copy, seen, limit);
          const { projects } = await read('limit=200');
          for (const project of projects) expect(copy.get(project.id)).toEqual(project);
        },
      ),
      { numRuns: 25 },
    );
  });
});
