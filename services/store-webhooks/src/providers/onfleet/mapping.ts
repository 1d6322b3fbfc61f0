import type { z } from 'zod';
import type { JobRecord } from '../records.ts';
import { idIn } from '../shape.ts';
import type { webhook } from './schema.ts';

/** https://docs.onfleet.com/reference/tasks: `state` of a task. */
const states = ['UNASSIGNED', 'ASSIGNED', 'ACTIVE', 'COMPLETED'];

/** Examples show seconds in some places and milliseconds in others; no delivery is from 1973. */
const milliseconds = (time: number | null): number | null =>
  time === null ? null : Math.round(time < 1e11 ? time * 1000 : time);

export const toJob = ({ taskId, time, workerId, data }: z.output<typeof webhook>): JobRecord => {
  const task = data?.task ?? null;
  const worker = data?.worker ?? null;
  const order = task?.metadata?.find(({ name }) => name === 'orderId' || name === 'order_id');
  const [lng, lat] = worker?.location ?? [];
  return {
    id: taskId,
    orderId: idIn(order?.value) ?? null,
    status: states[task?.state ?? -1] ?? null,
    driverId: workerId ?? task?.worker ?? null,
    driver: worker && { name: worker.name, phone: worker.phone, lat: lat ?? null, lng: lng ?? null },
    estimatedArrival: milliseconds(task?.estimatedCompletionTime ?? null),
    at: milliseconds(time),
  };
};
