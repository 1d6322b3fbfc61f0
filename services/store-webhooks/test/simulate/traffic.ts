import type { HookEvent } from '../../src/webhooks.ts';
import type { Random } from './random.ts';

/** One webhook to be sent. */
export interface Sending {
  event: HookEvent;
  service?: string;
  body: Record<string, unknown>;
}

/** The expected state of each record after processing, for any order and duplicates. */
export interface Expected {
  orders: Map<string, string>;
  members: Map<string, string>;
  jobs: Map<string, string>;
  verifications: Map<string, string>;
}

const orderStatuses = ['PENDING', 'PREPARING', 'OUT_FOR_DELIVERY', 'COMPLETED'];
const jobEvents = ['job_assigned', 'job_started', 'job_arrived', 'job_completed'] as const;
const stages = ['assigned', 'started', 'arrived', 'completed'];
const verificationStatuses = ['CREATED', 'PENDING_REVIEW', 'APPROVED'];

const orderSteps = (run: string, index: number, random: Random, expected: Expected): Sending[] => {
  const id = `${run}-o${index}`;
  const steps = 1 + random.below(orderStatuses.length);
  expected.orders.set(id, orderStatuses[steps - 1] ?? '');
  return orderStatuses.slice(0, steps).map((status, step) => ({
    event: 'order_updated',
    body: {
      id,
      orderNo: String(1000 + index),
      status,
      consumerId: `${run}-m${index}`,
      modified: 1_700_000_000_000 + step,
      cart: {
        total: 10.5 * (step + 1),
        items: [
          {
            productId: 'p-1',
            productName: 'Tea',
            quantity: step + 1,
            price: 10.5,
            totalPrice: 10.5 * (step + 1),
          },
        ],
      },
    },
  }));
};

const memberSteps = (run: string, index: number, random: Random, expected: Expected): Sending[] => {
  const id = `${run}-m${index}`;
  const steps = 1 + random.below(3);
  const emailOf = (step: number) => `${id}.${step}@example.test`;
  expected.members.set(id, emailOf(steps - 1));
  return Array.from({ length: steps }, (_, step) => ({
    event: step === 0 ? ('new_member' as const) : ('member_updated' as const),
    body: {
      id,
      modified: 1_700_000_000_000 + step,
      email: emailOf(step),
      firstName: 'Ann',
      status: 'ACTIVE',
    },
  }));
};

const jobSteps = (run: string, index: number, random: Random, expected: Expected): Sending[] => {
  const id = `${run}-j${index}`;
  const steps = 1 + random.below(jobEvents.length);
  expected.jobs.set(id, stages[steps - 1] ?? '');
  return jobEvents.slice(0, steps).map((event, step) => ({
    event,
    body: { id, orderId: `${run}-o${index}`, driverId: 'd-1', status: stages[step]?.toUpperCase() },
  }));
};

const verificationSteps = (run: string, index: number, random: Random, expected: Expected): Sending[] => {
  const transactionId = `${run}-v${index}`;
  const service = random.pick(['persona', 'veriff']);
  const steps = 1 + random.below(verificationStatuses.length);
  expected.verifications.set(transactionId, verificationStatuses[steps - 1] ?? '');
  return verificationStatuses.slice(0, steps).map((status, step) => ({
    event:
      step === 2 ? ('identity-verification-completed' as const) : ('identity-verification-updated' as const),
    service,
    body: { service, transactionId, status, userId: `${run}-m${index}`, updatedAt: 1_700_000_000_000 + step },
  }));
};

/**
 * Realistic events of one run and the expected records. With `chaos` they are shuffled, some are sent
 * twice, and some have an invalid payload.
 */
export const makeTraffic = (run: string, count: number, chaos: boolean, random: Random) => {
  const expected: Expected = {
    orders: new Map(),
    members: new Map(),
    jobs: new Map(),
    verifications: new Map(),
  };
  const makers = [orderSteps, memberSteps, jobSteps, verificationSteps] as const;
  const sendings: Sending[] = [];
  for (let index = 0; sendings.length < count; index++)
    sendings.push(...random.pick(makers)(run, index, random, expected));
  if (!chaos) return { sendings, expected, broken: 0 };
  const twice = sendings.filter(() => random.next() < 0.2);
  const broken: Sending[] = Array.from({ length: Math.ceil(count / 50) }, (_, index) => ({
    event: 'order_updated',
    body: { id: `${run}-broken${index}`, status: { not: 'a status' } },
  }));
  return { sendings: random.shuffle([...sendings, ...twice, ...broken]), expected, broken: broken.length };
};
