import type { ComponentChildren } from 'preact';
import { Shown, useLoaded } from './content.tsx';
import { listQuery, type Filter } from './filters.tsx';
import { button, nothing, type Columns } from './parts.tsx';
import { changeFilters } from './place.ts';
import { useSession } from './session.ts';
import { Table } from './table.tsx';

/** Position in a list of a management API. */
interface ListPage {
  number: number;
  has_more: boolean;
}

const goToPage = (page: number): void => changeFilters({ page: page === 1 ? '' : String(page) });

/** Buttons to the previous and next page; hidden when there is one page. */
const pager = ({ number, has_more }: ListPage, isByTime: boolean) => (
  <nav class="pager" aria-label="Pages" hidden={number === 1 && !has_more}>
    {button(isByTime ? 'Newer' : 'Previous', () => goToPage(number - 1), 'quiet', { disabled: number === 1 })}
    Page {number}
    {button(isByTime ? 'Older' : 'Next', () => goToPage(number + 1), 'quiet', { disabled: !has_more })}
  </nav>
);

interface ListOf<Answer, Row> {
  caption: string;
  /** The request, to which filters and page are added. */
  path: string;
  filters?: readonly Filter[];
  /** Rows of a page. */
  limit?: number;
  rows: (answer: Answer) => readonly Row[];
  columns: Columns<Row>;
  /** Reads what is shown below the rows of each page. */
  readTotals?: () => Promise<readonly Row[]>;
  keyOf?: (row: Row) => string;
  /** Said when there are no rows. */
  empty: ComponentChildren;
  /** Whether the newest come first. */
  isByTime?: boolean;
  /** When it changes, the list is read again. */
  version?: unknown;
  /** Called with the rows of each answer. */
  onRows?: (rows: readonly Row[]) => void;
  /** What is shown below a page of rows. */
  renderBelow?: (rows: readonly Row[]) => ComponentChildren;
}

/** A list of a management API in pages, at the page and with the filters of the address. */
export const List = <Answer extends { page: ListPage }, Row>(list: ListOf<Answer, Row>) => {
  const { caption, path, filters = [], limit = 25, columns, keyOf, empty, isByTime = true, version } = list;
  const session = useSession();
  const address = `${path}${path.includes('?') ? '&' : '?'}${listQuery(filters, limit)}`;
  const content = useLoaded(async () => {
    const [answer, totals] = await Promise.all([session.ask<Answer>(address), list.readTotals?.()]);
    const rows = list.rows(answer);
    list.onRows?.(rows);
    if (rows.length === 0) return typeof empty === 'string' ? nothing(empty) : empty;
    return (
      <>
        <Table caption={caption} columns={columns} rows={rows} totals={totals} keyOf={keyOf} />
        {pager(answer.page, isByTime)}
        {list.renderBelow?.(rows)}
      </>
    );
  }, [address, version]);
  return <Shown content={content} class="list" />;
};
