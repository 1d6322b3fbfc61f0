import { pino, type DestinationStream } from 'pino';

/** In characters, and in milliseconds. */
const most = 16_000;
const longest = 250;

const urgent = /^{"level":"(?:error|fatal)"/;

/**
 * Gathers lines and writes them to a file descriptor together: without blocking when there are many
 * or a quarter of a second is over, at once after an error and when the process ends.
 *
 * SonicBoom under it can gather too, but measures what it holds again with each line, which costs more
 * than making the line.
 */
export const gatherLines = (fd: number | string): DestinationStream => {
  const file = pino.destination({ dest: fd, sync: false });
  let lines = '';
  const flush = (): void => {
    if (lines === '') return;
    file.write(lines);
    lines = '';
  };
  setInterval(flush, longest).unref();
  process.on('exit', () => {
    flush();
    file.flushSync();
  });
  return {
    write: (line) => {
      lines += line;
      if (lines.length >= most || urgent.test(line)) flush();
    },
  };
};
