import type { Webhooks } from './api.ts';
import { differencesBetween, field, type FieldGroup } from './fields.ts';
import { List } from './list.tsx';
import { opener, state, time, type Columns } from './parts.tsx';
import { ProviderForms, savedBy, type Shown } from './provider-form.tsx';
import { Confirmed, Editable, RecordForm, diff } from './record-form.tsx';
import { open, place } from './place.ts';
import { useSession } from './session.ts';

type Store = Webhooks['Store'];

const customers = 'notifications/customers';

const storeGroups: readonly FieldGroup[] = [
  {
    title: 'Store',
    fields: [
      field('name', 'Name', { isRequired: true }),
      field('storeUrl', 'Address of the shop', { isRequired: true }),
      field('currency', 'Currency', { isRequired: true, help: 'Of orders that name none.' }),
      field('active', 'Active', { kind: 'switch', help: 'No: webhooks are answered, and not processed.' }),
      field('customerImportsEnabled', 'Import customers', { kind: 'switch' }),
    ],
  },
  {
    title: 'Limits and mails',
    isFolded: true,
    fields: [
      field('allowedAddresses', 'Allowed addresses', {
        kind: 'lines',
        help: 'One network a line; none: all.',
      }),
      field('requestsPerMinute', 'Requests per minute', { kind: 'number' }),
      field('notifications/staff/email', 'Mails to the shop'),
      field(`${customers}/enabled`, 'Mails to customers', { kind: 'switch' }),
      field(`${customers}/fromName`, 'Name of the sender'),
      field(`${customers}/replyTo`, 'Replies go to'),
      field(`${customers}/orderStatuses`, 'Statuses of orders', { kind: 'lines', help: 'None: all.' }),
    ],
  },
];

const changeColumns: Columns<Webhooks['StoreChange']> = {
  When: ({ changedAt }) => time(changedAt),
  Who: ({ changedBy }) => changedBy,
  What: (change) => {
    const differences = differencesBetween(change.before, change.after);
    return differences.length > 0 ? diff(differences, 'What has changed') : 'Credentials';
  },
};

const Ending = ({ store: { id, deletedAt }, send }: Shown) => {
  const session = useSession();
  const isDeleted = deletedAt !== null;
  const [inUse, deleted] = ['in use', 'deleted; can be restored until its data is erased'];
  const change = () => (isDeleted ? session.ask(`/v1/stores/${id}/restore`, 'POST') : send('DELETE'));
  return (
    <Confirmed
      verb={isDeleted ? 'Restore the store' : 'Delete the store'}
      difference={{ label: 'Store', before: isDeleted ? deleted : inUse, after: isDeleted ? inUse : deleted }}
      save={() => change().then(() => null)}
    />
  );
};

/** Whether a store takes webhooks. */
const storeState = ({ active, deletedAt }: Store) => {
  if (deletedAt !== null) return state('bad', 'deleted');
  return active ? state('good', 'active') : state('warn', 'paused');
};

/** The settings of a store, and who has changed them. */
const StoreSettings = ({ id }: { id: string }) => (
  <Editable<Store> path={`/v1/stores/${encodeURIComponent(id)}`}>
    {(store, send) => (
      <>
        <h2>
          {store.name} {storeState(store)}
        </h2>
        <RecordForm
          label="Store"
          groups={storeGroups}
          record={store}
          save={(patch) => savedBy(send, patch)}
        />
        <ProviderForms store={store} send={send} />
        <Ending store={store} send={send} />
        <h2>Changes</h2>
        <List
          caption="Changes of the store"
          path={`/v1/stores/${store.id}/changes`}
          columns={changeColumns}
          empty="Nobody has changed the settings."
        />
      </>
    )}
  </Editable>
);

const columns: Columns<Store> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  State: storeState,
  'Point of sale': ({ pos }) => pos.kind,
  Currency: ({ currency }) => currency,
  Changed: ({ updatedAt }) => time(updatedAt),
};

/** All stores, or the settings of the one that is open. */
export const Stores = () => {
  const opened = place.value.filters.get('open');
  if (opened) return <StoreSettings key={opened} id={opened} />;
  return <List caption="Stores" path="/v1/stores" columns={columns} empty="There is no store yet." />;
};
