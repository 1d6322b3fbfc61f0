import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

/** Starts a mail server that stores accepted mails and their recipients, and refuses the first `refusals` mails. */
export const startMailServer = async (refusals = 0) => {
  const mails: string[] = [];
  const recipients: string[] = [];
  let refusalsLeft = refusals;
  let received = 0;
  let held: Promise<boolean> | undefined;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, { envelope }, done) => {
      let text = '';
      stream.on('data', (chunk) => (text += String(chunk)));
      stream.on('end', async () => {
        received++;
        if ((await held) === false || refusalsLeft-- > 0) return done(new Error('not now'));
        mails.push(text);
        recipients.push(...envelope.rcptTo.map(({ address }) => address));
        done();
      });
    },
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    mails,
    recipients,
    /** Number of mails that arrived, answered or not. */
    received: () => received,
    /** Stops answering. Call the returned function to answer the waiting mails, with whether they are accepted. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      held = promise;
      return (isAccepted: boolean) => {
        held = undefined;
        resolve(isAccepted);
      };
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
};
