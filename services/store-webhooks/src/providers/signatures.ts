import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SignedRequest, Signing } from './adapter.ts';

export interface Scheme {
  algorithm: 'sha256' | 'sha512';
  /** Encoding of the signature. Hex is accepted in either case, base64 only with padding. */
  encoding: 'hex' | 'base64';
}

/** The bytes of a signature; undefined unless it is their canonical encoding. */
const decode = (text: string, encoding: Scheme['encoding']): Buffer | undefined => {
  if (text.length > 200) return undefined;
  const bytes = Buffer.from(text, encoding);
  const canonical = encoding === 'hex' ? text.toLowerCase() : text;
  return bytes.toString(encoding) === canonical ? bytes : undefined;
};

/**
 * Whether `signature` is the HMAC (RFC 2104) of the concatenated `content`; compares in constant time.
 * False if the signature is missing.
 *
 * @param secret text is used as UTF-8; decode it first when the provider issues it in hex
 */
export const hmacMatches = (
  { algorithm, encoding }: Scheme,
  secret: string | Buffer,
  content: readonly (string | Buffer)[],
  signature: string | undefined,
): boolean => {
  const received = signature === undefined ? undefined : decode(signature, encoding);
  // An empty secret is a missing setting, and anybody could sign with it.
  if (received === undefined || secret.length === 0) return false;
  const hmac = createHmac(algorithm, secret);
  for (const part of content) hmac.update(part);
  const expected = hmac.digest();
  return expected.length === received.length && timingSafeEqual(expected, received);
};

export interface TimestampedOptions {
  /** The current secret, and the previous one while it is being replaced. */
  secrets: readonly string[];
  /** How far the timestamp may differ from `now`. */
  toleranceSeconds: number;
  now: Date;
}

/** Further signatures in one header are ignored: each takes a hash of the body, which may have a megabyte. */
const maxSignatures = 4;

/**
 * Whether a header of the form `t=<Unix seconds>,v1=<hex>` has a valid HMAC-SHA256 of `<t>.<body>`. A
 * sender that is replacing its secret sends several `v1`, or several such groups separated by spaces.
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

interface HmacSigning extends Scheme {
  /** Name of the header, in lower case. */
  header: string;
  /** The key in the credential `webhookSecret`; default: its UTF-8 bytes. */
  key?: (secret: string) => Buffer;
  /** The signed content; default: the body. */
  content?: (request: SignedRequest) => (string | Buffer)[];
}

/** Verifies webhooks that are signed with an HMAC whose key is the credential `webhookSecret`. */
export const hmacSigning = ({ header, key, content, ...scheme }: HmacSigning): Required<Signing> => ({
  headers: [header],
  signed: (request, { credentials: { webhookSecret } }) =>
    webhookSecret === undefined
      ? undefined
      : hmacMatches(
          scheme,
          key?.(webhookSecret) ?? webhookSecret,
          content?.(request) ?? [request.body],
          request.headers[header],
        ),
});
