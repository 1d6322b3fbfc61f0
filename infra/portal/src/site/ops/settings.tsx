import type { ComponentChildren, FunctionComponent } from 'preact';
import type { KeysResponse, Wallet } from './api.ts';
import { field, type Field } from './fields.ts';
import { useRovingTabStop } from './keys.ts';
import { newSecret } from './links.tsx';
import { List } from './list.tsx';
import { Dialog, button, opener, stateBadge, time, type Columns } from './parts.tsx';
import { open, newRecord, place, addressOf } from './place.ts';
import { Editable, RecordForm, type FormProps, type Send } from './record-form.tsx';
import { ConfirmedChange } from './review.tsx';
import { useSession } from './session.ts';
import { Stores } from './store-settings.tsx';

interface RecordsOf<Row> {
  noun: string;
  /** Path of the list. */
  path: string;
  /** Query of the list. */
  query?: string;
  columns: Columns<Row>;
  /** Fields of the form for a new record. */
  fields: readonly Field[];
  create: Pick<FormProps, 'record' | 'verb' | 'save'>;
  /** False: an open record is not reloaded after a change, so that the result of the change stays visible. */
  isReloaded?: boolean;
  /** Renders the forms for the open record; `path` is its path. */
  children: (record: Row, send: Send, path: string) => ComponentChildren;
}

/** A list of records that are changed in a dialog, and a button for a new one. */
const Records = <Row,>(props: RecordsOf<Row>) => {
  const { noun, path, query = '', columns, fields, create, isReloaded, children } = props;
  const opened = place.value.filters.get('open') ?? '';
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const recordPath = `${path}/${encodeURIComponent(opened)}`;
  return (
    <>
      <div class="actions">{button(`New ${noun} …`, () => open(newRecord), 'quiet')}</div>
      <List<Row>
        caption={`${noun}s`}
        path={path + query}
        columns={columns}
        empty={`There is no ${noun} yet.`}
        isByTime={false}
      />
      {opened !== '' && (
        <Dialog title={opened === newRecord ? `New ${noun}` : `Change the ${noun}`} onClose={open}>
          {opened === newRecord ? (
            <RecordForm label={title} groups={[{ title, fields }]} {...create} />
          ) : (
            <Editable<Row> path={recordPath} isReloaded={isReloaded}>
              {(record, send) => children(record, send, recordPath)}
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
    help: 'One per line; empty: the key can read the projects of all clients.',
  }),
  field('expires_at', 'Expires', { kind: 'time', help: 'Empty: never.' }),
];

const grace = field('grace_seconds', 'Seconds until the old key expires', {
  kind: 'number',
  isRequired: true,
  help: 'Long enough for all callers to get the new key, such as 3600; at most 30 days.',
});

const keyColumns: Columns<ApiKey> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  Key: ({ key_hint }) => <code>{key_hint}</code>,
  State: ({ revoked_at }) =>
    revoked_at === null ? stateBadge('good', 'valid') : stateBadge('bad', 'revoked'),
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
      isReloaded={false}
      create={{ record: {}, verb: 'Create the key', save }}
    >
      {({ name, revoked_at }, send, path) =>
        revoked_at === null && (
          <>
            <RecordForm
              label="Rotation"
              groups={[{ title: `New key instead of ${name}`, fields: [grace] }]}
              record={{}}
              verb="Rotate the key"
              save={(values) => create(`${path}/rotate`, values)}
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
  State: ({ enabled }) => (enabled ? stateBadge('good', 'enabled') : stateBadge('bad', 'disabled')),
  Added: ({ createdAt }) => time(createdAt),
};

/** The games of the wallet. */
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

/** The sections of the view, by the value of the filter `of`. */
const sections: Readonly<Record<string, { name: string; scope: string; Section: FunctionComponent }>> = {
  stores: { name: 'Stores', scope: 'stores:read', Section: Stores },
  games: { name: 'Games', scope: 'wallet:admin', Section: Games },
  keys: { name: 'API keys', scope: 'verify:admin', Section: ApiKeys },
};

/** The settings of stores, games and API keys; the limits of players have a separate view. */
export const View = () => {
  const { filters } = place.value;
  const { may } = useSession();
  const links = useRovingTabStop<HTMLElement>();
  const allowed = Object.entries(sections).filter(([, { scope }]) => may(scope));
  const current = filters.get('of') ?? allowed[0]?.[0] ?? '';
  const Section = Object.hasOwn(sections, current) ? sections[current]?.Section : undefined;
  return (
    <>
      <nav class="links" aria-label="Settings" aria-keyshortcuts="ArrowLeft ArrowRight" ref={links}>
        {allowed.map(([section, { name }]) => (
          <a
            key={section}
            href={addressOf('settings', { of: section })}
            aria-current={section === current ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      {Section && <Section />}
    </>
  );
};
