import type { Webhooks } from './api.ts';
import { field, applyPatch, type Field, differencesBetween, type FieldGroup } from './fields.ts';
import { List } from './list.tsx';
import { mappingGroups, type Provider } from './mapping.tsx';
import { opener, stateBadge, time, type Columns } from './parts.tsx';
import { open, place } from './place.ts';
import { Editable, RecordForm, type Send } from './record-form.tsx';
import { ConfirmedChange, diff } from './review.tsx';
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

const hostHelp = 'Changing the host removes all credentials that you do not enter again.';

const fieldsOf = (role: Role, kinds: string[], { credentials, credentialNames }: Provider): Field[] => [
  field('kind', 'Kind', { isRequired: true, options: kinds }),
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

/** A patch of a list contains all providers; without this field the credentials of a provider stay unchanged. */
const withoutCredentials = ({ credentials: _set, credentialNames: _names, ...provider }: Provider): object =>
  provider;

/** Initial values of a provider that the user adds. */
const newProvider: Provider = { kind: '', credentials: [], credentialNames: [] };

const providersOf = (value: Store[Role]): Provider[] => [value ?? []].flat();

/** The new value of a role when one of its providers is changed or added, or removed (a null patch). */
const patchOfProvider = (value: Store[Role], provider: Provider, patch: object | null): unknown => {
  if (!Array.isArray(value)) return patch;
  const entries: unknown[] = [];
  for (const entry of value) {
    if (entry !== provider) entries.push(withoutCredentials(entry));
    else if (patch !== null) entries.push(applyPatch(withoutCredentials(entry), patch));
  }
  if (provider === newProvider) entries.push(patch);
  return entries;
};

interface StoreFormProps {
  store: Store;
  send: Send;
}

/** Changes a store and returns a note with the credentials that the change removed. */
const saveStore = async (send: Send, patch: object) => {
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
  const title = provider === newProvider ? `Add: ${roles[role]}` : `${roles[role]}: ${provider.kind}`;
  const mapping = provider.kind === 'generic' ? mappingGroups(provider) : [];
  // A store has one provider of each kind.
  const others = providersOf(store[role]).filter((other) => other !== provider);
  const kinds = CHOICES.providerKinds[role].filter((kind) => !others.some((other) => other.kind === kind));
  const save = (patch: object | null) =>
    saveStore(send, { [role]: patchOfProvider(store[role], provider, patch) });
  return (
    <>
      <RecordForm
        label={title}
        groups={[
          { title, fields: fieldsOf(role, kinds, provider), isFolded: provider === newProvider },
          ...mapping.map((group) => ({ ...group, isFolded: true })),
        ]}
        record={provider}
        save={save}
      />
      {/* A store always has a point of sale. */}
      {role !== 'pos' && provider !== newProvider && (
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

/** A form for each provider of a store, and one for each role that can have another provider. */
const ProviderForms = (props: StoreFormProps) =>
  (Object.keys(roles) as Role[]).flatMap((role) => {
    const value = props.store[role];
    const providers = providersOf(value);
    // Some roles have only one provider, others one of each kind.
    const isFull = Array.isArray(value)
      ? providers.length === CHOICES.providerKinds[role].length
      : providers.length > 0;
    return [...providers, ...(isFull ? [] : [newProvider])].map((provider) => (
      <ProviderForm key={`${role} ${provider.kind}`} {...props} role={role} provider={provider} />
    ));
  });

const customers = 'notifications/customers';

const storeGroups: readonly FieldGroup[] = [
  {
    title: 'Store',
    fields: [
      field('name', 'Name', { isRequired: true }),
      field('storeUrl', 'Address of the shop', { isRequired: true }),
      field('currency', 'Currency', { isRequired: true, help: 'For orders without a currency.' }),
      field('active', 'Active', { kind: 'switch', help: 'No: webhooks are accepted but not processed.' }),
      field('customerImportsEnabled', 'Import customers', { kind: 'switch' }),
    ],
  },
  {
    title: 'Limits and mails',
    isFolded: true,
    fields: [
      field('allowedAddresses', 'Allowed addresses', {
        kind: 'lines',
        help: 'One network per line; empty: all.',
      }),
      field('requestsPerMinute', 'Requests per minute', { kind: 'number' }),
      field('notifications/staff/email', 'Mails to the shop'),
      field(`${customers}/enabled`, 'Mails to customers', { kind: 'switch' }),
      field(`${customers}/fromName`, 'Name of the sender'),
      field(`${customers}/replyTo`, 'Replies go to'),
      field(`${customers}/orderStatuses`, 'Statuses of orders', { kind: 'lines', help: 'Empty: all.' }),
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

/** The button that deletes or restores a store. */
const Deletion = ({ store: { id, deletedAt }, send }: StoreFormProps) => {
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

/** The state of a store as a badge. */
const storeState = ({ active, credentialsState, deletedAt }: Store) => {
  if (deletedAt !== null) return stateBadge('bad', 'deleted');
  if (credentialsState === 'unreadable') return stateBadge('bad', 'credentials unreadable');
  return active ? stateBadge('good', 'active') : stateBadge('warn', 'paused');
};

/** The settings of a store and their changes. */
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
          save={(patch) => saveStore(send, patch)}
        />
        <ProviderForms store={store} send={send} />
        <Deletion store={store} send={send} />
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
