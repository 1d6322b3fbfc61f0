import type { ComponentChildren, FunctionComponent } from 'preact';
import type { KeysResponse, Wallet } from './api.ts';
import { field, type Field } from './fields.ts';
import { useRovingTabStop } from './keys.ts';
import { newSecret } from './links.tsx';
import { List } from './list.tsx';
import { Dialog, button, opener, state, time, type Columns } from './parts.tsx';
import { open, place, addressOf } from './place.ts';
import { Editable, RecordForm, ConfirmedChange, type RecordFormProps, type Send } from './record-form.tsx';
import { useSession } from './session.ts';
import { Stores } from './store-settings.tsx';

/** In place of the id of a record that is opened: a new one. */
const newOne = '+';

interface RecordsOf<Row> {
  noun: string;
  /** Of the list, and of what is created. */
  path: string;
  /** Of the list. */
  query?: string;
  columns: Columns<Row>;
  /** What is entered for a new record, and how it is created. */
  fields: readonly Field[];
  create: Pick<RecordFormProps, 'record' | 'verb' | 'save'>;
  /** Whether a record that is open stays as it was, so that what a change has answered does. */
  isReadOnce?: boolean;
  /** What changes a record that is open, which is at `path`. */
  children: (record: Row, send: Send, path: string) => ComponentChildren;
}

/** A list of records that are changed in a dialog, and a button for a new one. */
const Records = <Row,>({ noun, path, query = '', fields, create, ...records }: RecordsOf<Row>) => {
  const opened = place.value.filters.get('open') ?? '';
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const own = `${path}/${encodeURIComponent(opened)}`;
  return (
    <>
      <div class="actions">{button(`New ${noun} …`, () => open(newOne), 'quiet')}</div>
      <List<Row>
        caption={`${noun}s`}
        path={path + query}
        columns={records.columns}
        empty={`There is no ${noun} yet.`}
        isByTime={false}
      />
      {opened !== '' && (
        <Dialog title={opened === newOne ? `New ${noun}` : `Change the ${noun}`} onClose={open}>
          {opened === newOne ? (
            <RecordForm label={title} groups={[{ title, fields }]} {...create} />
          ) : (
            <Editable<Row> path={own} isReadOnce={records.isReadOnce}>
              {(record, send) => records.children(record, send, own)}
            </Editable>
          )}
        </Dialog>
      )}
    </>
  );
};

type ApiKey = KeysResponse<'getApiKey'>;

const keyFields = [
  field('name', 'Name', { isRequired: true }),
  field('clients', 'Clients', {
    kind: 'lines',
    help: 'One a line; none: the key reads the projects of all.',
  }),
  field('expires_at', 'Expires', { kind: 'time', help: 'Empty: never.' }),
];

const grace = field('grace_seconds', 'Seconds that the old key works on', {
  kind: 'number',
  isRequired: true,
  help: 'Until all callers have the new one, such as 3600; at most 30 days.',
});

const keyColumns: Columns<ApiKey> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  Key: ({ key_hint }) => <code>{key_hint}</code>,
  State: ({ revoked_at }) => (revoked_at === null ? state('good', 'valid') : state('bad', 'revoked')),
  Clients: ({ clients }) => clients?.join(', ') ?? 'all',
  Expires: ({ expires_at }) => time(expires_at),
  'Last used': ({ last_used_at }) => time(last_used_at),
};

/** The API keys of verify-projects. */
const ApiKeys = () => {
  const session = useSession();
  const create = async (path: string, body: object) => {
    const { key } = await session.ask<KeysResponse<'createApiKey'>>(path, 'POST', body);
    return newSecret('key', key);
  };
  const save = (key: object) => create('/v1/api-keys', { scopes: ['verify:read'], ...key });
  return (
    <Records<ApiKey>
      noun="API key"
      path="/v1/api-keys"
      query="?include=revoked"
      columns={keyColumns}
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
            <ConfirmedChange
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

const gameFields = [
  field('name', 'Name', { isRequired: true }),
  field('enabled', 'Enabled', { kind: 'switch', help: 'No: its sessions end.' }),
];
const gameCode = field('gameCode', 'Code', { isRequired: true, help: 'As the game server sends it.' });

const gameColumns: Columns<Wallet['Game']> = {
  Code: ({ gameCode: id }) => opener(id, id, () => open(id)),
  Name: ({ name }) => name,
  State: ({ enabled }) => (enabled ? state('good', 'enabled') : state('bad', 'disabled')),
  Added: ({ createdAt }) => time(createdAt),
};

/** The games that the wallet knows. */
const Games = () => {
  const session = useSession();
  const save = (game: object) =>
    session.ask('/v1/games', 'POST', { enabled: true, ...game }).then(() => null);
  return (
    <Records<Wallet['Game']>
      noun="game"
      path="/v1/games"
      columns={gameColumns}
      fields={[gameCode, ...gameFields]}
      create={{ record: { enabled: true }, save }}
    >
      {(game, send) => (
        <RecordForm
          label="Game"
          groups={[{ title: game.gameCode, fields: gameFields }]}
          record={game}
          save={(patch) => send('PATCH', patch).then(() => null)}
        />
      )}
    </Records>
  );
};

/** What can be set here, by the filter `of`. */
const parts: Readonly<Record<string, { name: string; scope: string; Part: FunctionComponent }>> = {
  stores: { name: 'Stores', scope: 'stores:read', Part: Stores },
  games: { name: 'Games', scope: 'wallet:admin', Part: Games },
  keys: { name: 'API keys', scope: 'verify:admin', Part: ApiKeys },
};

/** The settings of stores, games and API keys; the limits of players are in a view of their own. */
export const View = () => {
  const { filters } = place.value;
  const { may } = useSession();
  const links = useRovingTabStop<HTMLElement>();
  const allowed = Object.entries(parts).filter(([, { scope }]) => may(scope));
  const of = filters.get('of') ?? allowed[0]?.[0] ?? '';
  const Part = Object.hasOwn(parts, of) ? parts[of]?.Part : undefined;
  return (
    <>
      <nav class="links" aria-label="Settings" aria-keyshortcuts="ArrowLeft ArrowRight" ref={links}>
        {allowed.map(([part, { name }]) => (
          <a
            key={part}
            href={addressOf('settings', { of: part })}
            aria-current={part === of ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {Part && <Part />}
    </>
  );
};
