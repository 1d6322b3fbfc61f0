import { Loaded, useRefresh } from './content.tsx';
import { Dialog, facts, emptyNote, opener, time, type Columns } from './parts.tsx';
import { open, place } from './place.ts';
import { Table } from './list.tsx';

/** A mail of a service that `start` stores. */
interface Mail {
  id: string;
  to: string;
  subject: string;
  receivedAt: string;
  text: string;
}

const columns: Columns<Mail> = {
  Subject: ({ id, subject }) => opener(subject || 'No subject', id, () => open(id)),
  To: ({ to }) => <span class="cut">{to}</span>,
  Received: ({ receivedAt }) => time(receivedAt),
};

/** The text of a mail with its web addresses as links, which open in a new tab without a referrer. */
const withLinks = (text: string) =>
  text.split(/(https?:\/\/[^\s<>"()]+)/).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <a key={index} href={part} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ),
  );

const Mails = ({ mails }: { mails: readonly Mail[] }) => {
  useRefresh(true, mails);
  const opened = mails.find(({ id }) => id === place.value.filters.get('open'));
  return (
    <>
      {mails.length === 0 ? (
        emptyNote('There are no mails yet.')
      ) : (
        <Table caption="Mails" columns={columns} rows={mails} keyOf={({ id }) => id} />
      )}
      {opened && (
        <Dialog title={opened.subject || 'No subject'} onClose={open}>
          {facts({ To: opened.to, Received: time(opened.receivedAt) })}
          <p class="mail">{opened.text === '' ? 'This mail has no text part.' : withLinks(opened.text)}</p>
        </Dialog>
      )}
    </>
  );
};

/** The mails that the services have sent under `start`, newest first. The list refreshes itself. */
export const View = () => (
  <>
    <p class="soft intro">
      The newest 200 mails that the services have sent since <code>start</code>, as text. No mail has left
      this machine.
    </p>
    <Loaded path="/docs/ops/mails" class="list">
      {({ mails }: { mails: Mail[] }) => <Mails mails={mails} />}
    </Loaded>
  </>
);
