import { hmacMatches, type Scheme } from './signatures.ts';
import type { SignedRequest, Signing } from './adapter.ts';

interface HmacSigning extends Scheme {
  /** In lower case. */
  header: string;
  /** The key in the credential `webhookSecret`; default: its UTF-8 bytes. */
  key?: (secret: string) => Buffer;
  /** The signed content; default: the body. */
  content?: (request: SignedRequest) => (string | Buffer)[];
}

/** Webhooks that are signed with an HMAC under the credential `webhookSecret`. */
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
