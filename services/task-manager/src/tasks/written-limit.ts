import { TooManyRequests } from '@platform/service-kit/problem';
import { createBatchedRateCounter } from '@platform/service-kit/rate-limit';
import { currentRequest } from '@platform/service-kit/request-scope';
import type { Redis } from 'ioredis';

const sixHours = 21_600;
/** Bytes that each account may store before its network counts: some hundred small tasks. */
const accountBytes = 2 ** 18;
/** Limit of these bytes for all accounts together. */
const allAccountsBytes = 2 ** 30;
/** Bytes of a row and its index entries in addition to its JSON. */
const rowBytes = 1000;

/** Size of a value as JSON. */
export const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

type Counter = ReturnType<typeof createBatchedRateCounter>;

/** Counts the bytes if that many are left; otherwise counts nothing. */
const take = async (counter: Counter, key: string, bytes: number, factor = 1) => {
  const { remainingPoints, msBeforeNext } = await counter.take(key, factor);
  const isTaken = bytes <= remainingPoints;
  if (isTaken) counter.add(key, bytes - 1);
  return { isTaken, msBeforeNext };
};

/**
 * Limits what the accounts of a network store in six hours: tasks, and responses for Idempotency-Keys. Anybody may create many
 * accounts, and a full disk stops the databases of all services. Each account may always store a little, so that ordinary work is
 * possible after others have used up the limit of the network. Call the returned function with the user and the bytes of JSON
 * before storing them; it throws TooManyRequests. Source: docs/adr/0127.
 * @param megabytes WRITTEN_MB_PER_NETWORK
 */
export const createWrittenLimit = (redis: Redis | undefined, megabytes: number) => {
  const counter = (subject: string, points: number): Counter =>
    createBatchedRateCounter({ redis, prefix: `task-manager:written-${subject}`, points, seconds: sixHours });
  const users = counter('user', accountBytes);
  const allAccounts = counter('own', allAccountsBytes);
  const networks = counter('network', megabytes * 2 ** 20);
  return async (userId: string, json: number): Promise<void> => {
    const bytes = json + rowBytes;
    if ((await take(users, userId, bytes)).isTaken && (await take(allAccounts, '', bytes)).isTaken) return;
    // From the narrowest network to the widest: an IPv6 /56 may store 4 times, a /48 16 times as much as a /64.
    for (const [index, network] of (currentRequest()?.client() ?? ['']).slice(0, -1).toReversed().entries()) {
      const { isTaken, msBeforeNext } = await take(networks, network, bytes, 4 ** index);
      if (isTaken) continue;
      const detail = `Your network may store ${megabytes} MB of tasks in six hours, in addition to the first 256 kB of each account.`;
      throw new TooManyRequests(msBeforeNext / 1000, detail);
    }
  };
};
