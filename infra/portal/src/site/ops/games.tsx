import type { Wallet, WalletAnswer } from './api.ts';
import { field } from './fields.ts';
import { opener, state, time, type Columns } from './parts.tsx';
import { Editable, RecordForm } from './record-form.tsx';
import { Records, newOne, open, type Opened } from './records.tsx';
import { useSession } from './session.ts';

const gameFields = [
  field('name', 'Name', { isRequired: true }),
  field('enabled', 'Enabled', { kind: 'switch', help: 'No: its sessions end.' }),
];
const gameCode = field('gameCode', 'Code', { isRequired: true, help: 'As the game server sends it.' });

const columns: Columns<Wallet['Game']> = {
  Code: ({ gameCode: id }) => opener(id, id, () => open(id)),
  Name: ({ name }) => name,
  State: ({ enabled }) => (enabled ? state('good', 'enabled') : state('bad', 'disabled')),
  Added: ({ createdAt }) => time(createdAt),
};

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

/** The games that the wallet knows. */
export const Games = ({ opened }: { opened: string }) => (
  <Records
    noun="game"
    path="/v1/games"
    rows={({ games }: WalletAnswer<'listGames'>) => games}
    columns={columns}
    opened={opened}
    One={Game}
  />
);
