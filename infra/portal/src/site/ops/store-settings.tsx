import type { Webhooks } from './api.ts';
import { field, applyPatch, type Field, differencesBetween, type FieldGroup } from './fields.ts';
import { List } from './list.tsx';
import { mappingGroups, type Provider } from './mapping.tsx';
import { opener, state, time, type Columns } from './parts.tsx';
import { open, place } from './place.ts';
import { ConfirmedChange, RecordForm, type Send, Editable, diff } from './record-form.tsx';
import { useSession } from './session.ts';

type Store = Webhooks['Store'];

/** The providers of a store, by the names of its fields. */
const roles = {
  pos: 'Point of sale',
  delivery: 'Delivery provider',
  identity: 'Identity provider',
  payments: '3DS provider',
} as const;

type Role = keyof typeof roles;

const hostHelp = 'Another host removes the credentials that you do not enter with it.';

const fieldsOf = (role: Role, options: string[], { credentials, credentialNames }: Provider): Field[] => [
  field('kind', 'Kind', { isRequired: true, options }),
  field('baseUrl', 'Address of its interface', { help: hostHelp }),
  ...(role === 'payments'
    ? [field('acceptStoreToken', 'Opened by the store’s token', { kind: 'switch' })]
    : []),
  ...credentialNames.map((name) =>
    field(`credentials/${name}`, name, {
      kind: 'secret',
      placeholder: credentials.includes(name) ? 'Set; empty keeps it' : 'Not set',
    }),
  ),
];

/** A provider as a change of a list names it: what it does not say of the credentials stays. */
const kept = ({ credentials: _set, credentialNames: _names, ...provider }: Provider): object => provider;

const none: Provider = { kind: '', credentials: [], credentialNames: [] };

const providersOf = (value: Store[Role]): Provider[] => [value ?? []].flat();

/** The change of a store that changes one of its providers, or adds one; with null it removes one. */
const patchOfProvider = (value: Store[Role], provider: Provider, patch: object | null): unknown => {
  if (!Array.isArray(value)) return patch;
  const all = value.map((one) => (one === provider ? patch && applyPatch(kept(one), patch) : kept(one)));
  const left = all.filter((one) => one !== null);
  return provider === none ? [...left, patch] : left;
};

/** A store that is changed. */
interface StoreFormProps {
  store: Store;
  send: Send;
}

/** Changes a store, and names the credentials that this has removed. */
const savedBy = async (send: Send, patch: object) => {
  const { clearedCredentials: cleared } = (await send('PATCH', patch)) as Webhooks['ChangedStore'];
  if (cleared.length === 0) return null;
  return <p class="note">Saved. Enter again, because they were removed: {cleared.join(', ')}.</p>;
};

const ProviderForm = ({
  store,
  send,
  role,
  provider,
}: StoreFormProps & { role: Role; provider: Provider }) => {
  const title = provider === none ? `Add: ${roles[role]}` : `${roles[role]}: ${provider.kind}`;
  const mapping = provider.kind === 'generic' ? mappingGroups(provider) : [];
  // A store has one provider of each kind.
  const others = providersOf(store[role]).filter((one) => one !== provider);
  const kinds = CHOICES.providerKinds[role].filter((kind) => !others.some((one) => one.kind === kind));
  const save = (patch: object | null) =>
    savedBy(send, { [role]: patchOfProvider(store[role], provider, patch) });
  return (
    <>
      <RecordForm
        label={title}
        groups={[
          { title, fields: fieldsOf(role, kinds, provider), isFolded: provider === none },
          ...mapping.map((group) => ({ ...group, isFolded: true })),
        ]}
        record={provider}
        save={save}
      />
      {/* A store always has a point of sale. */}
      {role !== 'pos' && provider !== none && (
        <ConfirmedChange
          verb={`Remove ${provider.kind}`}
          difference={{
            label: roles[role],
            before: provider.kind,
            after: 'none; its credentials are erased',
          }}
          save={() => save(null)}
        />
      )}
    </>
  );
};

/** A form for each provider of a store, and for a further one. */
const ProviderForms = (shown: StoreFormProps) =>
  (Object.keys(roles) as Role[]).flatMap((role) => {
    const value = shown.store[role];
    const providers = providersOf(value);
    // Of some roles a store has one provider, of others one of each kind.
    const isFull = Array.isArray(value)
      ? providers.length === CHOICES.providerKinds[role].length
      : providers.length > 0;
    return [...providers, ...(isFull ? [] : [none])].map((provider) => (
      <ProviderForm key={`${role} ${provider.kind}`} {...shown} role={role} provider={provider} />
    ));
  });

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

const Ending = ({ store: { id, deletedAt }, send }: StoreFormProps) => {
  const session = useSession();
  const isDeleted = deletedAt !== null;
  const [inUse, deleted] = ['in use', 'deleted; can be restored until its data is erased'];
  const change = () => (isDeleted ? session.ask(`/v1/stores/${id}/restore`, 'POST') : send('DELETE'));
  return (
    <ConfirmedChange
      verb={isDeleted ? 'Restore the store' : 'Delete the store'}
      difference={{ label: 'Store', before: isDeleted ? deleted : inUse, after: isDeleted ? inUse : deleted }}
      save={() => change().then(() => null)}
    />
  );
};

/** Whether a store takes webhooks, and processes them. */
const storeState = ({ active, credentialsState, deletedAt }: Store) => {
  if (deletedAt !== null) return state('bad', 'deleted');
  if (credentialsState === 'unreadable') return state('bad', 'credentials unreadable');
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
