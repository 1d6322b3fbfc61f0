import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { WalletResponse } from './api.ts';
import { addressOf, goTo } from './place.ts';
import { useSession, type Session } from './session.ts';
import { storeNames } from './stores.ts';

/** An option of the command dialog. */
export interface Command {
  group: 'View' | 'Store' | 'Player' | 'Action' | 'Find';
  name: string;
  run: () => void;
}

/** Players are searched after this pause in typing. */
const pauseMs = 200;

const readStores = async (session: Session): Promise<Command[]> =>
  [...(await storeNames(session))].map(([store, name]) => ({
    group: 'Store',
    name,
    run: () => goTo(addressOf('webhooks', { store })),
  }));

const readPlayers = async (session: Session, q: string): Promise<Command[]> => {
  const path = `/v1/players?${new URLSearchParams({ q, limit: '5' })}`;
  const { players } = await session.ask<WalletResponse<'listPlayers'>>(path);
  return players.map(({ playerId }) => ({
    group: 'Player',
    name: playerId,
    run: () => goTo(addressOf('players', { playerId })),
  }));
};

/** Returns a function that returns whether a command contains all typed words. */
const matcherFor = (text: string) => {
  const words = text.toLowerCase().split(/\s+/);
  return ({ group, name }: Command) => {
    const title = `${group} ${name}`.toLowerCase();
    return words.every((word) => title.includes(word));
  };
};

const useStores = () => {
  const session = useSession();
  const stores = useSignal<Command[]>([]);
  useEffect(() => {
    // If the token may not read stores, the dialog offers none.
    readStores(session).then(
      (storeCommands) => (stores.value = storeCommands),
      () => {},
    );
  }, [session, stores]);
  return stores;
};

/** The first players that match a text. */
const usePlayers = (query: string) => {
  const session = useSession();
  const players = useSignal<Command[]>([]);
  useEffect(() => {
    players.value = [];
    if (query === '' || !session.may('wallet:read')) return undefined;
    let isOutdated = false;
    const timer = setTimeout(() => {
      readPlayers(session, query).then(
        (playerCommands) => !isOutdated && (players.value = playerCommands),
        () => {},
      );
    }, pauseMs);
    return () => {
      isOutdated = true;
      clearTimeout(timer);
    };
  }, [session, query, players]);
  return players;
};

/** A dialog in which the user selects a view, a store, a player or an action by a part of its name. */
export const CommandsDialog = ({ commands, onClose }: { commands: Command[]; onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, selectedIndex] = [useSignal(''), useSignal(0)];
  const stores = useStores();
  const players = usePlayers(text.value.trim());
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const options = useComputed((): Command[] => {
    const q = text.value.trim();
    const all = [...commands, ...stores.value];
    if (q === '') return all;
    const find: Command = { group: 'Find', name: q, run: () => goTo(addressOf('find', { q })) };
    return [...all.filter(matcherFor(q)), ...players.value, find];
  });
  const choose = (command: Command | undefined): void => {
    // Closing returns the focus first; then the command may move it.
    dialog.current?.close();
    command?.run();
  };
  const select = (index: number): void => {
    const { length } = options.value;
    // Wraps around at both ends.
    selectedIndex.value = (index + length) % length;
    document.getElementById(`command-${selectedIndex.value}`)?.scrollIntoView({ block: 'nearest' });
  };
  const press = (event: KeyboardEvent): void => {
    const actions: Record<string, () => void> = {
      ArrowDown: () => select(selectedIndex.value + 1),
      ArrowUp: () => select(selectedIndex.value - 1),
      Enter: () => choose(options.value[selectedIndex.value]),
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (action === undefined || event.isComposing) return;
    event.preventDefault();
    action();
  };
  return (
    <dialog ref={dialog} class="commands" aria-label="Commands" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label="View, store, player or action"
        aria-expanded="true"
        aria-controls="commands"
        aria-autocomplete="list"
        aria-activedescendant={`command-${selectedIndex.value}`}
        placeholder="View, store, player or action"
        maxLength={255}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          selectedIndex.value = 0;
        }}
        onKeyDown={press}
      />
      <div id="commands" role="listbox" aria-label="Commands">
        {options.value.map((command, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the input field has the focus and handles the keys
          <div
            key={`${command.group} ${command.name}`}
            id={`command-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === selectedIndex.value}
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
