import { ValidationFailed } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';

/** Maximum bytes of a page that is read immediately; larger ones wait for memory. */
const smallPage = 2 ** 20;
/** Maximum bytes of a page. Its copies need 27 MiB, and work of 32 MiB causes garbage collections that delay all requests. */
const maxPage = 3 * 2 ** 20;
/** Number of copies of a page in memory while it is read and written: as text, values and items. */
const copies = 9;

/** Reads a page of `bytes`; a large one waits for free memory. Throws ValidationFailed above `maxPage`. */
export const readWithinMemory = async <Page>(
  largeWork: Context['largeWork'],
  { name, bytes }: { name: string; bytes: number },
  read: () => Promise<Page>,
): Promise<Page> => {
  if (bytes > maxPage)
    throw new ValidationFailed({
      limit: [`must be lower: the ${name} of this page have more than ${maxPage} bytes`],
    });
  return bytes > smallPage ? largeWork.run(bytes * copies, read) : read();
};
