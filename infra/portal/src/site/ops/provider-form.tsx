import type { Webhooks } from './api.ts';
import { field, merged, type Field } from './fields.ts';
import { mappingGroups, type Provider } from './mapping.tsx';
import { Confirmed, RecordForm, type Send } from './record-form.tsx';

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
  const all = value.map((one) => (one === provider ? patch && merged(kept(one), patch) : kept(one)));
  const left = all.filter((one) => one !== null);
  return provider === none ? [...left, patch] : left;
};

/** A store that is changed. */
export interface Shown {
  store: Store;
  send: Send;
}

/** Changes a store, and names the credentials that this has removed. */
export const savedBy = async (send: Send, patch: object) => {
  const { clearedCredentials: cleared } = (await send('PATCH', patch)) as Webhooks['ChangedStore'];
  if (cleared.length === 0) return null;
  return <p class="note">Saved. Enter again, because they were removed: {cleared.join(', ')}.</p>;
};

const ProviderForm = ({ store, send, role, provider }: Shown & { role: Role; provider: Provider }) => {
  const title = provider === none ? `Add: ${roles[role]}` : `${roles[role]}: ${provider.kind}`;
  const mapping = provider.kind === 'generic' ? mappingGroups(provider) : [];
  // A store has one provider of each kind.
  const others = providersOf(store[role]).filter((one) => one !== provider);
  const kinds = PROVIDER_KINDS[role].filter((kind) => !others.some((one) => one.kind === kind));
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
        <Confirmed
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
export const ProviderForms = (shown: Shown) =>
  (Object.keys(roles) as Role[]).flatMap((role) => {
    const value = shown.store[role];
    const providers = providersOf(value);
    // Of some roles a store has one provider, of others one of each kind.
    const isFull = Array.isArray(value)
      ? providers.length === PROVIDER_KINDS[role].length
      : providers.length > 0;
    return [...providers, ...(isFull ? [] : [none])].map((provider) => (
      <ProviderForm key={`${role} ${provider.kind}`} {...shown} role={role} provider={provider} />
    ));
  });
