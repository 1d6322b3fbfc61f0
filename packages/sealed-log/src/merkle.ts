import { hash } from 'node:crypto';

/** Bytes of a SHA-256 hash. */
export const hashBytes = 32;

const sha256 = (input: Uint8Array): Buffer => hash('sha256', input, 'buffer');

/** The hash of a leaf: SHA-256 of 0x00 and its data (RFC 9162, section 2.1.1). */
export const leafHash = (data: string): Buffer => sha256(Buffer.from(`\0${data}`));

const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer =>
  sha256(Buffer.concat([Buffer.of(1), left, right]));

/** The parents of a level: each is the hash of 0x01 and its two children. An unpaired last node moves up unchanged. */
const parentsOf = (level: Buffer): Buffer => {
  const count = level.length / hashBytes;
  const parents = Buffer.allocUnsafe(Math.ceil(count / 2) * hashBytes);
  // One reused buffer, because allocating and concatenating would cost as much as hashing.
  const input = Buffer.alloc(1 + 2 * hashBytes, 1);
  for (let left = 0; left + 1 < count; left += 2) {
    level.copy(input, 1, left * hashBytes, (left + 2) * hashBytes);
    sha256(input).copy(parents, (left / 2) * hashBytes);
  }
  if (count % 2 === 1) level.copy(parents, parents.length - hashBytes, level.length - hashBytes);
  return parents;
};

/**
 * The levels of the Merkle tree (RFC 9162, section 2.1), from the leaves to the root. `leaves` is the concatenation of the
 * leaf hashes and must not be empty.
 */
export const merkleLevels = (leaves: Buffer): Buffer[] => {
  const levels = [leaves];
  for (let level = leaves; level.length > hashBytes; levels.push(level)) level = parentsOf(level);
  return levels;
};

/** The root, in hex. */
export const rootOf = (levels: readonly Buffer[]): string => levels.at(-1)?.toString('hex') ?? '';

/** The sibling hashes from a leaf to the root, in hex (the inclusion proof of RFC 9162, section 2.1.3). */
export const pathTo = (levels: readonly Buffer[], leaf: number): string[] => {
  const path: string[] = [];
  let node = leaf;
  for (const level of levels.slice(0, -1)) {
    const siblingStart = (node ^ 1) * hashBytes;
    if (siblingStart < level.length) path.push(level.toString('hex', siblingStart, siblingStart + hashBytes));
    node >>= 1;
  }
  return path;
};

/**
 * The root, in hex, of a tree of `size` leaves whose leaf at index `leaf` has the hash `hashOfLeaf`; undefined when the
 * path has the wrong length.
 */
export const rootByPath = (
  hashOfLeaf: Buffer,
  leaf: number,
  size: number,
  path: readonly string[],
): string | undefined => {
  const siblings = path.map((sibling) => Buffer.from(sibling, 'hex'));
  let node = hashOfLeaf;
  let index = leaf;
  for (let count = size; count > 1; index >>= 1, count = Math.ceil(count / 2)) {
    const isUnpaired = index % 2 === 0 && index === count - 1;
    if (isUnpaired) continue;
    const sibling = siblings.shift();
    if (sibling?.length !== hashBytes) return undefined;
    node = index % 2 === 0 ? nodeHash(node, sibling) : nodeHash(sibling, node);
  }
  return index === 0 && siblings.length === 0 ? node.toString('hex') : undefined;
};
