import { element } from '../element.ts';
import { addressOf } from './place.ts';

/** The address that searches all services for an id. */
const findAddress = (id: string): string => addressOf('find', { q: id });

/** An id as a link to everything that is known of it; a dash for null. */
export const findLink = (id: string | null): HTMLElement =>
  id === null ? element('span', {}, '–') : element('a', { href: findAddress(id) }, element('code', {}, id));

/** An entity of an event, such as `order:17`, as a link to what is known of its id; a dash for null. */
export const aboutLink = (entity: string | null): HTMLElement =>
  entity === null
    ? findLink(null)
    : element('a', { href: findAddress(entity.slice(entity.indexOf(':') + 1)) }, element('code', {}, entity));
