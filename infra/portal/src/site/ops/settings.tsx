import { useSignal } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import type { KeysAnswer, Wallet, WalletAnswer, Webhooks, WebhooksAnswer } from './api.ts';
import { Dialog } from './dialog.tsx';
import { field } from './fields.ts';
import { List } from './list.tsx';
import { View, button, opener, state, time, type Columns } from './parts.tsx';
import { addressOf, changeFilters, place } from './place.ts';
import { Confirmed, Editable, RecordForm } from './record-form.tsx';
import { useSession } from './session.ts';
import { StoreSettings, storeState } from './store-settings.tsx';

const open = (id: string): void => changeFilters({ open: id });

/** In place of the id of a record that is opened: a new one. */
const newOne = '+';

const storeColumns: Columns<Webhooks['Store']> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  State: storeState,
  'Point of sale': ({ pos }) => pos.kind,
  Currency: ({ currency }) => currency,
  Changed: ({ updatedAt }) => time(updatedAt),
};

const Stores = ({ opened }: { opened: string }) => {
  if (opened !== '') return <StoreSettings id={opened} />;
  return (
    <List
      caption="Stores"
      path="/v1/stores"
      rows={({ stores }: WebhooksAnswer<'listStores'>) => stores}
      columns={storeColumns}
      empty="There is no store yet."
    />
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

interface Opened {
  opened: string;
  changed: () => void;
}

const Game = ({ opened, changed }: Opened) => {
  const session = useSession();
  if (opened === newOne)
    return (
      <RecordForm
        label="Game"
        groups={[{ title: 'Game', fields: [gameCode, ...gameFields] }]}
        record={{ enabled: true }}
        save={(game) => session.ask('/v1/games', 'POST', { enabled: true, ...game }).then(() => null)}
        reload={changed}
      />
    );
  return (
    <Editable<Wallet['Game']> path={`/v1/games/${encodeURIComponent(opened)}`}>
      {(game, send, reload) => (
        <RecordForm
          label="Game"
          groups={[{ title: game.gameCode, fields: gameFields }]}
          record={game}
          save={(patch) =>
            send('PATCH', patch)
              .then(changed)
              .then(() => null)
          }
          reload={reload}
        />
      )}
    </Editable>
  );
};

type ApiKey = KeysAnswer<'getApiKey'>;

const keyFields = [
  field('name', 'Name', { isRequired: true }),
  field('clients', 'Clients', {
    kind: 'lines',
    help: 'One a line; none: the key reads the projects of all.',
  }),
  field('expires_at', 'Expires', { help: 'Such as 2030-01-01T00:00:00Z; empty: never.' }),
];

const keyColumns: Columns<ApiKey> = {
  Name: ({ id, name }) => opener(name, id, () => open(id)),
  Key: ({ key_hint }) => <code>{key_hint}</code>,
  State: ({ revoked_at }) => (revoked_at === null ? state('good', 'valid') : state('bad', 'revoked')),
  Clients: ({ clients }) => clients?.join(', ') ?? 'all',
  Expires: ({ expires_at }) => time(expires_at),
  'Last used': ({ last_used_at }) => time(last_used_at),
};

const Key = ({ opened, changed }: Opened) => {
  const session = useSession();
  const create = async (patch: object) => {
    const body = { scopes: ['verify:read'], ...patch };
    const { key } = await session.ask<KeysAnswer<'createApiKey'>>('/v1/api-keys', 'POST', body);
    return (
      <p class="note">
        The key is shown this once: <code>{key}</code>
      </p>
    );
  };
  if (opened === newOne)
    return (
      <RecordForm
        label="API key"
        groups={[{ title: 'API key', fields: keyFields }]}
        record={{}}
        verb="Create the key"
        save={create}
        reload={changed}
      />
    );
  return (
    <Editable<ApiKey> path={`/v1/api-keys/${encodeURIComponent(opened)}`}>
      {({ name }, send) => (
        <Confirmed
          verb="Revoke the key"
          difference={{ label: name, before: 'valid', after: 'revoked at once' }}
          save={() => send('DELETE').then(() => <p class="note">Revoked.</p>)}
          reload={changed}
        />
      )}
    </Editable>
  );
};

interface RecordsOf<Answer, Row> {
  noun: string;
  path: string;
  rows: (answer: Answer) => readonly Row[];
  columns: Columns<Row>;
  opened: string;
  One: FunctionComponent<Opened>;
}

/** A list of records that are changed in a dialog, and a button for a new one. */
const Records = <Answer extends { page: { number: number; has_more: boolean } }, Row>({
  noun,
  opened,
  One,
  ...list
}: RecordsOf<Answer, Row>): ComponentChildren => {
  const version = useSignal(0);
  const empty = `There is no ${noun} yet.`;
  return (
    <>
      <div class="actions">{button(`New ${noun} …`, () => open(newOne), 'quiet')}</div>
      <List<Answer, Row>
        caption={`${noun}s`}
        {...list}
        empty={empty}
        version={version.value}
        isByTime={false}
      />
      {opened !== '' && (
        <Dialog title={opened === newOne ? `New ${noun}` : `Change the ${noun}`} closed={() => open('')}>
          <One key={opened} opened={opened} changed={() => version.value++} />
        </Dialog>
      )}
    </>
  );
};

/** What can be set here, by the filter `of`. */
const parts: Readonly<
  Record<string, { name: string; scope: string; show: (opened: string) => ComponentChildren }>
> = {
  stores: { name: 'Stores', scope: 'stores:read', show: (opened) => <Stores opened={opened} /> },
  games: {
    name: 'Games',
    scope: 'wallet:admin',
    show: (opened) => (
      <Records
        noun="game"
        path="/v1/games"
        rows={({ games }: WalletAnswer<'listGames'>) => games}
        columns={gameColumns}
        opened={opened}
        One={Game}
      />
    ),
  },
  keys: {
    name: 'API keys',
    scope: 'verify:admin',
    show: (opened) => (
      <Records
        noun="API key"
        path="/v1/api-keys?include=revoked"
        rows={({ api_keys }: KeysAnswer<'listApiKeys'>) => api_keys}
        columns={keyColumns}
        opened={opened}
        One={Key}
      />
    ),
  },
};

/** The settings of stores, games and API keys; the limits of players are in a view of their own. */
export const SettingsView = () => {
  const { filters } = place.value;
  const { may } = useSession();
  const allowed = Object.entries(parts).filter(([, { scope }]) => may(scope));
  const of = filters.get('of') ?? allowed[0]?.[0] ?? '';
  return (
    <View name="Settings">
      <nav class="links" aria-label="Settings">
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
      {parts[of]?.show(filters.get('open') ?? '')}
    </View>
  );
};
