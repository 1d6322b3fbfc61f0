import { randomUUID } from 'node:crypto';
import { bearer, consignments, iteratePageIndex, unwrap } from '@platform/client';
import { findDifferences, type Actor } from '../actor.ts';
import { inTime, persist } from '../wait.ts';

const [BOOKED, DISPATCHED] = [1, 4];

/** Books consignments, sends them off, and walks through all of them in the evening. */
export const shipper = (url: string, token: string): Actor => {
  const shipping = consignments(url, inTime, bearer(token));
  const reference = `day-${randomUUID()}`;
  const statuses = new Map<string, number>();
  return {
    name: 'shipper',
    pace: 60,
    step: async () => {
      const consignmentNumber = `CN-${randomUUID()}`;
      const body = { consignmentNumber, reference, clientId: randomUUID(), clientName: 'A client' };
      const { id, status } = await unwrap(shipping.POST('/consignments', { body }));
      statuses.set(id, status);
      if (statuses.size % 2 > 0) return;
      // Unknown until it is acknowledged.
      statuses.delete(id);
      const params = { path: { id } };
      for (const next of [BOOKED, DISPATCHED])
        await persist(() => unwrap(shipping.PATCH('/consignments/{id}', { params, body: { status: next } })));
      statuses.set(id, DISPATCHED);
    },
    verify: async () => {
      const walked: { id: string; status: number }[] = [];
      const walk = iteratePageIndex(
        'consignments',
        (query) => shipping.GET('/consignments', { params: { query: { ...query, SearchText: reference } } }),
        50,
      );
      for await (const { id, status } of walk) walked.push({ id, status });
      const listed = new Map(walked.map(({ id, status }) => [id, status]));
      return [
        ...(listed.size === walked.length ? [] : ['shipper: the walk gave something twice']),
        ...findDifferences('shipper: consignment', statuses, listed),
      ];
    },
  };
};
