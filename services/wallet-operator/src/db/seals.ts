import { dateColumn } from '@platform/service-kit/columns';
import { integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { minor } from './columns.ts';

/** Signed checkpoints: each seals a range of entries under the root of a Merkle tree (docs/adr/0036). */
export const sealedRanges = pgTable('sealed_ranges', {
  number: minor('number').primaryKey(),
  entries: integer().notNull(),
  total: minor('total').notNull(),
  /** Hash of the checkpoint before. */
  previous: text().notNull(),
  root: text().notNull(),
  sealedAt: dateColumn('sealed_at').notNull(),
  keyId: text('key_id').notNull(),
  signature: text().notNull(),
});

/** Which entries a range holds. Its leaves are in the order of the player ids, and by number within a player. */
export const sealedRuns = pgTable(
  'sealed_runs',
  {
    number: minor('number').notNull(),
    playerId: text('player_id').notNull(),
    firstSeq: minor('first_seq').notNull(),
    lastSeq: minor('last_seq').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.number, table.playerId] }),
    uniqueIndex('sealed_runs_entry').on(table.playerId, table.lastSeq),
  ],
);

/** Public keys that signed checkpoints. */
export const sealingKeys = pgTable('sealing_keys', {
  keyId: text('key_id').primaryKey(),
  /** `x` of the JWK. */
  x: text().notNull(),
  createdAt: dateColumn('created_at').notNull(),
});
