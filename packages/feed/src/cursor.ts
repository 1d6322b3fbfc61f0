/** A place in the feed: that of a change, and what distinguishes the database and the batch that gave it that place. */
export interface Cursor {
  /** UUID of the database. */
  epoch: string;
  position: bigint;
  /** Random number of the batch. */
  stamp: bigint;
}

const bytes = 32;

/** Text of 43 characters that a client keeps and does not look into. */
export const cursorText = ({ epoch, position, stamp }: Cursor): string => {
  const buffer = Buffer.alloc(bytes);
  buffer.write(epoch.replaceAll('-', ''), 'hex');
  buffer.writeBigInt64BE(position, 16);
  buffer.writeBigInt64BE(stamp, 24);
  return buffer.toString('base64url');
};

/** Returns undefined when the text is not a cursor. */
export const parseCursor = (text: string): Cursor | undefined => {
  const buffer = Buffer.from(text, 'base64url');
  if (buffer.length !== bytes || buffer.toString('base64url') !== text) return undefined;
  const epoch = buffer.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const position = buffer.readBigInt64BE(16);
  // What is added to it in SQL must stay a bigint.
  if (position < 0n || position > Number.MAX_SAFE_INTEGER) return undefined;
  return { epoch, position, stamp: buffer.readBigInt64BE(24) };
};
