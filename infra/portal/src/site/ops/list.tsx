import type { ComponentChildren } from 'preact';
import { Shown, failureOf, readAgain, reads, useLoaded } from './content.tsx';
import { listQuery, type Filter } from './filters.tsx';
import { CopyableId } from './links.tsx';
import { type Cell, type Columns, button, nothing } from './parts.tsx';
import { changeFilters } from './place.ts';
import { isAbort, rowsOf, useSession, type ListAnswer } from './session.ts';

/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- browsers ignore
   tables that styles draw differently, as on a phone, unless they have roles */

const isMoney = (cell: Cell): boolean => typeof cell === 'object' && cell?.props.class === 'money';

const ownWords: readonly unknown[] = ['code', 'strong', 'button', 'input', 'details', 'state', 'what', 'cut'];

/** Badges, controls and sentences say themselves what they are where the head of the table is not shown. */
const needsLabel = (cell: Cell): boolean => {
  if (typeof cell !== 'object' || cell === null) return true;
  if (typeof cell.type === 'function') return cell.type === CopyableId;
  return !ownWords.includes(cell.type) && !ownWords.includes(String(cell.props.class).split(' ')[0]);
};

/** Whether a cell has nothing to show; such cells are left out on a phone. */
const isNone = (cell: Cell): boolean =>
  cell === null || cell === '–' || (typeof cell === 'object' && cell.props.children === '–');

interface TableOf<Row> {
  caption: string;
  columns: Columns<Row>;
  rows: readonly Row[];
  /** Shown below the rows. */
  totals?: readonly Row[] | undefined;
  /** With it, a row keeps its controls and their focus when the list is read again. */
  keyOf?: ((row: Row) => string) | undefined;
}

/** A table, shown as a list on a phone. */
export const Table = <Row,>({ caption, columns, rows, totals = [], keyOf }: TableOf<Row>) => {
  const cells = Object.entries(columns);
  const amounts = new Set(
    cells.filter(([, cell]) => rows.some((row) => isMoney(cell(row)))).map(([name]) => name),
  );
  const cellOf = (name: string, value: Cell) => (
    <td
      key={name}
      role="cell"
      data-label={needsLabel(value) ? name : undefined}
      class={[isNone(value) && 'none', amounts.has(name) && 'amount'].filter(Boolean).join(' ') || undefined}
    >
      {value ?? '–'}
    </td>
  );
  const lineOf = (row: Row, at: number) => (
    <tr key={keyOf?.(row) ?? at} role="row">
      {cells.map(([name, cell]) => cellOf(name, cell(row)))}
    </tr>
  );
  return (
    <table role="table">
      <caption class="unseen">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {cells.map(([name]) => (
            <th key={name} scope="col" role="columnheader" class={amounts.has(name) ? 'amount' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">{rows.map(lineOf)}</tbody>
      {totals.length > 0 && <tfoot role="rowgroup">{totals.map(lineOf)}</tfoot>}
    </table>
  );
};

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
