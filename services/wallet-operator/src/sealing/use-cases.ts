import { Conflict, NotFound, Unavailable } from '@platform/service-kit/problem';
import type { Sql } from 'postgres';
import type { Page } from '@platform/pagination/list';
import type { Checkpoint } from '@platform/sealed-log/checkpoint';
import { publicJwk, publicKeysOf, type PublicJwk, type SealingKey } from '@platform/sealed-log/keys';
import { merkleLevels, pathTo, rootOf } from '@platform/sealed-log/merkle';
import type { Evidence } from '@platform/sealed-log/evidence';
import { NotProven, verifyEvidence } from '@platform/sealed-log/verify';
import type { Context } from '../context.ts';
import { getPlayer } from '../accounts/players/use-cases.ts';
import { databaseNow } from '../db/time.ts';
import { readRound } from '../list-route.ts';
import {
  checkpointsAfter,
  checkpointsByNumber,
  leavesBefore,
  leavesOfCheckpoints,
  listKeys,
  newestCheckpoints,
  placedEntries,
  type PlacedEntry,
} from './queries.ts';
import { changedEntriesMessage } from './verify.ts';

/** Checkpoints; one more than the page holds. */
export const listCheckpoints = (
  { database: { sql } }: Context,
  sort: 'number' | '-number',
  { offset, limit }: Page,
) => (sort === 'number' ? checkpointsAfter : newestCheckpoints)(sql, offset, limit + 1);

/** The trusted public keys and that of this service, as a JWKS (RFC 7517). */
export const sealingKeys = async ({ database, sealingKey }: Context): Promise<{ keys: PublicJwk[] }> => {
  const trusted = (await listKeys(database.sql)).map(({ x }) => x);
  const own = sealingKey ? [sealingKey.x] : [];
  return { keys: [...new Set([...own, ...trusted])].map(publicJwk) };
};

/** Maximum number of entries in evidence. */
const maxEntries = 1000;
/** Maximum number of checkpoints in evidence: computing the tree of each takes up to 50 ms, and a request at most 20 s. */
const maxCheckpoints = 300;

const tooLarge = (): Conflict =>
  new Conflict(
    'round_too_large',
    `Rounds with more than ${maxEntries} entries, or in more than ${maxCheckpoints} checkpoints, have no evidence.`,
  );

type SealedEntryRow = PlacedEntry & { checkpoint: number; firstSeq: string };

const isSealed = (entry: PlacedEntry): entry is SealedEntryRow => entry.checkpoint !== null;

/** Adds inclusion proofs to the entries of a checkpoint, from the tree over its current entries. Throws NotProven. */
const proveEntries = async (
  sql: Sql,
  { number, root }: Checkpoint,
  entries: readonly SealedEntryRow[],
  playerId: string,
): Promise<Evidence['entries']> => {
  const [range] = await leavesOfCheckpoints(sql, number, number);
  const levels = merkleLevels(range?.leaves ?? Buffer.alloc(0));
  if (rootOf(levels) !== root) throw new NotProven(changedEntriesMessage(number));
  const before = await leavesBefore(sql, number, playerId);
  return entries.map(({ firstSeq, closedAt: _closedAt, ...entry }) => {
    const leaf = before + Number(BigInt(entry.seq) - BigInt(firstSeq));
    return { ...entry, leaf, path: pathTo(levels, leaf) };
  });
};

/** Signs the evidence of a round and returns the text of the file. Throws NotProven, and Conflict `round_too_large`. */
const signEvidence = async (
  sql: Sql,
  { keyId, sign }: SealingKey,
  round: Pick<Evidence, 'playerId' | 'roundId' | 'currency'>,
  sealed: readonly SealedEntryRow[],
): Promise<string> => {
  const byCheckpoint = Map.groupBy(sealed, ({ checkpoint }) => checkpoint);
  if (byCheckpoint.size > maxCheckpoints) throw tooLarge();
  const checkpoints = await checkpointsByNumber(sql, [...byCheckpoint.keys()]);
  const entries: Evidence['entries'] = [];
  for (const [number, entriesOfCheckpoint] of byCheckpoint) {
    const checkpoint = checkpoints.find((candidate) => candidate.number === number);
    if (checkpoint === undefined) throw new NotProven(`checkpoint ${number} is missing`);
    entries.push(...(await proveEntries(sql, checkpoint, entriesOfCheckpoint, round.playerId)));
  }
  const evidence: Evidence = {
    version: 1,
    ...round,
    closedAt: sealed[0]?.closedAt ?? null,
    createdAt: (await databaseNow(sql)).toISOString(),
    entries,
    checkpoints: [...checkpoints],
  };
  const signed = JSON.stringify(evidence);
  // Contains the signed text itself, because serialising the object again could change its bytes.
  return `{"evidence":${signed},"keyId":"${keyId}","signature":"${sign(signed)}"}`;
};

/**
 * The text of the evidence of a round: its entries, their inclusion proofs, and the signed checkpoints. Throws NotFound,
 * Conflict (`not_sealed` while the newest entries wait for their checkpoint, `round_too_large`, `evidence_damaged`), and
 * Unavailable `no_sealing_key`.
 */
export const roundEvidence = async (ctx: Context, playerId: string, roundId: string): Promise<string> => {
  const { database, sealingKey } = ctx;
  const { sql } = database;
  if (sealingKey === undefined)
    throw new Unavailable('no_sealing_key', 'This service does not seal entries: SEALING_KEY is not set.');
  const { currency } = await getPlayer(ctx, playerId);
  const placed = await readRound(ctx, playerId, async (on) =>
    placedEntries(on, playerId, roundId, maxEntries + 1),
  );
  if (placed.length === 0) throw new NotFound('round');
  if (placed.length > maxEntries) throw tooLarge();
  const sealed = placed.filter(isSealed);
  if (sealed.length < placed.length)
    throw new Conflict(
      'not_sealed',
      'The newest entries of the round are not sealed yet; try again in a moment.',
    );
  try {
    const text = await signEvidence(sql, sealingKey, { playerId, roundId, currency }, sealed);
    // Verified as by the recipient, so that nobody receives evidence that does not prove anything.
    verifyEvidence(text, publicKeysOf(await sealingKeys(ctx)));
    return text;
  } catch (error) {
    if (!(error instanceof NotProven)) throw error;
    throw new Conflict('evidence_damaged', `The ledger cannot prove this round: ${error.message}.`);
  }
};
