import { startMailServer } from '@platform/mail/testing';
import { expect } from 'vitest';
import { startMailer } from '../src/mails/mailer.ts';
import { startService } from './harness.ts';

/** Parses the headers `Message-ID`, `To` and `Subject` and the text of a received mail. */
const parse = (source: string) => {
  const [head = '', ...body] = source.split('\r\n\r\n');
  const header = (name: string): string =>
    new RegExp(String.raw`^${name}: (.*(?:\r\n[ \t].*)*)`, 'im').exec(head)?.[1] ?? '';
  return {
    id: header('Message-ID'),
    to: header('To'),
    subject: header('Subject'),
    source: body.join('\n\n').replaceAll('=\r\n', ''),
  };
};

/** A code in a mail: two ids and a MAC. */
const codePattern = /[0-9a-f-]{36}\.[0-9a-f-]{36}\.[\w-]{43}/;

/** Finds the code in the text of a mail. */
export const codeIn = (source = ''): string => codePattern.exec(source)?.[0] ?? '';

/** Starts an instance with its own mail server. */
export const startWithMail = async (variables: Record<string, string> = {}) => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startMailServer());
  const service = stack.use(await startService({ variables: { SMTP_URL: server.url, ...variables } }));
  const mailer = startMailer(service.context);
  if (mailer !== undefined) stack.use(mailer);
  /** Mails to an address, in the order in which they were queued, because several are sent at once. */
  const mailsTo = (address: string) =>
    server.mails
      .map(parse)
      .filter(({ to }) => to.includes(address))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const started = stack.move();
  return {
    ...service,
    mailServer: server,
    mailsTo,
    /** Waits until `count` mails were sent to an address, and returns the last with its code. */
    lastMailTo: async (address: string, count = 1) => {
      await expect.poll(() => mailsTo(address).length, { timeout: 20_000 }).toBe(count);
      const mail = mailsTo(address).at(-1);
      const { source = '', subject = '' } = mail ?? {};
      return { source, subject, code: codeIn(source) };
    },
    /** Waits until no mail of a kind is pending, and returns their states. */
    settled: async (kind: string): Promise<string[]> => {
      const { sql } = service.context.database;
      const readStates = async () =>
        (await sql<{ state: string }[]>`select state from mails where kind = ${kind} order by id`).map(
          ({ state }) => state,
        );
      await expect.poll(readStates, { timeout: 20_000 }).not.toContain('pending');
      return readStates();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
};
