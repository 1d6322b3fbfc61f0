import { z } from 'zod';
import { Ignored } from '../../errors.ts';
import type { DeliveryAdapter } from '../adapter.ts';
import { hexSecret } from '../credentials.ts';
import type { JobStage } from '../records.ts';
import { pointersTo, fieldOf, identifierIn, parsePayload } from '../payload-parsing.ts';
import { hmacSigning } from '../signatures.ts';
import { webhook } from './schema.ts';

/** Triggers that correspond to a stage: taskAssigned, taskStarted, taskArrival, taskCompleted, taskFailed. */
const stages: Readonly<Record<number, JobStage>> = {
  9: 'assigned',
  0: 'started',
  2: 'arrived',
  3: 'completed',
  4: 'failed',
};

/** Names of the `state` of a task. https://docs.onfleet.com/reference/tasks */
const states = ['UNASSIGNED', 'ASSIGNED', 'ACTIVE', 'COMPLETED'];

export const onfleet: DeliveryAdapter = {
  kind: 'onfleet',
  credentials: z.strictObject({ webhookSecret: hexSecret() }).partial(),
  payload: webhook,
  unmaskedFields: [
    ...pointersTo('', 'taskId workerId triggerId triggerName time data/worker/id'),
    ...pointersTo(
      '/data/task',
      'id shortId state worker estimatedCompletionTime completeAfter completeBefore',
    ),
    ...pointersTo('/data/task/completionDetails', 'failureReason success time'),
  ],
  subject: (body) => ({ id: identifierIn(fieldOf(body, 'taskId')) }),
  job: (_stage, body) => {
    const { taskId: id, triggerId, time, workerId, data } = parsePayload(webhook, body);
    const stage = stages[triggerId];
    if (stage === undefined) throw new Ignored('No stage of a job corresponds to this trigger.');
    const { task, worker } = data ?? { task: null, worker: null };
    const order = task?.metadata?.find(({ name }) => name === 'orderId' || name === 'order_id');
    const [lng, lat] = worker?.location ?? [];
    return {
      stage,
      job: {
        id,
        orderId: identifierIn(order?.value) ?? null,
        // A failed task has the state COMPLETED.
        status: stage === 'failed' ? 'FAILED' : (states[task?.state ?? -1] ?? null),
        driverId: workerId ?? task?.worker ?? null,
        driver: worker && { name: worker.name, phone: worker.phone, lat: lat ?? null, lng: lng ?? null },
        estimatedArrival: task?.estimatedCompletionTime ?? null,
        at: time,
      },
    };
  },
  ...hmacSigning({
    header: 'x-onfleet-signature',
    algorithm: 'sha512',
    encoding: 'hex',
    key: (secret) => Buffer.from(secret, 'hex'),
  }),
};
