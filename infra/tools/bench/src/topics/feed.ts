/** The change feed: reading it, what it costs those who write, and deliveries to subscribers. */
import { deliveries } from '../feed/deliveries.ts';
import { log } from '../feed/log.ts';
import { writes } from '../feed/writes.ts';
import type { Topic } from '../figure.ts';

export const topic: Topic = {
  title: 'Change feed and outgoing webhooks',
  parts: { log, writes, deliveries },
};
