import { createHmac, timingSafeEqual } from 'node:crypto';

export interface Scheme {
  algorithm: 'sha256' | 'sha512';
  /** How the signature is written. Hex is taken in either case, base64 only with its padding. */
  encoding: 'hex' | 'base64';
}

/** The bytes of a signature; undefined where it is not written exactly as the encoding demands. */
const decode = (text: string, encoding: Scheme['encoding']): Buffer | undefined => {
  if (text.length > 200) return undefined;
  const bytes = Buffer.from(text, encoding);
  const written = encoding === 'hex' ? text.toLowerCase() : text;
  return bytes.toString(encoding) === written ? bytes : undefined;
};

/**
 * Whether `signature` is the HMAC (RFC 2104) of `content`, part after part. Constant time. A header
 * that is missing is not right.
 *
 * @param secret text as UTF-8; decode it first where the provider gives it in hex
 */
export const hmacMatches = (
  { algorithm, encoding }: Scheme,
  secret: string | Buffer,
  content: readonly (string | Buffer)[],
  signature: string | undefined,
): boolean => {
  const given = signature === undefined ? undefined : decode(signature, encoding);
  // An empty secret is a setting that was forgotten, and anybody can sign with it.
  if (given === undefined || secret.length === 0) return false;
  const hmac = createHmac(algorithm, secret);
  for (const part of content) hmac.update(part);
  const right = hmac.digest();
  return right.length === given.length && timingSafeEqual(right, given);
};

export interface TimestampedOptions {
  /** The current secret, and the one before while it is being replaced. */
  secrets: readonly string[];
  /** How far the timestamp may be off, either way. */
  toleranceSeconds: number;
  now: Date;
}

/** At most this many signatures are looked at, so that a long header costs nothing. */
const maxSignatures = 8;

/**
 * The form `t=<Unix seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<body>`. A sender that is replacing
 * its secret sends several `v1`, or several such groups with a space between.
 */
export const timestampedMatches = (
  { secrets, toleranceSeconds, now }: TimestampedOptions,
  body: Buffer,
  header: string | undefined,
): boolean => {
  const candidates = (header ?? '').split(' ').flatMap((group) => {
    const pairs = group.split(',').map((pair) => pair.split('=', 2));
    const [time, ...others] = pairs.filter(([name]) => name === 't').map(([, value]) => value ?? '');
    if (time === undefined || others.length > 0 || !/^\d{1,12}$/.test(time)) return [];
    if (Math.abs(now.getTime() / 1000 - Number(time)) > toleranceSeconds) return [];
    return pairs.filter(([name]) => name === 'v1').map(([, signature]) => ({ time, signature }));
  });
  const scheme = { algorithm: 'sha256', encoding: 'hex' } as const;
  return candidates
    .slice(0, maxSignatures)
    .some(({ time, signature }) =>
      secrets.some((secret) => hmacMatches(scheme, secret, [time, '.', body], signature)),
    );
};
