import type { NewTask, Task, TaskPatch } from './schema.ts';

interface Birth {
  id: string;
  /** ISO 8601, as all times here. */
  now: string;
}

/** A task at its first version. */
export const newTask = (wanted: NewTask, { id, now }: Birth): Task => ({
  ...wanted,
  id,
  completedAt: wanted.status === 'done' ? now : null,
  createdAt: now,
  updatedAt: now,
  version: 1,
});

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** When a task counts as completed: the moment it becomes done, until it is done no more. */
const completion = (before: Task, status: Task['status'], now: string): string | null => {
  if (status !== 'done') return null;
  return before.status === 'done' ? before.completedAt : now;
};

/**
 * The task after a merge patch (RFC 7396): what is absent stays, null gives a field its empty value.
 * Undefined when the patch changes nothing.
 */
export const patchedTask = (task: Task, patch: TaskPatch, now: string): Task | undefined => {
  const { title, description, status, priority, dueDate, tags } = patch;
  const changed = {
    title: title ?? task.title,
    description: description === undefined ? task.description : (description ?? ''),
    status: status ?? task.status,
    priority: priority ?? task.priority,
    dueDate: dueDate === undefined ? task.dueDate : dueDate,
    tags: tags === undefined ? task.tags : (tags ?? []),
  };
  const next = { ...task, ...changed };
  if (same(task, next)) return undefined;
  const completedAt = completion(task, next.status, now);
  return { ...next, completedAt, updatedAt: now, version: task.version + 1 };
};
