import {
  createLeasedWork,
  type LeasedRow,
  type LeaseOptions,
  type Leases,
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

interface OutboxOptions extends LeaseOptions {
  /** Address of the mail server, such as `smtp://127.0.0.1:25`. */
  url: string;
  /** One address without a name. */
  from: string;
  /** The table of the mails, and its columns: see `createLeasedWork`. */
  table: string;
  owner: string;
  key: string;
  state: string;
  /** The mail of a row and how to record that it was sent; without a mail, how to record that. */
  compose(row: LeasedRow): Promise<{ mail?: Mail; record(): PromiseLike<unknown> }>;
}

export interface Outbox extends Leases {
  /** Closes the connections to the mail server. */
  close(): void;
}

/** The maximum number of mails in work, which is also the number of connections to the mail server; and of one owner. */
const limits = [5, 3] as const;

/**
 * Sends the mails of a table by SMTP. Each is sent at least once: after a crash between sending and recording, the mail is
 * sent again with the same Message-ID.
 */
export const createOutbox = ({ url, from, compose, ...work }: OutboxOptions): Outbox => {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: limits[0],
    connectionTimeout: 5000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const perform = async (row: LeasedRow) => {
    const { mail, record } = await compose(row);
    if (mail !== undefined) {
      const { to, fromName, ...content } = mail;
      // Objects: nodemailer would read a text as a list of addresses.
      const sender = fromName === undefined ? from : { name: fromName, address: from };
      await transport.sendMail({ from: sender, to: { name: '', address: to }, ...content });
    }
    return record;
  };
  return { ...createLeasedWork({ ...work, limits, perform }), close: () => transport.close() };
};
