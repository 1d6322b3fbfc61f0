import { element } from '../element.ts';
import { addressOf } from './place.ts';

const idLink = (href: string, id: string): HTMLElement => element('a', { href }, element('code', {}, id));

/** The address that searches all services for an id. */
const findAddress = (id: string): string => addressOf('find', { q: id });

/** An id as a link to everything that is known of it; a dash for null. */
export const findLink = (id: string | null): HTMLElement =>
  id === null ? element('span', {}, '–') : idLink(findAddress(id), id);

/** An entity of an event, such as `order:17`, as a link to what is known of its id; a dash for null. */
export const aboutLink = (entity: string | null): HTMLElement =>
  entity === null ? findLink(null) : idLink(findAddress(entity.slice(entity.indexOf(':') + 1)), entity);

/** A player as a link to the balance and the entries; a dash for null. */
export const playerLink = (playerId: string | null): HTMLElement =>
  playerId === null ? findLink(null) : idLink(addressOf('players', { playerId }), playerId);

/** A round of a player as a link to its history; a dash for null. */
export const roundLink = (player: string | null, round: string | null): HTMLElement =>
  round === null ? findLink(null) : idLink(addressOf('rounds', { player, round }), round);
