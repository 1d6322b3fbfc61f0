import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The signed parts, in this order, without separators. */
export type SignedParts = readonly ('timestamp' | 'path' | 'body')[];

/** The signed text by the name that settings use. */
export const signatureStrings = {
  'timestamp+path+body': ['timestamp', 'path', 'body'],
  'timestamp+body': ['timestamp', 'body'],
} as const satisfies Record<string, SignedParts>;

export type SignatureString = keyof typeof signatureStrings;

/** A request as received: not decoded, not serialised again. */
export interface SignedRequest {
  /** Values of the headers; undefined when absent; both values, joined by a comma, when sent twice. */
  timestamp: string | undefined;
  signature: string | undefined;
  /** As sent, without the query. */
  path: string;
  body: Buffer;
}

export interface RequestSignatureOptions {
  /** Either is accepted, so that a secret can be replaced without rejecting requests. */
  secrets: { current: string; previous?: string | undefined };
  /** Default `['timestamp', 'path', 'body']`. */
  parts?: SignedParts;
  /** How far the timestamp may differ from the current time; default 30. */
  toleranceSeconds?: number;
  /** A path prefix that a gateway removed before it passed the request on. */
  pathPrefix?: string;
  now?: () => Date;
}

/** The reason of a refusal: for the log only, because it would help an attacker. */
export type Mismatch = 'missing' | 'malformed' | 'clock' | 'path' | 'body' | 'secret';
export type Verdict = { ok: true; secret: 'current' | 'previous' } | { ok: false; why: Mismatch };

export interface RequestSignatures {
  verify: (request: SignedRequest) => Verdict;
  /** The two values for a request that is sent now. */
  sign: (path: string, body: Buffer | string) => { timestamp: string; signature: string };
  /** The same as headers. */
  headers: (path: string, body: Buffer | string) => Record<string, string>;
}

/** The values of the two headers. One that was sent twice has both, joined by a comma, which no signature matches. */
export const readSignature = (
  headers: IncomingHttpHeaders,
): Pick<SignedRequest, 'timestamp' | 'signature'> => {
  const valueOf = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  return { timestamp: valueOf('x-timestamp'), signature: valueOf('x-hmac-sha256') };
};

interface Content {
  timestamp: string;
  path: string;
  body: Buffer | string;
}

/** In hex. Joins the parts before the body, because each call into OpenSSL costs more than its bytes. */
const digest = (secret: KeyObject, parts: SignedParts, content: Content): string => {
  const hmac = createHmac('sha256', secret);
  let text = '';
  for (const part of parts) {
    if (part === 'body') {
      hmac.update(text).update(content.body);
      text = '';
    } else text += content[part];
  }
  return (text === '' ? hmac : hmac.update(text)).digest('hex');
};

/** Signs any combination of parts, including those that no setting allows; for tests of a wallet. */
export const signatureOf = (secret: string, parts: SignedParts, content: Content): string =>
  digest(createSecretKey(secret, 'utf8'), parts, content);

/** Both are 64 hex digits. */
const equal = (one: string, two: string): boolean => timingSafeEqual(Buffer.from(one), Buffer.from(two));

/** Other forms of the path, which a sender may have signed by mistake. */
const otherPaths = (path: string): string[] => {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  const last = bare.slice(bare.lastIndexOf('/'));
  return ['', bare, `${bare}/`, bare.slice(1), last, last.slice(1)].filter((other) => other !== path);
};

/** A JSON string, or whitespace outside of one. An unclosed string extends to the end of the text. */
const stringOrSpace = /("(?:[^"\\]|\\.)*"?)|\s+/gs;
const stringOrMark = /("(?:[^"\\]|\\.)*"?)|([,:])/gs;

/** Other serialisations of the same JSON: without whitespace, or with a space after commas and colons. */
const otherBodies = (body: Buffer): Buffer[] => {
  const text = body.toString();
  const compact = text.replaceAll(stringOrSpace, '$1');
  const spaced = compact.replaceAll(
    stringOrMark,
    (_, string?: string, mark?: string) => string ?? `${mark ?? ''} `,
  );
  const forms = [text.trim(), `${text}\n`, compact, spaced, ''];
  return forms.filter((form) => form !== text).map((form) => Buffer.from(form));
};

/** The reason is not searched for larger bodies (bytes): refusing a request must stay cheap. */
const maxExplained = 2000;

/**
 * Signatures over whole requests: HMAC-SHA256 in lower-case hex (RFC 2104), compared in constant
 * time. Timestamps are Unix seconds.
 */
export const createRequestSignatures = (options: RequestSignatureOptions): RequestSignatures => {
  const {
    secrets,
    parts = signatureStrings['timestamp+path+body'],
    toleranceSeconds = 30,
    pathPrefix = '',
  } = options;
  const now = options.now ?? (() => new Date());
  if (secrets.current === '' || secrets.previous === '')
    throw new Error('A secret for request signatures is empty.');
  const keyOf = (secret: string): KeyObject => createSecretKey(secret, 'utf8');
  const current = keyOf(secrets.current);
  const previous = secrets.previous === undefined ? undefined : keyOf(secrets.previous);

  const secretOf = (content: Content, given: string): 'current' | 'previous' | undefined => {
    if (equal(digest(current, parts, content), given)) return 'current';
    if (previous === undefined) return undefined;
    return equal(digest(previous, parts, content), given) ? 'previous' : undefined;
  };

  const explain = (content: Content & { body: Buffer }, given: string): Mismatch => {
    const matches = (other: Partial<Content>) => secretOf({ ...content, ...other }, given) !== undefined;
    if (content.body.length > maxExplained) return 'secret';
    if (otherPaths(content.path).some((path) => matches({ path }))) return 'path';
    return otherBodies(content.body).some((body) => matches({ body })) ? 'body' : 'secret';
  };

  const sign: RequestSignatures['sign'] = (path, body) => {
    const timestamp = String(Math.floor(now().getTime() / 1000));
    return { timestamp, signature: digest(current, parts, { timestamp, path, body }) };
  };

  return {
    sign,
    verify: ({ timestamp, signature, path, body }) => {
      if (timestamp === undefined || signature === undefined) return { ok: false, why: 'missing' };
      if (!/^\d{1,12}$/.test(timestamp) || !/^[0-9a-f]{64}$/.test(signature)) {
        return { ok: false, why: 'malformed' };
      }
      const content = { timestamp, path: pathPrefix + path, body };
      const secret = secretOf(content, signature);
      if (secret === undefined)
        return {
          ok: false,
          // Computed only when it is read: finding the reason costs more than the refusal.
          get why() {
            return explain(content, signature);
          },
        };
      const difference = Math.abs(Math.floor(now().getTime() / 1000) - Number(timestamp));
      return difference <= toleranceSeconds ? { ok: true, secret } : { ok: false, why: 'clock' };
    },
    headers: (path, body) => {
      const { timestamp, signature } = sign(path, body);
      return { 'X-Timestamp': timestamp, 'X-HMAC-SHA256': signature };
    },
  };
};
