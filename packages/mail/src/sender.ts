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

export interface SenderOptions {
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
