import {
  createLeasedWork,
  type LeasedRow,
  type LeaseOptions,
  type Leases,
} from '@platform/service-kit/leased-work';
import { createSender, type Mail, type SenderOptions } from './sender.ts';

interface OutboxOptions extends LeaseOptions, Omit<SenderOptions, 'connections'> {
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
  const sender = createSender({ url, from, connections: limits[0] });
  const perform = async (row: LeasedRow) => {
    const { mail, record } = await compose(row);
    if (mail !== undefined) await sender.send(mail);
    return record;
  };
  return { ...createLeasedWork({ ...work, limits, perform }), close: sender.close };
};
