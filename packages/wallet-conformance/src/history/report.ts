import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { parseCall, type Call } from './call.ts';
import { explain } from './explain.ts';
import type { Verdict } from './judge.ts';
import { picture } from './picture.ts';

/** Reads a recorded file, one call a line. Throws an Error that names the line that cannot be read. */
export const readCalls = async (file: string): Promise<Call[]> => {
  const calls: Call[] = [];
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++;
    if (line === '') continue;
    try {
      calls.push(parseCall(line));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : '';
      throw new Error(`${file}, line ${number}: ${reason}`, { cause });
    }
  }
  return calls;
};

/** More violations than this are counted, not described. */
const maxDescribed = 10;

/** The verdict in words, with a picture of each violation in an SVG file beside `file`. */
export const reportVerdict = async (verdict: Verdict, file: string): Promise<string> => {
  const { calls, histories, unusable, violations } = verdict;
  const lines = violations.slice(0, maxDescribed).flatMap((violation) => [...explain(violation), '']);
  for (const [at, violation] of violations.slice(0, maxDescribed).entries()) {
    const svg = `${file}.${at + 1}.svg`;
    await writeFile(svg, picture(violation));
    lines.push(`  Picture ${at + 1}: ${svg}`);
  }
  return [
    ...lines,
    ...unusable.slice(0, maxDescribed).map((reason) => `Not judged: ${reason}`),
    `${calls} calls in ${histories} histories: ${violations.length} violations, ${unusable.length} not judged.`,
  ].join('\n');
};

/** 0: every history was judged, without a violation; 1: violations; 2: not everything could be judged. */
export const exitCodeOf = ({ histories, unusable, violations }: Verdict): 0 | 1 | 2 => {
  if (violations.length > 0) return 1;
  return histories === 0 || unusable.length > 0 ? 2 : 0;
};
