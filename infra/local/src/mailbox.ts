import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

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

export const startMailbox = async (): Promise<Mailbox> => {
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
