import { button, element } from '../element.ts';

/** How lists of the management interfaces say where they are. */
export interface ListPage {
  number: number;
  has_more: boolean;
}

/** Buttons to the pages before and after; nothing where there is one page. */
export const pager = ({ number, has_more }: ListPage, go: (page: number) => void): HTMLElement => {
  const earlier = button('Newer', 'quiet', () => go(number - 1));
  const later = button('Older', 'quiet', () => go(number + 1));
  earlier.disabled = number === 1;
  later.disabled = !has_more;
  const bar = element('nav', { class: 'pager', 'aria-label': 'Pages' }, earlier, `Page ${number}`, later);
  bar.hidden = number === 1 && !has_more;
  return bar;
};
