import type { IncomingMessage } from 'node:http';

/**
 * The value of a header that may be sent once. `name` in lower case. Node itself drops or joins
 * repeated headers, so that two parties could read two different credentials in one request.
 */
export const onlyHeader = (
  req: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  name: string,
): { value: string | undefined; repeated: boolean } => {
  const { rawHeaders } = req;
  let value: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const found = rawHeaders[at];
    if (found?.length !== name.length || found.toLowerCase() !== name) continue;
    if (value !== undefined) return { value: undefined, repeated: true };
    value = rawHeaders[at + 1];
  }
  return { value, repeated: false };
};
