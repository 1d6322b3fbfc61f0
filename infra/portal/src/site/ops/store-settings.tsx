import type { Webhooks, WebhooksAnswer } from './api.ts';
import { field, merged, type Difference, type Field } from './fields.ts';
import { List } from './list.tsx';
import { mappingGroups } from './mapping.tsx';
import { state, time, type Columns } from './parts.tsx';
import { Confirmed, Editable, RecordForm, diff, type FieldGroup, type Send } from './record-form.tsx';
import { useSession } from './session.ts';

type Store = Webhooks['Store'];
type Provider = Store['pos'];

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

const roles = {
  pos: 'Point of sale',
  delivery: 'Delivery provider',
  identity: 'Identity provider',
  payments: '3DS provider',
} as const;
type Role = keyof typeof roles;

const hostHelp = 'Another host removes the credentials that you do not enter with it.';

const providerFields = (role: Role, { credentials, credentialNames }: Provider): Field[] => [
  field('kind', 'Kind', { isRequired: true }),
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

/** The change of a store that changes one of its providers, or adds one. */
const patchOfProvider = (value: Store[Role], provider: Provider, patch: object): object => {
  if (!Array.isArray(value)) return patch;
  const others = value.map((one) => (one === provider ? merged(kept(one), patch) : kept(one)));
  return value.includes(provider as never) ? others : [...others, patch];
};

const none: Provider = { kind: '', credentials: [], credentialNames: [] };

interface Shown {
  store: Store;
  send: Send;
  reload: () => void;
}

/** Changes a store, and names the credentials that this has removed. */
const savedBy = async (send: Send, patch: object) => {
  const { clearedCredentials: cleared } = (await send('PATCH', patch)) as Webhooks['ChangedStore'];
  if (cleared.length === 0) return null;
  return <p class="note">Saved. Enter again, because they were removed: {cleared.join(', ')}.</p>;
};

const providerForm = ({ store, send, reload }: Shown, role: Role, provider: Provider) => {
  const title = provider === none ? `Add: ${roles[role]}` : `${roles[role]}: ${provider.kind}`;
  const mapping = provider.kind === 'generic' ? mappingGroups(provider) : [];
  return (
    <RecordForm
      key={title}
      label={title}
      groups={[
        { title, fields: providerFields(role, provider), isFolded: provider === none },
        ...mapping.map((group) => ({ ...group, isFolded: true })),
      ]}
      record={provider}
      save={(patch) => savedBy(send, { [role]: patchOfProvider(store[role], provider, patch) })}
      reload={reload}
    />
  );
};

/** The values of a snapshot as texts, by their paths. */
const textsOf = (value: unknown, path = ''): [string, string][] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, inner]) => textsOf(inner, path === '' ? name : `${path}.${name}`))
    : [[path, typeof value === 'string' ? value : JSON.stringify(value)]];

const differencesIn = (change: Webhooks['StoreChange']): Difference[] => {
  const [old, now] = [new Map(textsOf(change.before)), new Map(textsOf(change.after))];
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((label) => ({ label, before: old.get(label) ?? '–', after: now.get(label) ?? '–' }))
    .filter(({ before, after }) => before !== after);
};

const changeColumns: Columns<Webhooks['StoreChange']> = {
  When: ({ changedAt }) => time(changedAt),
  Who: ({ changedBy }) => changedBy,
  What: (change) => {
    const differences = differencesIn(change);
    return differences.length > 0 ? diff(differences, 'What has changed') : 'Credentials';
  },
};

const Ending = ({ store: { id, deletedAt }, send, reload }: Shown) => {
  const session = useSession();
  const isDeleted = deletedAt !== null;
  const [inUse, deleted] = ['in use', 'deleted; can be restored until its data is erased'];
  const change = () => (isDeleted ? session.ask(`/v1/stores/${id}/restore`, 'POST') : send('DELETE'));
  return (
    <Confirmed
      verb={isDeleted ? 'Restore the store' : 'Delete the store'}
      difference={{ label: 'Store', before: isDeleted ? deleted : inUse, after: isDeleted ? inUse : deleted }}
      save={() => change().then(() => null)}
      reload={reload}
    />
  );
};

/** Whether a store takes webhooks. */
export const storeState = ({ active, deletedAt }: Store) => {
  if (deletedAt !== null) return state('bad', 'deleted');
  return active ? state('good', 'active') : state('warn', 'paused');
};

/** The settings of a store, and who has changed them. */
export const StoreSettings = ({ id }: { id: string }) => (
  <Editable<Store> path={`/v1/stores/${encodeURIComponent(id)}`}>
    {(store, send, reload) => {
      const shown = { store, send, reload };
      return (
        <>
          <h2>
            {store.name} {storeState(store)}
          </h2>
          <RecordForm
            label="Store"
            groups={storeGroups}
            record={store}
            save={(patch) => savedBy(send, patch)}
            reload={reload}
          />
          {(Object.keys(roles) as Role[]).flatMap((role) => {
            const value = store[role] ?? [none];
            const providers: Provider[] = Array.isArray(value)
              ? [...value.filter((one) => one !== none), none]
              : [value];
            return providers.map((provider) => providerForm(shown, role, provider));
          })}
          <Ending {...shown} />
          <h2>Changes</h2>
          <List
            caption="Changes of the store"
            path={`/v1/stores/${store.id}/changes`}
            rows={({ changes }: WebhooksAnswer<'listStoreChanges'>) => changes}
            columns={changeColumns}
            empty="Nobody has changed the settings."
            version={store}
          />
        </>
      );
    }}
  </Editable>
);
