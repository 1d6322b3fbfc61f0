import type { KeysAnswer } from './api.ts';
import { field } from './fields.ts';
import { opener, state, time, type Columns } from './parts.tsx';
import { open } from './place.ts';
import { Confirmed, RecordForm } from './record-form.tsx';
import { Records } from './records.tsx';
import { useSession } from './session.ts';

type ApiKey = KeysAnswer<'getApiKey'>;

const keyFields = [
  field('name', 'Name', { isRequired: true }),
  field('clients', 'Clients', {
    kind: 'lines',
    help: 'One a line; none: the key reads the projects of all.',
  }),
  field('expires_at', 'Expires', { help: 'Such as 2030-01-01T00:00:00Z; empty: never.' }),
];

const grace = field('grace_seconds', 'Seconds that the old key works on', {
  kind: 'number',
  isRequired: true,
  help: 'Until all callers have the new one, such as 3600; at most 30 days.',
});

const columns: Columns<ApiKey> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  Key: ({ key_hint }) => <code>{key_hint}</code>,
  State: ({ revoked_at }) => (revoked_at === null ? state('good', 'valid') : state('bad', 'revoked')),
  Clients: ({ clients }) => clients?.join(', ') ?? 'all',
  Expires: ({ expires_at }) => time(expires_at),
  'Last used': ({ last_used_at }) => time(last_used_at),
};

/** The API keys of verify-projects. */
export const ApiKeys = () => {
  const session = useSession();
  const create = async (path: string, body: object) => {
    const { key } = await session.ask<KeysAnswer<'createApiKey'>>(path, 'POST', body);
    return (
      <p class="note">
        The key is shown this once: <code>{key}</code>
      </p>
    );
  };
  const save = (key: object) => create('/v1/api-keys', { scopes: ['verify:read'], ...key });
  return (
    <Records<ApiKey>
      noun="API key"
      path="/v1/api-keys"
      query="?include=revoked"
      columns={columns}
      fields={keyFields}
      isReadOnce
      create={{ record: {}, verb: 'Create the key', save }}
    >
      {({ name, revoked_at }, send, path) =>
        revoked_at === null && (
          <>
            <RecordForm
              label="Rotation"
              groups={[{ title: `Another key in place of ${name}`, fields: [grace] }]}
              record={{}}
              verb="Rotate the key"
              save={(entered) => create(`${path}/rotate`, entered)}
            />
            <Confirmed
              verb="Revoke the key"
              difference={{ label: name, before: 'valid', after: 'revoked at once' }}
              save={() => send('DELETE').then(() => <p class="note">Revoked.</p>)}
            />
          </>
        )
      }
    </Records>
  );
};
