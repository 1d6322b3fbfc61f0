import { pageIndexQuery, totalledBody } from '@platform/pagination/list';
import { idParams } from '@platform/service-kit/record';
import { route, type Route } from '@platform/service-kit/route';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { listRowsOf } from '../records/use-cases.ts';
import { history } from './queries.ts';
import { StatusChange } from './schema.ts';

/** The route that lists who changed the status of a consignment, when and why. */
export const historyRoute = (context: Context): Route =>
  route(
    {
      method: 'get',
      path: '/consignments/{id}/history',
      operationId: 'listStatusChanges',
      tag: 'Consignments',
      summary: 'Status changes, newest first',
      anyCaseQuery: true,
      auth: context.reader,
      params: idParams('0198c5a0-7e57-7000-8d00-000000000001'),
      query: z.strictObject(pageIndexQuery),
      responses: {
        200: {
          description: 'One page; empty past the end',
          body: totalledBody('history', StatusChange).meta({ id: 'StatusChangeList' }),
        },
      },
      problems: [404],
    },
    async ({ params: { id }, query }) => {
      const owner = { table: 'consignments', id, name: 'consignment', column: 'consignment_id' };
      const list = { table: 'status_changes', json: history.json };
      return { status: 200, rawBody: await listRowsOf(context, owner, 'history', list, query) };
    },
  );
