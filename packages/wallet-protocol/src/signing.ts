import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The signed parts of a request, concatenated in this order without separators. */
export type SignedParts = readonly ('timestamp' | 'path' | 'body')[];

/** The signed parts by the name that settings use. */
export const signatureStrings = {
  'timestamp+path+body': ['timestamp', 'path', 'body'],
  'timestamp+body': ['timestamp', 'body'],
} as const satisfies Record<string, SignedParts>;

export type SignatureString = keyof typeof signatureStrings;

/** A request exactly as received: not decoded, not serialised again. */
export interface SignedRequest {
  /** Header values: undefined when absent; both values joined by a comma when the header was sent twice. */
  timestamp: string | undefined;
  signature: string | undefined;
  /** The path as sent, without the query. */
  path: string;
  body: Buffer;
}

export interface RequestSignatureOptions {
  /** Both secrets are accepted, so that a secret can be rotated without rejecting requests. */
  secrets: { current: string; previous?: string | undefined };
  /** Default `['timestamp', 'path', 'body']`. */
  parts?: SignedParts;
  /** How far the timestamp may differ from the current time; default 30. */
  toleranceSeconds?: number;
  /** A path prefix that a gateway removed before it passed the request on. */
  pathPrefix?: string;
  now?: () => Date;
}

/** The reason why a signature was refused. For the log only, because it would help an attacker. */
export type Mismatch = 'missing' | 'malformed' | 'clock' | 'path' | 'body' | 'secret';
export type Verdict = { ok: true; secret: 'current' | 'previous' } | { ok: false; why: Mismatch };

/** Reads the two headers. Node.js joins the values of a repeated header by a comma, which no signature matches. */
export const readSignature = (
  headers: IncomingHttpHeaders,
): Pick<SignedRequest, 'timestamp' | 'signature'> => ({
  timestamp: headers['x-timestamp']?.toString(),
  signature: headers['x-hmac-sha256']?.toString(),
});

interface Content {
  timestamp: string;
  path: string;
  body: Buffer | string;
}

/** The HMAC in hex. Concatenates the parts before the body: a call into OpenSSL costs more than the concatenation. */
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

/** Signs any combination of parts, including combinations that no setting allows; for tests of a wallet. */
export const signatureOf = (secret: string, parts: SignedParts, content: Content): string =>
  digest(createSecretKey(secret, 'utf8'), parts, content);

/** Compares two signatures of 64 hex digits in constant time. */
const isEqual = (left: string, right: string): boolean =>
  timingSafeEqual(Buffer.from(left), Buffer.from(right));

/** Variants of the path that a sender may have signed by mistake. */
const otherPaths = (path: string): string[] => {
  const bare = path.endsWith('/') ? path.slice(0, -1) : path;
  const last = bare.slice(bare.lastIndexOf('/'));
  return ['', bare, `${bare}/`, bare.slice(1), last, last.slice(1)].filter((other) => other !== path);
};

/** Matches a JSON string, or whitespace outside of one. An unclosed string extends to the end of the text. */
const stringOrSpace = /("(?:[^"\\]|\\.)*"?)|\s+/gs;
const stringOrSeparator = /("(?:[^"\\]|\\.)*"?)|([,:])/gs;

/** Other serialisations of the same JSON: without whitespace, or with a space after commas and colons. */
const otherBodies = (body: Buffer): Buffer[] => {
  const text = body.toString();
  const compact = text.replaceAll(stringOrSpace, '$1');
  const spaced = compact.replaceAll(
    stringOrSeparator,
    (_, string?: string, separator?: string) => string ?? `${separator ?? ''} `,
  );
  const forms = [text.trim(), `${text}\n`, compact, spaced, ''];
  return forms.filter((form) => form !== text).map((form) => Buffer.from(form));
};

/** For larger bodies (bytes) the reason is not determined, because refusing a request must stay cheap. */
const maxExplainedBytes = 2000;

/**
 * Creates and verifies request signatures: HMAC-SHA256 (RFC 2104) in lower-case hex, compared in constant time.
 * Timestamps are Unix seconds.
 */
export const createRequestSignatures = (options: RequestSignatureOptions) => {
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

  const matchingSecret = (content: Content, signature: string): 'current' | 'previous' | undefined => {
    if (isEqual(digest(current, parts, content), signature)) return 'current';
    if (previous === undefined) return undefined;
    return isEqual(digest(previous, parts, content), signature) ? 'previous' : undefined;
  };

  const explainMismatch = (content: Content & { body: Buffer }, signature: string): Mismatch => {
    const matches = (variant: Partial<Content>) =>
      matchingSecret({ ...content, ...variant }, signature) !== undefined;
    if (content.body.length > maxExplainedBytes) return 'secret';
    if (otherPaths(content.path).some((path) => matches({ path }))) return 'path';
    return otherBodies(content.body).some((body) => matches({ body })) ? 'body' : 'secret';
  };

  /** The values of the two headers for a request that is sent now. */
  const sign = (path: string, body: Buffer | string) => {
    const timestamp = String(Math.floor(now().getTime() / 1000));
    return { timestamp, signature: digest(current, parts, { timestamp, path, body }) };
  };

  return {
    sign,
    verify: ({ timestamp, signature, path, body }: SignedRequest): Verdict => {
      if (timestamp === undefined || signature === undefined) return { ok: false, why: 'missing' };
      if (!/^\d{1,12}$/.test(timestamp) || !/^[0-9a-f]{64}$/.test(signature)) {
        return { ok: false, why: 'malformed' };
      }
      const content = { timestamp, path: pathPrefix + path, body };
      const secret = matchingSecret(content, signature);
      if (secret === undefined)
        return {
          ok: false,
          // Computed only when it is read, because finding the reason costs more than the refusal.
          get why() {
            return explainMismatch(content, signature);
          },
        };
      const difference = Math.abs(Math.floor(now().getTime() / 1000) - Number(timestamp));
      return difference <= toleranceSeconds ? { ok: true, secret } : { ok: false, why: 'clock' };
    },
    /** The result of `sign` as headers. */
    headers: (path: string, body: Buffer | string) => {
      const { timestamp, signature } = sign(path, body);
      return { 'X-Timestamp': timestamp, 'X-HMAC-SHA256': signature };
    },
  };
};

export type RequestSignatures = ReturnType<typeof createRequestSignatures>;
