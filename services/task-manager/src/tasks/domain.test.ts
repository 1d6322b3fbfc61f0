import { describe, expect, test } from 'vitest';
import { newTask, patchedTask } from './domain.ts';
import { NewTask, type Task, type TaskPatch } from './schema.ts';

const born = '2026-01-01T00:00:00.000Z';
const later = '2026-01-02T00:00:00.000Z';
const id = '01900000-0000-7000-8000-000000000001';

const task = (wanted: Partial<NewTask> = {}): Task =>
  newTask(NewTask.parse({ title: 'Water the plants', ...wanted }), { id, now: born });

describe('a new task', () => {
  test('has defaults for absent fields', () => {
    expect(task()).toEqual({
      id,
      title: 'Water the plants',
      description: '',
      status: 'todo',
      priority: 'medium',
      dueDate: null,
      tags: [],
      completedAt: null,
      createdAt: born,
      updatedAt: born,
      version: 1,
    });
  });

  test('that is already done was completed when it was created', () => {
    expect(task({ status: 'done' }).completedAt).toBe(born);
  });
});

describe('a patch', () => {
  test('changes the fields that it names and no others', () => {
    const before = task({ description: 'All of them', tags: ['home'], dueDate: '2026-02-01' });
    expect(patchedTask(before, { title: 'Water the roses' }, later)).toEqual({
      ...before,
      title: 'Water the roses',
      updatedAt: later,
      version: 2,
    });
  });

  test('clears fields that may be empty with null', () => {
    const before = task({ description: 'All of them', tags: ['home'], dueDate: '2026-02-01' });
    const after = patchedTask(before, { description: null, tags: null, dueDate: null }, later);
    expect(after).toMatchObject({ description: '', tags: [], dueDate: null, version: 2 });
  });

  test.each<TaskPatch>([
    {},
    { title: 'Water the plants' },
    { tags: [], dueDate: null, description: null },
    { status: 'todo', priority: 'medium' },
  ])('that changes nothing returns undefined: %j', (patch) => {
    expect(patchedTask(task(), patch, later)).toBeUndefined();
  });

  test('sets completedAt when the task becomes done, and only then', () => {
    const done = patchedTask(task(), { status: 'done' }, born);
    expect(done?.completedAt).toBe(born);
    expect(done && patchedTask(done, { status: 'done', title: 'Still done' }, later)).toMatchObject({
      completedAt: born,
      version: 3,
    });
  });

  test('clears completedAt when the task is no longer done', () => {
    const reopened = patchedTask(task({ status: 'done' }), { status: 'in_progress' }, later);
    expect(reopened).toMatchObject({ status: 'in_progress', completedAt: null });
  });

  test('does not modify its input', () => {
    const before = task();
    const copy = structuredClone(before);
    patchedTask(before, { title: 'Other', tags: ['x'], status: 'done' }, later);
    expect(before).toEqual(copy);
  });
});
