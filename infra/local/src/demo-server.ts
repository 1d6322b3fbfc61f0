import { randomUUID, createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { Signer } from './keys.ts';

/** A mail as the portal shows it: as text only, because a page with an access token must not render foreign HTML. */
export interface Mail {
  id: string;
  /** Recipients, separated by commas. */
  to: string;
  subject: string;
  receivedAt: string;
  text: string;
}

/** Limits of the mails in memory: older mails are removed, longer texts truncated, and larger messages refused. */
const limits = { mails: 200, messageBytes: 1_000_000, textLength: 20_000 };

/** The mail server of a stack. It stores mails and delivers none. */
export interface Mailbox {
  /** SMTP URL for the services, with a password. */
  url: string;
  /** Returns the mails, newest first. */
  mails: () => readonly Mail[];
  close: () => void;
}

const startMailbox = async (): Promise<Mailbox> => {
  const mails: Mail[] = [];
  const password = randomUUID();
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    // The server listens only on 127.0.0.1. It needs a password because other users of the machine can reach the port.
    allowInsecureAuth: true,
    onAuth: ({ password: clientPassword = '' }, _session, done) =>
      done(clientPassword === password ? null : new Error('wrong password'), { user: 'platform' }),
    size: limits.messageBytes,
    onData: async (stream, { envelope }, done) => {
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of stream as AsyncIterable<Buffer>)
          if (!stream.sizeExceeded) chunks.push(chunk);
        if (stream.sizeExceeded) throw new Error(`more than ${limits.messageBytes} bytes`);
        const { subject = '', text = '' } = await PostalMime.parse(Buffer.concat(chunks));
        const to = envelope.rcptTo.map(({ address }) => address).join(', ');
        mails.unshift({
          id: randomUUID(),
          to: to.slice(0, limits.textLength),
          subject: subject.slice(0, limits.textLength),
          receivedAt: new Date().toISOString(),
          text: text.slice(0, limits.textLength),
        });
        mails.splice(limits.mails);
        done();
      } catch (error) {
        done(Object.assign(error instanceof Error ? error : new Error(String(error)), { responseCode: 554 }));
      }
    },
  });
  // Ignores clients that disconnect in the middle of a mail.
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  // This server must not keep `start` running.
  listening.unref();
  return {
    url: `smtp://platform:${password}@127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails: () => mails,
    close: () => server.close(),
  };
};

const MAX_BODY_BYTES = 1_024;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Creates a code of 128 random bits. */
const newCode = (): string => randomBytes(16).toString('base64url');

/** Reads the code of a body like `{"code": "…"}`; undefined if there is none. @throws if the body is not a JSON object */
const codeOf = async (request: IncomingMessage): Promise<string | undefined> => {
  // nginx sends the length of every body.
  if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES)) return undefined;
  const { code } = (await json(request)) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

/** Scope for reading the mails of a stack, which contain links that set passwords. */
export const MAILBOX_SCOPE = 'mailbox';

/** Serves the mails, and exchanges a code that only the terminal of `start` shows for the demo credentials. */
export interface DemoServer {
  /** `host:port` for the gateway. */
  address: string;
  /** SMTP URL of the mail server whose mails it returns. */
  smtpUrl: string;
  /** Sets the credentials and returns the code for which they are exchanged. */
  offer: (credentials: object) => string;
  close: () => void;
}

/**
 * Starts the server behind two addresses of the gateway. `POST /docs/demo` with `{"code": "…"}` → 200 with the credentials,
 * once; anything else → 403. `GET /docs/ops/mails` with a token of the stack that has the scope → 200 `{mails}`, else 403.
 * @param onUsed receives the next code after a code was used
 */
export const startDemoServer = async (
  onUsed: (nextCode: string) => void,
  { allows }: Pick<Signer, 'allows'>,
): Promise<DemoServer> => {
  const mailbox = await startMailbox();
  let offered: { credentials: object; code: string } | undefined;

  /** Synchronous, so that concurrent requests cannot use one code twice. */
  const exchange = (code: string | undefined): object | undefined => {
    if (offered === undefined || code === undefined) return undefined;
    if (!timingSafeEqual(digest(code), digest(offered.code))) return undefined;
    offered = { ...offered, code: newCode() };
    onUsed(offered.code);
    return offered.credentials;
  };

  const bodyFor = async (request: IncomingMessage): Promise<object | undefined> => {
    const { method, url, headers } = request;
    if (method === 'GET' && url === '/docs/ops/mails') {
      const [, token = ''] = headers.authorization?.split(' ') ?? [];
      return (await allows(token, MAILBOX_SCOPE)) ? { mails: mailbox.mails() } : undefined;
    }
    // Invalid JSON and an aborted request count as a request without a code.
    return method === 'POST' ? exchange(await codeOf(request).catch(() => undefined)) : undefined;
  };

  const server = createServer(async (request, response) => {
    const body = await bodyFor(request);
    const [code, detail] =
      request.url === '/docs/ops/mails'
        ? ['insufficient_scope', `Send a token of this platform with the scope ${MAILBOX_SCOPE}.`]
        : [
            'invalid_code',
            'The code is invalid or already used; the terminal of "start" shows the current one.',
          ];
    const problem = {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail,
      code,
      requestId: request.headers['x-request-id'],
    };
    response.writeHead(body ? 200 : 403, {
      'Content-Type': body ? 'application/json' : 'application/problem+json',
      'Cache-Control': 'no-store',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
      Connection: 'close',
    });
    response.end(JSON.stringify(body ?? problem));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // This server must not keep `start` running.
  server.unref();
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    smtpUrl: mailbox.url,
    offer: (credentials) => {
      offered = { credentials, code: newCode() };
      return offered.code;
    },
    close: () => {
      server.close();
      mailbox.close();
    },
  };
};
