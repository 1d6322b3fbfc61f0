import type { Webhooks } from './api.ts';
import { CopyableId, aboutLink, findLink } from './links.tsx';
import { guideAddress } from './text.ts';
import { Json, statusBadge, facts, optionalFact } from './parts.tsx';
import { when } from './time.ts';

/** The status of a webhook as a badge. */
export const eventState = ({ status, error }: Webhooks['Event']) =>
  statusBadge(status, status === 'pending' && error === null ? 'plain' : undefined);

type Change = NonNullable<Webhooks['Replay']['changes']>[number];

const changeOf = ({ record, before, after }: Change) => (
  <li key={record} class="change">
    <p>
      {before === null ? 'create ' : 'change '}
      <code>{record}</code>
    </p>
    <div class="sides">
      {before !== null && (
        <div>
          Before
          <Json value={before} />
        </div>
      )}
      <div>
        After
        <Json value={after} />
      </div>
    </div>
  </li>
);

/** The result of a dry run. */
export const dryRunOf = ({ changes = [], notifications = [], error }: Webhooks['Replay']) => (
  <div class="note">
    <h3>A replay would …</h3>
    {error !== undefined && <p class="error">fail: {error}</p>}
    {changes.length === 0 && error === undefined && <p>change nothing.</p>}
    <ul>{changes.map(changeOf)}</ul>
    {notifications.length > 0 && <p>notify: {notifications.join(', ')}</p>}
  </div>
);

/** The id at the end of an address such as `/v1/stores/S/orders/17` or `…/events?entity=17`. */
const idOfLink = (href: string): string => {
  const { pathname, searchParams } = new URL(href, location.origin);
  const lastSegment = decodeURIComponent(pathname.split('/').at(-1) ?? '');
  return searchParams.get('entity') ?? searchParams.get('reference') ?? lastSegment;
};

/** Links to related records of the event. */
const relatedOf = ({ links }: Webhooks['EventDetail']) => {
  const byId = Map.groupBy(links, ({ href }) => idOfLink(href));
  if (byId.size === 0) return null;
  return (
    <div>
      <h3>Related</h3>
      <ul>
        {[...byId].map(([id, linksOfRecord]) => (
          <li key={id}>
            {findLink(id)} {linksOfRecord.map(({ rel }) => rel.replace('-', ' ')).join(', ')}
          </li>
        ))}
      </ul>
    </div>
  );
};

/** The facts about an event and its related records. Rendered again after a replay, which can change them. */
export const outlineOf = (event: Webhooks['EventDetail']) => (
  <div>
    {event.error !== null && (
      <p class="note">
        <span class="error">{event.error}</span>{' '}
        <a href={guideAddress('docs/store-webhooks.md#replaying-failed-events')}>Guide</a>
      </p>
    )}
    {facts({
      Status: eventState(event),
      About: aboutLink(event.entity),
      ...optionalFact('Service', event.service),
      Received: when(event.receivedAt),
      ...optionalFact('Finished', event.finishedAt && when(event.finishedAt)),
      ...optionalFact('Dismissed', event.dismissedAt && `${when(event.dismissedAt)} by ${event.dismissedBy}`),
      ...optionalFact('Note', event.note),
      ...optionalFact('Next attempt', event.nextAttemptAt && when(event.nextAttemptAt)),
      Attempts: String(event.attempts),
      Size: `${event.bytes} bytes`,
      Request: findLink(event.headers['x-request-id'] ?? null),
      Id: <CopyableId key={event.id} id={event.id} />,
    })}
    {relatedOf(event)}
  </div>
);

/** The body and the headers. */
export const payloadOf = ({ revealed, body, headers }: Webhooks['EventDetail']) => (
  <div>
    <h3>Body</h3>
    {!revealed && <p class="note soft">Masked. Revealing the body is recorded.</p>}
    <Json value={body} />
    <h3>Headers</h3>
    <Json value={headers} />
  </div>
);

/** The result of the processing after a replay or a recheck. */
export const processedText = ({ status, error, nextAttemptAt }: Webhooks['EventDetail']) => {
  if (status === 'failed') return <p class="note error">It failed again: {error}</p>;
  if (status !== 'pending')
    return <p class="note">{status === 'ignored' ? `It was ignored: ${error}` : 'It was processed.'}</p>;
  const next = when(nextAttemptAt);
  return <p class="note error">{`It failed: ${error} The next attempt is at ${next}.`}</p>;
};
