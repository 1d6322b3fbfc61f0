import type { Wallet } from './api.ts';
import { field } from './fields.ts';
import { opener, state, time, type Columns } from './parts.tsx';
import { open } from './place.ts';
import { RecordForm } from './record-form.tsx';
import { Records } from './records.tsx';
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

/** The games that the wallet knows. */
export const Games = () => {
  const session = useSession();
  const save = (game: object) =>
    session.ask('/v1/games', 'POST', { enabled: true, ...game }).then(() => null);
  return (
    <Records<Wallet['Game']>
      noun="game"
      path="/v1/games"
      columns={columns}
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
