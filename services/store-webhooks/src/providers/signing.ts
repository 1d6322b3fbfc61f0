import { hmacMatches, type Scheme } from '@platform/auth/provider-signatures';
import type { SignedRequest, Signing } from './adapter.ts';

interface HmacSigning extends Scheme {
  /** In lower case. */
  header: string;
  /** The key in the credential `webhookSecret`; its UTF-8 bytes unless said otherwise. */
  key?: (secret: string) => Buffer;
  /** What is signed; the body unless said otherwise. */
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
