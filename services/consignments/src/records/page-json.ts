import type { WrittenPage } from './page.ts';

/** The body that `totalledList` would give, from items that are JSON text already. */
export const pageJson = (name: string, index: number, { items, total }: WrittenPage): string =>
  `{"index":${index},"total":${total},"${name}":[${items.join(',')}]}`;
