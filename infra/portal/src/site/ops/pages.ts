import { button, element } from '../element.ts';

/** Position in a list of a management API. */
interface ListPage {
  number: number;
  has_more: boolean;
}

/** Buttons to the previous and next page; hidden when there is one page. The labels are for lists with the newest first. */
export const pager = (
  { number, has_more }: ListPage,
  go: (page: number) => void,
  [before, after]: readonly [string, string] = ['Newer', 'Older'],
): HTMLElement => {
  const earlier = button(before, 'quiet', () => go(number - 1), 'page-before');
  const later = button(after, 'quiet', () => go(number + 1), 'page-after');
  earlier.disabled = number === 1;
  later.disabled = !has_more;
  const bar = element('nav', { class: 'pager', 'aria-label': 'Pages' }, earlier, `Page ${number}`, later);
  bar.hidden = number === 1 && !has_more;
  return bar;
};
