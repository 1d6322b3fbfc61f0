import type { NewTask, Task, TaskPatch, TimedTask } from './schema.ts';

/** A task at its first version. */
export const newTask = <Time>(input: NewTask, { id, now }: { id: string; now: Time }): TimedTask<Time> => ({
  ...input,
  id,
  completedAt: input.status === 'done' ? now : null,
  createdAt: now,
  updatedAt: now,
  version: 1,
});

const isEqual = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** When the task became done; null unless it is. */
const completedAtOf = <Time>(before: Task, status: Task['status'], now: Time): Time | string | null => {
  if (status !== 'done') return null;
  return before.status === 'done' ? before.completedAt : now;
};

/**
 * The task after a merge patch (RFC 7396): absent fields stay, null sets a field to its empty value.
 * Undefined when the patch changes nothing.
 */
export const patchedTask = <Time>(task: Task, patch: TaskPatch, now: Time): TimedTask<Time> | undefined => {
  const { title, description, status, priority, dueDate, tags } = patch;
  const next = {
    ...task,
    title: title ?? task.title,
    description: description === undefined ? task.description : (description ?? ''),
    status: status ?? task.status,
    priority: priority ?? task.priority,
    dueDate: dueDate === undefined ? task.dueDate : dueDate,
    tags: tags === undefined ? task.tags : (tags ?? []),
  };
  if (isEqual(task, next)) return undefined;
  const completedAt = completedAtOf(task, next.status, now);
  return { ...next, completedAt, updatedAt: now, version: task.version + 1 };
};
