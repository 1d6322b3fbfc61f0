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
  /** The content as HTML. Without it the mail has only text. */
  html?: string;
  /** Message-ID. It stays the same when the mail is sent again after a crash, so that mail servers can drop the duplicate. */
  messageId: string;
}

interface SenderOptions {
  /** Address of the mail server, such as `smtp://127.0.0.1:25`. */
  url: string;
  /** One address without a name. */
  from: string;
  /** Maximum number of connections to the mail server. */
  connections: number;
}

/** Creates a sender of single mails by SMTP. `send` rejects if the mail server did not accept the mail. */
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
      // Addresses are objects, because nodemailer would parse a string as a list of addresses.
      const sender = fromName === undefined ? from : { name: fromName, address: from };
      await transport.sendMail({ from: sender, to: { name: '', address: to }, ...content });
    },
    /** Closes the connections to the mail server. */
    close: (): void => transport.close(),
  };
};

interface OutboxOptions extends LeaseOptions, WorkTable, Omit<SenderOptions, 'connections'> {
  /** Creates the mail of a row, and a function that records that it was sent, or that there is nothing to send. */
  compose(row: LeasedRow): Promise<{ mail?: Mail; record(): PromiseLike<unknown> }>;
}

export type Outbox = ReturnType<typeof createOutbox>;

/** Maximum number of mails in work: in total (also the number of connections to the mail server), and of one owner. */
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
