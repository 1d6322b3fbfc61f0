import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { addressOf } from './place.ts';

const copiedMs = 1500;

/** An id or a link with a button that copies the id. */
export const CopyableId = ({ id, children }: { id: string; children?: ComponentChildren }) => {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(id);
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), copiedMs);
  };
  return (
    <span class="id">
      {children ?? <code>{id}</code>}
      <button
        type="button"
        class="copy"
        aria-label={isCopied.value ? 'Copied' : `Copy ${id}`}
        data-copied={isCopied.value || undefined}
        onClick={() => void copy()}
      />
    </span>
  );
};

/** Shows a secret that was just created. */
export const newSecret = (name: string, secret: string): JSX.Element => (
  <p class="note">
    The {name} is shown only once: <CopyableId id={secret} />
  </p>
);

/** @param text shown instead of the id */
const idLink = (href: string, id: string, text = id) => (
  <CopyableId id={id}>
    <a href={href}>
      <code>{text}</code>
    </a>
  </CopyableId>
);

/** The address of a search for an id in all services. */
const findAddress = (id: string): string => addressOf('find', { q: id });

/** An id as a link to a search for it. */
export const findLink = (id: string | null): JSX.Element | null =>
  id === null ? null : idLink(findAddress(id), id);

/** An entity of an event, such as `order:17`, as a link to a search for its id. */
export const aboutLink = (entity: string | null): JSX.Element | null => {
  if (entity === null) return null;
  const id = entity.slice(entity.indexOf(':') + 1);
  return idLink(findAddress(id), id, entity);
};

/** A player as a link to its balance and entries. */
export const playerLink = (playerId: string | null): JSX.Element | null =>
  playerId === null ? null : idLink(addressOf('players', { playerId }), playerId);

/** A round of a player as a link to its history. */
export const roundLink = (player: string | null, round: string | null): JSX.Element | null =>
  round === null ? null : idLink(addressOf('rounds', { player, round }), round);
