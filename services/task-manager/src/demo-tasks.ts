import { NewTask, type Task } from './tasks/schema.ts';

const places = ['kitchen', 'garden', 'office', 'workshop', 'cellar'];
const jobs = ['Tidy', 'Paint', 'Measure', 'Repair', 'Photograph', 'Clear out'];
const statuses = ['todo', 'todo', 'in_progress', 'done'] as const;
const priorities = ['medium', 'low', 'high', 'medium', 'urgent'] as const;

const minute = 60_000;
const day = 24 * 60 * minute;

/** Creates 30 tasks with fixed ids, created at intervals of a minute until `now`; every fifth has no due date. */
export const demoTasks = (now: Date): Task[] =>
  jobs.flatMap((job, jobIndex) =>
    places.map((place, placeIndex) => {
      const n = jobIndex * places.length + placeIndex;
      const input = NewTask.parse({
        title: `${job} the ${place}`,
        description: `One of thirty things to try the service with: ${job.toLowerCase()} the ${place}.`,
        status: statuses[n % statuses.length],
        priority: priorities[n % priorities.length],
        dueDate: placeIndex === 4 ? null : new Date(now.getTime() + (n - 5) * day).toISOString().slice(0, 10),
        tags: [place, ...(jobIndex % 2 === 0 ? ['weekend'] : [])],
      });
      const id = `01900000-0000-7000-8000-${(0xd000 + n).toString(16).padStart(12, '0')}`;
      const createdAt = new Date(now.getTime() - (30 - n) * minute).toISOString();
      const completedAt = input.status === 'done' ? createdAt : null;
      return { ...input, id, completedAt, createdAt, updatedAt: createdAt, version: 1 };
    }),
  );

/** Creates five tasks of a list, due on successive days from today, assigned to the members in turn; the last is unassigned. */
export const sharedTasks = (now: Date, listId: string, assignees: readonly string[]): Task[] =>
  ['Buy bread', 'Water the plants', 'Call the plumber', 'Pick up the parcel', 'Plan the holiday'].map(
    (title, n) => {
      const dueDate = new Date(now.getTime() + n * day).toISOString().slice(0, 10);
      const assigneeId = n === 4 ? null : (assignees[n % assignees.length] ?? null);
      const input = NewTask.parse({ title, dueDate, listId, assigneeId, tags: ['household'] });
      const id = `01900000-0000-7000-8000-${(0xd110 + n).toString(16).padStart(12, '0')}`;
      const createdAt = new Date(now.getTime() - (5 - n) * minute).toISOString();
      return { ...input, id, completedAt: null, createdAt, updatedAt: createdAt, version: 1 };
    },
  );
