import { ValidationFailed } from '@platform/service-kit/problem';
import type { Context } from './context.ts';

/** Size in bytes up to which a page is read at once; of larger pages, a few are read at a time. */
export const smallPage = 1_048_576;
/** Maximum size of a page in bytes: that of a list in one request. */
export const maxPage = 33_554_432;
/** How often the text of a page or list is in memory while it is read or written. */
export const copies = 3;

/** Bytes of a list or file that count as a request: parsing, validating and writing them takes a millisecond or two. */
const bytesPerRequest = 10_000;
/** Number of requests that a list or file of this size counts as in the rate limit. */
export const requestsFor = (bytes: number): number => Math.ceil(bytes / bytesPerRequest);

/** Throws ValidationFailed for a page that is too large. */
export const requirePage = (bytes: number): void => {
  if (bytes > maxPage)
    throw new ValidationFailed({ Take: [`must be less: the page would have more than ${maxPage} bytes`] });
};

/** Reads a page of this size without having many large ones in memory at once. Throws ValidationFailed beyond `maxPage`. */
export const readPageOf = async <T>(
  { largeWork }: Pick<Context, 'largeWork'>,
  bytes: number,
  read: () => Promise<T>,
): Promise<T> => {
  requirePage(bytes);
  return bytes <= smallPage ? read() : largeWork.run(bytes * copies, read);
};
