import type { ComponentChildren } from 'preact';
import { Shown, failureOf, readAgain, reads, useLoaded } from './content.tsx';
import { listQuery, type Filter } from './filters.tsx';
import { button, nothing, type Columns } from './parts.tsx';
import { changeFilters } from './place.ts';
import { isAbort, rowsOf, useSession, type ListAnswer } from './session.ts';
import { Table } from './table.tsx';

const goToPage = (page: number): void => changeFilters({ page: page === 1 ? '' : String(page) });

/** Buttons to the previous and next page; hidden when there is one page. */
const pager = ({ number, has_more }: ListAnswer['page'], isByTime: boolean) => (
  <nav class="pager" aria-label="Pages" hidden={number === 1 && !has_more}>
    {button(isByTime ? 'Newer' : 'Previous', () => goToPage(number - 1), 'quiet', { disabled: number === 1 })}
    Page {number}
    {button(isByTime ? 'Older' : 'Next', () => goToPage(number + 1), 'quiet', { disabled: !has_more })}
  </nav>
);

interface ListOf<Row> {
  caption: string;
  /** The request, to which filters and page are added. */
  path: string;
  filters?: readonly Filter[];
  /** Rows of a page. */
  limit?: number;
  columns: Columns<Row>;
  /** Reads what is shown below the rows of each page. */
  readTotals?: () => Promise<readonly Row[]>;
  keyOf?: (row: Row) => string;
  /** Said when there are no rows. */
  empty: ComponentChildren;
  /** Whether the newest come first. */
  isByTime?: boolean;
  /** Called with the rows of each answer. */
  onRows?: (rows: readonly Row[]) => void;
  /** What is shown below a page of rows. */
  renderBelow?: (rows: readonly Row[]) => ComponentChildren;
}

/** A list of a management API in pages, at the page and with the filters of the address. */
export const List = <Row,>({
  path,
  filters = [],
  limit = 25,
  empty,
  isByTime = true,
  ...list
}: ListOf<Row>) => {
  const { caption, columns, keyOf, readTotals } = list;
  const session = useSession();
  const address = `${path}${path.includes('?') ? '&' : '?'}${listQuery(filters, limit)}`;
  const content = useLoaded(
    async (tell) => {
      const answer = await session.ask<ListAnswer>(address);
      const rows = rowsOf<Row>(answer);
      list.onRows?.(rows);
      if (rows.length === 0) return typeof empty === 'string' ? nothing(empty) : empty;
      const shown = (totals?: readonly Row[], failure?: ComponentChildren) => (
        <>
          <Table caption={caption} columns={columns} rows={rows} totals={totals} keyOf={keyOf} />
          {failure}
          {pager(answer.page, isByTime)}
          {list.renderBelow?.(rows)}
        </>
      );
      if (readTotals === undefined) return shown();
      tell(shown());
      try {
        return shown(await readTotals());
      } catch (error) {
        if (isAbort(error)) throw error;
        // The rows are of use without them.
        return shown([], failureOf(error, readAgain, 'The totals are missing. '));
      }
    },
    [address, reads.value],
  );
  return <Shown content={content} class="list" />;
};
