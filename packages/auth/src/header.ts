import type { IncomingMessage } from 'node:http';

/**
 * The value of a header that may be sent only once; `name` in lower case. Node drops or joins repeated
 * headers, so a proxy and this service could read different credentials from one request.
 */
export const singleHeader = (
  req: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  name: string,
): { value: string | undefined; repeated: boolean } => {
  const { rawHeaders } = req;
  let value: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sentName = rawHeaders[at];
    if (sentName?.length !== name.length || sentName.toLowerCase() !== name) continue;
    if (value !== undefined) return { value: undefined, repeated: true };
    value = rawHeaders[at + 1];
  }
  return { value, repeated: false };
};
