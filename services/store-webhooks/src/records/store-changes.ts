import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { storeChanges } from '../db/tables.ts';
import { declareList } from './list.ts';
import { viewOf } from './view.ts';

const snapshot = z.record(z.string(), z.unknown());

export const storeChangeList = declareList({
  table: storeChanges,
  latest: storeChanges.id,
  name: 'changes',
  operationId: 'listStoreChanges',
  tag: 'Stores',
  summary: 'Changes of a store, newest first',
  bytes: sql<number>`octet_length(before::text) + octet_length(after::text)`,
  view: viewOf('StoreChange', storeChanges, 'id changedBy changedAt', {
    changedBy: 'Subject of the access token',
    before: snapshot.meta({
      description: 'Name, address and settings before the change, without credentials',
    }),
    after: snapshot,
  }),
});
