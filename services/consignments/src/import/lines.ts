import { createPieceCollector } from '@platform/service-kit/body';

/** One line of the input, numbered from 1; `bytes` is undefined if the line is too long. */
export interface Line {
  line: number;
  bytes: Buffer | undefined;
}

const lineFeed = 0x0a;

/** Splits a stream of bytes into lines. Never keeps more than `maxBytes` of an unfinished line. */
export const createLineSplitter = (maxBytes: number, firstLine = 1) => {
  let line = firstLine;
  let collector = createPieceCollector();
  let length = 0;

  const keep = (part: Buffer): void => {
    length += part.length;
    if (length > maxBytes) collector = createPieceCollector();
    else collector.add(part);
  };
  const finish = (): Line => {
    const bytes = length > maxBytes ? undefined : collector.join();
    collector = createPieceCollector();
    length = 0;
    return { line: line++, bytes };
  };

  return {
    /** The lines that end in `chunk`. A generator, because a chunk may contain a hundred thousand lines. */
    *push(chunk: Buffer): Iterable<Line> {
      let from = 0;
      for (let to = chunk.indexOf(lineFeed); to !== -1; to = chunk.indexOf(lineFeed, from)) {
        keep(chunk.subarray(from, to));
        yield finish();
        from = to + 1;
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    /** The last line, if no line end follows it. */
    *end(): Iterable<Line> {
      if (length > 0) yield finish();
    },
  };
};
