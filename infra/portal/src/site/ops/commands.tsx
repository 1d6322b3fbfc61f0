import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { WalletAnswer } from './api.ts';
import { addressOf, goTo } from './place.ts';
import { useSession, type Session } from './session.ts';
import { storeNames } from './stores.ts';

/** Something that the dialog of commands offers. */
export interface Command {
  group: 'View' | 'Store' | 'Player' | 'Action' | 'Find';
  name: string;
  run: () => void;
}

/** Players are searched when nothing was typed for this time. */
const pauseMs = 200;

const readStores = async (session: Session): Promise<Command[]> =>
  [...(await storeNames(session))].map(([store, name]) => ({
    group: 'Store',
    name,
    run: () => goTo(addressOf('webhooks', { store })),
  }));

const readPlayers = async (session: Session, q: string): Promise<Command[]> => {
  const path = `/v1/players?${new URLSearchParams({ q, limit: '5' })}`;
  const { players } = await session.ask<WalletAnswer<'listPlayers'>>(path);
  return players.map(({ playerId }) => ({
    group: 'Player',
    name: playerId,
    run: () => goTo(addressOf('players', { playerId })),
  }));
};

/** Whether a command has all words that were typed. */
const matches = (text: string) => {
  const words = text.toLowerCase().split(/\s+/);
  return ({ group, name }: Command) => {
    const title = `${group} ${name}`.toLowerCase();
    return words.every((word) => title.includes(word));
  };
};

/** A dialog in which a view, a store, a player or an action is chosen by a part of its name. */
export const CommandsDialog = ({ commands, closed }: { commands: Command[]; closed: () => void }) => {
  const session = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, at] = [useSignal(''), useSignal(0)];
  const [stores, players] = [useSignal<Command[]>([]), useSignal<Command[]>([])];
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    // Without the scope there are no stores to choose.
    readStores(session).then(
      (found) => (stores.value = found),
      () => {},
    );
  }, [session, stores]);
  const asked = text.value.trim();
  useEffect(() => {
    players.value = [];
    if (asked === '' || !session.may('wallet:read')) return undefined;
    let isOld = false;
    const timer = setTimeout(() => {
      readPlayers(session, asked).then(
        (found) => !isOld && (players.value = found),
        () => {},
      );
    }, pauseMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [session, asked, players]);
  const shown = useComputed((): Command[] => {
    const q = text.value.trim();
    if (q === '') return [...commands, ...stores.value];
    const find: Command = { group: 'Find', name: q, run: () => goTo(addressOf('find', { q })) };
    return [...[...commands, ...stores.value].filter(matches(q)), ...players.value, find];
  });
  const choose = (command: Command | undefined): void => {
    // The dialog gives the focus back, then the command may move it.
    dialog.current?.close();
    command?.run();
  };
  const move = (to: number): void => {
    const { length } = shown.value;
    at.value = (to + length) % length;
    document.getElementById(`command-${at.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(at.value + 1),
      ArrowUp: () => move(at.value - 1),
      Enter: () => choose(shown.value[at.value]),
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (action === undefined || event.isComposing) return;
    event.preventDefault();
    action();
  };
  return (
    <dialog ref={dialog} class="commands" aria-label="Commands" onClose={closed}>
      <input
        type="text"
        role="combobox"
        aria-label="View, store, player or action"
        aria-expanded="true"
        aria-controls="commands"
        aria-autocomplete="list"
        aria-activedescendant={`command-${at.value}`}
        placeholder="View, store, player or action"
        maxLength={255}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={press}
      />
      <div id="commands" role="listbox" aria-label="Commands">
        {shown.value.map((command, position) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field has the focus and its keys
          <div
            key={`${command.group} ${command.name}`}
            id={`command-${position}`}
            role="option"
            tabIndex={-1}
            aria-selected={position === at.value}
            onClick={() => choose(command)}
          >
            <span>{command.name}</span>
            <span class="soft">{command.group}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
};
