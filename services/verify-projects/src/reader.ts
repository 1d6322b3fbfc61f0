import type { ApiKeyRow } from '@platform/auth/api-keys';
import type { Caller } from '@platform/auth/bearer';
import type { Guard } from '@platform/service-kit/route';

/** Who reads: the holder of an API key or of an access token. */
export type Reader = ApiKeyRow | Caller;

const isCaller = (reader: Reader): reader is Caller => 'subject' in reader;

/** Admits both. A request with an API key is judged by it, also when it has a token as well. */
export const readerGuard = (keys: Guard<ApiKeyRow>, tokens: Guard<Caller>): Guard<Reader> => ({
  security: [...keys.security, ...tokens.security],
  schemes: { ...keys.schemes, ...tokens.schemes },
  identify: (req, limit) => {
    const hasToken = /^bearer /i.test(req.headers.authorization ?? '');
    const guard = hasToken && req.headers['x-api-key'] === undefined ? tokens : keys;
    return guard.identify(req, limit);
  },
  keyOf: (reader) => (isCaller(reader) ? tokens.keyOf(reader) : keys.keyOf(reader)),
});
