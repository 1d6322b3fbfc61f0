import { route, type Route } from '@platform/service-kit/route';
import { text } from '@platform/service-kit/text';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { storeList } from '../stores/list.ts';
import { JobView, showJob } from './schema.ts';
import { getJob, pageOfJobs } from './use-cases.ts';

export const deliveryRoutes = (context: Context): Route[] => [
  storeList(context, {
    name: 'deliveryJobs',
    path: 'delivery-jobs',
    tag: 'Delivery',
    summary: 'The delivery jobs, the last changed first',
    item: JobView,
    page: pageOfJobs,
    show: showJob,
  }),
  route(
    {
      method: 'get',
      path: '/v1/stores/{id}/delivery-jobs/{jobId}',
      operationId: 'getDeliveryJob',
      tag: 'Delivery',
      summary: 'A delivery job',
      caller: context.verifier.guard('stores:admin'),
      params: z.strictObject({ id: z.uuid(), jobId: text(1, 200) }),
      responses: { 200: { description: 'The job', body: JobView } },
      problems: [404],
    },
    async ({ params }) => ({ status: 200, body: showJob(await getJob(context, params.id, params.jobId)) }),
  ),
];
