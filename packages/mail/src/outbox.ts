import {
  createLeasedWork,
  type LeasedRow,
  type LeaseOptions,
  type WorkTable,
} from '@platform/service-kit/leased-work';
import { createTransport } from 'nodemailer';

export interface Mail {
  /** One address (see `oneAddress`). */
  to: string;
  /** The name of the sender, without control characters. */
  fromName?: string | undefined;
  /** One address. */
  replyTo?: string | undefined;
  subject: string;
  text: string;
  /** The same as HTML; a mail without it has text alone. */
  html?: string;
  /** The same when the mail is sent again after a crash, so that mail servers drop the second one. */
  messageId: string;
}

interface SenderOptions {
  /** Address of the mail server, such as `smtp://127.0.0.1:25`. */
  url: string;
  /** One address without a name. */
  from: string;
  /** Connections to the mail server at most. */
  connections: number;
}

/** Makes what sends single mails by SMTP; `send` rejects when the mail server did not take it. */
export const createSender = ({ url, from, connections }: SenderOptions) => {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: connections,
    connectionTimeout: 5000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ to, fromName, ...content }: Mail): Promise<void> => {
      // Objects: nodemailer would read a text as a list of addresses.
      const sender = fromName === undefined ? from : { name: fromName, address: from };
      await transport.sendMail({ from: sender, to: { name: '', address: to }, ...content });
    },
    /** Closes the connections to the mail server. */
    close: (): void => transport.close(),
  };
};

interface OutboxOptions extends LeaseOptions, WorkTable, Omit<SenderOptions, 'connections'> {
  /** The mail of a row and how to record that it was sent; without a mail, how to record that. */
  compose(row: LeasedRow): Promise<{ mail?: Mail; record(): PromiseLike<unknown> }>;
}

/** What `createOutbox` makes. */
export type Outbox = ReturnType<typeof createOutbox>;

/** The maximum number of mails in work, which is also the number of connections to the mail server; and of one owner. */
const limits = [5, 3] as const;

/**
 * Sends the mails of a table by SMTP. Each is sent at least once: after a crash between sending and recording, the mail is
 * sent again with the same Message-ID.
 */
export const createOutbox = ({ url, from, compose, ...work }: OutboxOptions) => {
  const sender = createSender({ url, from, connections: limits[0] });
  const perform = async (row: LeasedRow) => {
    const { mail, record } = await compose(row);
    if (mail !== undefined) await sender.send(mail);
    return record;
  };
  return {
    ...createLeasedWork({ ...work, limits, perform }),
    /** Closes the connections to the mail server. */
    close: sender.close,
  };
};
