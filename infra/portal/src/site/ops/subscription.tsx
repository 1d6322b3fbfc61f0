import type { Subscriptions } from './api.ts';
import { Action } from './content.tsx';
import { field } from './fields.ts';
import { CopyableId, newSecret } from './links.tsx';
import { Dialog, statusBadge, facts, optionalFact, stateBadge, time } from './parts.tsx';
import { changeFilters } from './place.ts';
import { Editable, RecordForm, type Send } from './record-form.tsx';
import { ConfirmedChange } from './review.tsx';
import { useSession } from './session.ts';
import { Attempts, Success, outcome, sendAgain } from './subscription-attempts.tsx';
import { pathOf, type Subscription } from './subscriptions-data.ts';

/** Fields of a subscription that can be changed. */
export const fields = [
  field('url', 'Address', { isRequired: true }),
  field('description', 'Description'),
  field('contact', 'Contact', { help: 'Gets a mail when the subscription is disabled.' }),
  field('actions', 'Changes', { kind: 'lines', help: 'One per line: created, updated, deleted.' }),
  field('owners', 'Only of these stores or clients', { kind: 'lines', help: 'One per line; empty: all.' }),
];

const spanFields = [
  field('from', 'Changes from', { kind: 'time', isRequired: true }),
  field('until', 'and before', { kind: 'time', help: 'Empty: until now.' }),
];

const stateReasons: Readonly<Record<NonNullable<Subscription['stateReason']>, string>> = {
  failures: 'All attempts failed for five days.',
  gone: 'The subscriber answered 410: it wants no more changes.',
  rights: 'The user who created it may no longer read these lists.',
  expired: 'The missed changes are no longer stored. It can continue with later changes.',
};

/** The state as a badge. */
export const stateOf = (subscription: Subscription) =>
  subscription.state === 'active' && subscription.failingSince !== null
    ? stateBadge('warn', 'failing')
    : statusBadge(subscription.state);

const outline = (subscription: Subscription) =>
  facts({
    State: stateOf(subscription),
    Address: subscription.url,
    ...optionalFact('Description', subscription.description),
    ...optionalFact('Contact', subscription.contact),
    Lists: subscription.lists.join(', '),
    Changes: subscription.actions.join(', '),
    ...optionalFact('Only of', subscription.owners?.join(', ') ?? null),
    Order: subscription.ordering === 'record' ? 'of each record' : 'none',
    Waiting: subscription.waiting.toLocaleString(),
    Failed: subscription.failed.toLocaleString(),
    'Last delivery': time(subscription.lastDeliveredAt),
    ...optionalFact('Failing since', time(subscription.failingSince)),
    Created: time(subscription.createdAt),
    'Created by': subscription.subject,
    Id: <CopyableId id={subscription.id} />,
  });

const close = (): void => changeFilters({ open: '', result: '', page: '' });

const Deletion = ({ url, send }: { url: string; send: Send }) => {
  const erase = async () => {
    await send('DELETE');
    close();
    return null;
  };
  return (
    <ConfirmedChange
      verb="Delete the subscription"
      difference={{
        label: url,
        before: 'gets changes',
        after: 'gets no more changes; its attempts are erased',
      }}
      save={erase}
    />
  );
};

/** On the left the actions that send changes, on the right those that change the subscription. */
const Controls = ({ path, send, ...subscription }: Subscription & { path: string; send: Send }) => {
  const session = useSession();
  const { url, description, contact, actions, owners, failed } = subscription;
  const newState = subscription.state === 'active' ? 'paused' : 'active';
  const test = async () => {
    const attempt = await session.ask<Subscriptions['DeliveryAttempt']>(`${path}/test`, 'POST');
    return (
      <p class="note">
        {outcome(attempt)} {attempt.error ?? 'It was delivered.'}
      </p>
    );
  };
  const rotate = async () => {
    const { secret } = await session.ask<Subscriptions['RotatedSecret']>(`${path}/rotate`, 'POST');
    return newSecret('new secret', secret);
  };
  const replay = (selection: object) => sendAgain(session, path, selection);
  const change = (patch: object) => send('PATCH', patch).then(() => null);
  return (
    <div class="beside">
      <div>
        <Action name="Send a test" cssClass="quiet" run={test} />
        {failed > 0 && (
          <ConfirmedChange
            verb="Send failed changes again"
            difference={{ label: 'Changes', before: `${failed} failed`, after: 'sent again' }}
            save={() => replay({ failed: true })}
          />
        )}
        <RecordForm
          label="Send again"
          groups={[{ title: 'Send the changes of a period again', fields: spanFields, isFolded: true }]}
          record={{}}
          verb="Send again"
          save={(span) => replay({ until: session.serverTime().toISOString(), ...span })}
        />
      </div>
      <div>
        <ConfirmedChange
          verb={newState === 'paused' ? 'Pause' : 'Continue'}
          difference={{ label: 'State', before: subscription.state, after: newState }}
          save={() => change({ state: newState })}
        />
        <ConfirmedChange
          verb="Replace the secret"
          difference={{
            label: 'Secret',
            before: 'signs',
            after: 'signs for one more day together with a new one',
          }}
          save={rotate}
        />
        <Deletion url={url} send={send} />
        <RecordForm
          label="Subscription"
          groups={[{ title: 'Address and changes', isFolded: true, fields }]}
          record={{ url, description, contact, actions, owners }}
          save={change}
        />
      </div>
    </div>
  );
};

/** A dialog with one subscription: its state, actions and attempts. Subscriptions of other users can only be deleted. */
export const OpenSubscription = ({ service, id }: { service: string; id: string }) => {
  const path = `${pathOf(service)}/${encodeURIComponent(id)}`;
  const { isOwn } = useSession();
  return (
    <Dialog title={`Subscription · ${service}`} onClose={close}>
      <Editable<Subscription> path={path}>
        {(subscription, send) => (
          <>
            {subscription.stateReason !== null && (
              <p class="error">{stateReasons[subscription.stateReason]}</p>
            )}
            {outline(subscription)}
            {isOwn(subscription.subject) ? (
              <>
                <h3>Deliveries</h3>
                <Success path={path} />
                <Controls {...subscription} path={path} send={send} />
                <h3>Attempts</h3>
                <Attempts path={path} />
              </>
            ) : (
              <Deletion url={subscription.url} send={send} />
            )}
          </>
        )}
      </Editable>
    </Dialog>
  );
};
