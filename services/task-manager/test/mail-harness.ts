import { startMailServer } from '@platform/mail/testing';
import { expect } from 'vitest';
import { startMailer } from '../src/mails/mailer.ts';
import { startService } from './harness.ts';

/** The headers `Message-ID`, `To` and `Subject` and the text of a mail as it was sent. */
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

/** The secret in a mail: the ids of two rows and a code. */
const code = /[0-9a-f-]{36}\.[0-9a-f-]{36}\.[\w-]{43}/;

/** The secret that stands in the text of a mail. */
export const codeIn = (source = ''): string => code.exec(source)?.[0] ?? '';

/** An instance that sends its mails to a mail server of its own. */
export const startWithMail = async (variables: Record<string, string> = {}) => {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startMailServer());
  const service = stack.use(await startService({ variables: { SMTP_URL: server.url, ...variables } }));
  const mailer = startMailer(service.context);
  if (mailer !== undefined) stack.use(mailer);
  /** In the order in which they were written; several are sent at once. */
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
    /** Waits until `number` mails were sent to an address, and returns the last one with its code. */
    lastMailTo: async (address: string, number = 1) => {
      await expect.poll(() => mailsTo(address).length, { timeout: 20_000 }).toBe(number);
      const mail = mailsTo(address).at(-1);
      const { source = '', subject = '' } = mail ?? {};
      return { source, subject, code: codeIn(source) };
    },
    /** The states of the mails of a kind, once none is to be sent any more. */
    settled: async (kind: string): Promise<string[]> => {
      const { sql } = service.context.database;
      const states = async () =>
        (await sql<{ state: string }[]>`select state from mails where kind = ${kind} order by id`).map(
          ({ state }) => state,
        );
      await expect.poll(states, { timeout: 20_000 }).not.toContain('pending');
      return states();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
};
