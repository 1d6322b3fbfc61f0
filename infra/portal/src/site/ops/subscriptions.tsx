import type { JSX } from 'preact';
import type { Subscriptions } from './api.ts';
import { ContentView, failureOf, refreshAll, refreshCount, useLoaded } from './content.tsx';
import { field } from './fields.ts';
import { Filters, anyOf, filterValues, type Filter } from './filters.tsx';
import { newSecret } from './links.tsx';
import { Dialog, button, emptyNote, opener, time, type Columns } from './parts.tsx';
import { newRecord, open, place } from './place.ts';
import { RecordForm } from './record-form.tsx';
import { isAbort, useSession } from './session.ts';
import { OpenSubscription, fields, stateOf } from './subscription.tsx';
import { adminScope, pathOf, type Subscription } from './subscriptions-data.ts';
import { Table } from './list.tsx';
import { guideAddress } from './text.ts';
import { isMissing } from './traffic.tsx';

/** A subscription with the name of its service. */
type Row = Subscription & { service: string };

const columns = (isAdmin: boolean): Columns<Row> => ({
  Address: ({ service, id, url }) => opener(new URL(url).host, id, () => open(`${service}/${id}`)),
  State: stateOf,
  Service: ({ service }) => service,
  Lists: ({ lists }) => <span class="cut">{lists.join(', ')}</span>,
  ...(isAdmin && { 'Created by': ({ subject }: Row) => <span class="cut">{subject}</span> }),
  Description: ({ description }) => <span class="cut">{description ?? '–'}</span>,
  'Last delivery': ({ lastDeliveredAt }) => time(lastDeliveredAt),
  Waiting: ({ waiting }) => waiting.toLocaleString(),
  Failed: ({ failed }) => failed.toLocaleString(),
});

const ordering = field('ordering', 'Order', { options: ['record', 'none'] });

const NewSubscription = ({ service, lists }: { service: string; lists: readonly string[] }) => {
  const session = useSession();
  const path = pathOf(service);
  const switches = lists.map((list) => field(`lists/${list}`, list, { kind: 'switch' }));
  const save = async ({ lists: chosen = {}, ...input }: { lists?: object }) => {
    const body = { ...input, lists: Object.keys(chosen) };
    const { secret } = await session.ask<Subscriptions['NewSubscription']>(path, 'POST', body);
    return newSecret('secret', secret);
  };
  return (
    <Dialog title={`New subscription · ${service}`} onClose={open}>
      <RecordForm
        label="Subscription"
        groups={[
          { title: 'Address and changes', fields: [...fields, ordering] },
          { title: 'Lists', fields: switches },
        ]}
        record={{ actions: ['created', 'updated', 'deleted'], ordering: 'record' }}
        verb="Subscribe"
        save={save}
      />
    </Dialog>
  );
};

/** The subscriptions of these services, below the errors of services that could not be read. */
const SubscriptionList = ({ services }: { services: readonly string[] }) => {
  const session = useSession();
  const isAdmin = session.may(adminScope);
  const content = useLoaded(async () => {
    const failures: JSX.Element[] = [];
    const read = async (service: string): Promise<Row[]> => {
      try {
        const subscriptions = await session.ask<Subscription[]>(pathOf(service));
        return subscriptions.map((subscription) => ({ ...subscription, service }));
      } catch (error) {
        if (isAbort(error)) throw error;
        if (!isMissing(error)) failures.push(failureOf(error, refreshAll, `${service}: `));
        return [];
      }
    };
    const rows = (await Promise.all(services.map(read))).flat();
    if (rows.length + failures.length === 0) return emptyNote('There is no subscription yet.');
    return (
      <>
        {failures}
        {rows.length > 0 && (
          <Table caption="Subscriptions" columns={columns(isAdmin)} rows={rows} keyOf={({ id }) => id} />
        )}
      </>
    );
  }, [services.join(), refreshCount.value]);
  return <ContentView content={content} class="list" />;
};

/** The subscriptions of all services, with the state of their deliveries. */
export const View = () => {
  const { may } = useSession();
  const intro = may(adminScope)
    ? 'The subscriptions of all users: where changes are sent. You can see and delete those of others; only their users can change them.'
    : 'The subscriptions of your account: where changes are sent, and whether they arrive.';
  const services = SERVICES.filter(({ name, lists }) => lists.length > 0 && may(`${name}:subscriptions`));
  const names = services.map(({ name }) => name);
  const filter: Filter = { name: 'of', label: 'Service', options: anyOf(names) };
  const { of: selected } = filterValues([filter]);
  const chosen = services.find(({ name }) => name === selected);
  const opened = place.value.filters.get('open') ?? '';
  const [service = '', id] = opened.split('/');
  return (
    <>
      <p class="soft intro">
        {intro} <a href={guideAddress('docs/feed.md#having-changes-sent-to-you')}>Guide</a>
      </p>
      <Filters filters={[filter]}>
        {chosen
          ? button('New subscription …', () => open(newRecord), 'quiet')
          : button('Choose a service to subscribe', () => {}, 'quiet', { disabled: true })}
        {button('Refresh', refreshAll, 'quiet')}
      </Filters>
      <SubscriptionList services={selected === undefined ? names : [selected]} />
      {opened === newRecord && chosen && <NewSubscription service={chosen.name} lists={chosen.lists} />}
      {id !== undefined && names.includes(service) && (
        <OpenSubscription key={opened} service={service} id={id} />
      )}
    </>
  );
};
