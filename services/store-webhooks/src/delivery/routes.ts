import { deliveryJobs } from '../db/tables.ts';
import { declareRecords } from '../stores/records.ts';
import { JobView, showJob } from './schema.ts';

export const deliveryRecords = declareRecords({
  table: deliveryJobs,
  latest: deliveryJobs.eventId,
  name: 'deliveryJobs',
  path: 'delivery-jobs',
  tag: 'Delivery',
  summary: 'The delivery jobs, most recently changed first',
  view: JobView,
  show: showJob,
  one: {
    noun: 'delivery job',
    param: 'jobId',
    operationId: 'getDeliveryJob',
    summary: 'A delivery job',
    key: deliveryJobs.id,
  },
});
