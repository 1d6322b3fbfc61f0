import { ValidationFailed } from '@platform/service-kit/problem';
import type { Context } from '../context.ts';

/** Bytes of a page that is read at once; larger ones wait for memory. */
const smallPage = 2 ** 20;
/** A page is in memory for some times its size, and work of 32 MiB collects garbage, for which all others wait. */
const maxPage = 3 * 2 ** 20;
/** How often the bytes of a page are in memory while it is read and written: as text, values and views. */
const copies = 9;

/** Reads a page of so many bytes, a large one when there is memory. Throws ValidationFailed for one beyond `maxPage`. */
export const readWithinMemory = async <Page>(
  largeWork: Context['largeWork'],
  { name, bytes }: { name: string; bytes: number },
  read: () => Promise<Page>,
): Promise<Page> => {
  if (bytes > maxPage)
    throw new ValidationFailed({
      limit: [`must be less: the ${name} of this page have more than ${maxPage} bytes`],
    });
  return bytes > smallPage ? largeWork.run(bytes * copies, read) : read();
};
