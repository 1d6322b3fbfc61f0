/** How fast webhooks are acknowledged and processed, and what a full inbox costs. */
import { acknowledged } from '../store-webhooks/acknowledged.ts';
import { burstOfOne } from '../store-webhooks/burst.ts';
import { million } from '../store-webhooks/million.ts';
import { processed } from '../store-webhooks/processed.ts';
import { pruning } from '../store-webhooks/pruning.ts';
import type { Topic } from '../figure.ts';

const parts = { acknowledged, processed, million, burst: burstOfOne, pruning };

export const topic: Topic = {
  title: 'store-webhooks: receiving and processing',
  parts,
  measure: async () => [
    ...(await acknowledged()),
    ...(await processed()),
    ...(await million()),
    ...(await burstOfOne()),
    ...(await pruning()),
  ],
};
