import { randomUUID, createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { Signer } from './keys.ts';

/** A mail as the portal shows it: its text alone, because HTML of others has no place in a page with an access token. */
export interface Mail {
  id: string;
  /** Who gets it, separated by commas. */
  to: string;
  subject: string;
  receivedAt: string;
  text: string;
}

/** What is kept in memory: the newest mails, and of a longer text its beginning. A larger message is refused. */
const limits = { mails: 200, messageBytes: 1_000_000, textLength: 20_000 };

/** The mail server of a stack, which sends nothing on. */
export interface Mailbox {
  /** For the services, with a password. */
  url: string;
  /** The newest first. */
  mails: () => readonly Mail[];
  close: () => void;
}

const startMailbox = async (): Promise<Mailbox> => {
  const mails: Mail[] = [];
  const password = randomUUID();
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    // Other users of the machine reach the port.
    allowInsecureAuth: true,
    onAuth: ({ password: given = '' }, _session, done) =>
      done(given === password ? null : new Error('a wrong password'), { user: 'platform' }),
    size: limits.messageBytes,
    onData: async (stream, { envelope }, done) => {
      try {
        const parts: Buffer[] = [];
        for await (const part of stream as AsyncIterable<Buffer>) if (!stream.sizeExceeded) parts.push(part);
        if (stream.sizeExceeded) throw new Error(`more than ${limits.messageBytes} bytes`);
        const { subject = '', text = '' } = await PostalMime.parse(Buffer.concat(parts));
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
  // A client that goes away in the middle of a mail.
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  // The stack decides how long `start` lives, not this server.
  listening.unref();
  return {
    url: `smtp://platform:${password}@127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails: () => mails,
    close: () => server.close(),
  };
};

const LIMIT_BYTES = 1_024;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** 128 random bits. */
const newCode = (): string => randomBytes(16).toString('base64url');

/** The code of a body like `{"code": "…"}`; undefined for any other body. @throws when it is not a JSON object */
const codeOf = async (request: IncomingMessage): Promise<string | undefined> => {
  // nginx sends the length of every body.
  if (!(Number(request.headers['content-length']) <= LIMIT_BYTES)) return undefined;
  const { code } = (await json(request)) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
};

/** The scope of those who read the mails of a stack, in which are links that set passwords. */
export const MAILBOX_SCOPE = 'mailbox';

/** Returns the demo credentials in exchange for a code that only the terminal of `start` shows, and the mails. */
export interface DemoServer {
  /** `host:port` for the gateway. */
  address: string;
  /** The mail server whose mails it returns. */
  smtpUrl: string;
  /** Sets what is given out, and returns the code that it is exchanged for. */
  offer: (credentials: object) => string;
  close: () => void;
}

/**
 * Starts the server behind two addresses of the gateway. `POST /docs/demo` with `{"code": "…"}` → 200 with the credentials,
 * once; anything else → 403. `GET /docs/ops/mails` with a token of the stack that has the scope → 200 `{mails}`, else 403.
 * @param onUsed receives the next code when one was used
 */
export const startDemoServer = async (
  onUsed: (nextCode: string) => void,
  { allows }: Pick<Signer, 'allows'>,
): Promise<DemoServer> => {
  const mailbox = await startMailbox();
  let offered: { credentials: object; code: string } | undefined;

  /** Compares and replaces the code without waiting in between, so that one code never works twice. */
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
    // A body that is not JSON, or a client that went away: then there is no code either.
    return method === 'POST' ? exchange(await codeOf(request).catch(() => undefined)) : undefined;
  };

  const server = createServer(async (request, response) => {
    const body = await bodyFor(request);
    const [code, detail] =
      request.url === '/docs/ops/mails'
        ? [
            'insufficient_scope',
            `The mailbox needs a token of this platform with the scope ${MAILBOX_SCOPE}.`,
          ]
        : [
            'invalid_code',
            'The code is wrong or was used already; the terminal of "start" shows the current one.',
          ];
    const refusal = {
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
    response.end(JSON.stringify(body ?? refusal));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The stack decides how long `start` lives, not this server.
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
