import { randomUUID } from 'node:crypto';
import { bearer, consignments, iteratePageIndex, unwrap } from '@platform/client';
import { findDifferences, type Actor } from '../actor.ts';
import { callTimeout, persist } from '../wait.ts';

const [BOOKED, DISPATCHED] = [1, 4];

/** Books and dispatches consignments, and finally reads the whole list. */
export const shipper = (url: string, token: string): Actor => {
  const shipping = consignments(url, callTimeout, bearer(token));
  const reference = `e2e-${randomUUID()}`;
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
      // The status is unknown until a change is acknowledged.
      statuses.delete(id);
      const params = { path: { id } };
      for (const next of [BOOKED, DISPATCHED])
        await persist(() => unwrap(shipping.PATCH('/consignments/{id}', { params, body: { status: next } })));
      statuses.set(id, DISPATCHED);
    },
    verify: async () => {
      const listed: { id: string; status: number }[] = [];
      const list = iteratePageIndex(
        'consignments',
        (query) => shipping.GET('/consignments', { params: { query: { ...query, SearchText: reference } } }),
        50,
      );
      for await (const { id, status } of list) listed.push({ id, status });
      const statusById = new Map(listed.map(({ id, status }) => [id, status]));
      return [
        ...(statusById.size === listed.length ? [] : ['shipper: the list has a consignment twice']),
        ...findDifferences('shipper: consignment', statuses, statusById),
      ];
    },
  };
};
