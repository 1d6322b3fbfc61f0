import { element } from '../element.ts';
import { addressOf } from './place.ts';

/** The address that searches all services for an id. */
export const findAddress = (id: string): string => addressOf('find', { q: id });

/** An id as a link to everything that is known of it; a dash for null. */
export const findLink = (id: string | null): HTMLElement =>
  id === null ? element('span', {}, '–') : element('a', { href: findAddress(id) }, element('code', {}, id));
