import type { ComponentChildren } from 'preact';
import { ContentView, failureOf, refreshAll, refreshCount, useLoaded } from './content.tsx';
import { listQuery, type Filter } from './filters.tsx';
import { CopyableId } from './links.tsx';
import { type CellContent, type Columns, button, emptyNote } from './parts.tsx';
import { changeFilters } from './place.ts';
import { isAbort, rowsOf, useSession, type ListResponse } from './session.ts';

/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- browsers
   remove the table semantics of tables with another CSS display (as on a phone) unless they have explicit roles */

const isMoney = (cell: CellContent): boolean => typeof cell === 'object' && cell?.props.class === 'money';

/** Elements and classes of cells that need no column name. */
const unlabelled: readonly unknown[] = [
  'code',
  'strong',
  'button',
  'input',
  'details',
  'state',
  'what',
  'cut',
];

/** Whether a cell needs the column name on a phone, where there is no table head. Badges, controls and sentences do not. */
const needsLabel = (cell: CellContent): boolean => {
  if (typeof cell !== 'object' || cell === null) return true;
  if (typeof cell.type === 'function') return cell.type === CopyableId;
  return !unlabelled.includes(cell.type) && !unlabelled.includes(String(cell.props.class).split(' ')[0]);
};

/** Whether a cell is empty; a phone does not show empty cells. */
const isEmpty = (cell: CellContent): boolean =>
  cell === null || cell === '–' || (typeof cell === 'object' && cell.props.children === '–');

interface TableProps<Row> {
  caption: string;
  columns: Columns<Row>;
  rows: readonly Row[];
  /** Rows in the table foot. */
  totals?: readonly Row[] | undefined;
  /** Key of a row, with which it keeps its controls and their focus when the list is reloaded. */
  keyOf?: ((row: Row) => string) | undefined;
}

/** A table, which a phone shows as a list. */
export const Table = <Row,>({ caption, columns, rows, totals = [], keyOf }: TableProps<Row>) => {
  const cells = Object.entries(columns);
  const amounts = new Set(
    cells.filter(([, cell]) => rows.some((row) => isMoney(cell(row)))).map(([name]) => name),
  );
  const cellOf = (name: string, value: CellContent) => (
    <td
      key={name}
      role="cell"
      data-label={needsLabel(value) ? name : undefined}
      class={[isEmpty(value) && 'none', amounts.has(name) && 'amount'].filter(Boolean).join(' ') || undefined}
    >
      {value ?? '–'}
    </td>
  );
  const rowElement = (row: Row, index: number) => (
    <tr key={keyOf?.(row) ?? index} role="row">
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
      <tbody role="rowgroup">{rows.map(rowElement)}</tbody>
      {totals.length > 0 && <tfoot role="rowgroup">{totals.map(rowElement)}</tfoot>}
    </table>
  );
};

const goToPage = (page: number): void => changeFilters({ page: page === 1 ? '' : String(page) });

/** Buttons for the previous and next page; hidden if there is only one page. */
const pager = ({ number, has_more }: ListResponse['page'], [previous, next]: readonly [string, string]) => (
  <nav class="pager" aria-label="Pages" hidden={number === 1 && !has_more}>
    {button(previous, () => goToPage(number - 1), 'quiet', { disabled: number === 1 })}
    Page {number}
    {button(next, () => goToPage(number + 1), 'quiet', { disabled: !has_more })}
  </nav>
);

interface ListProps<Row> {
  caption: string;
  /** Path of the request, without filters and page. */
  path: string;
  filters?: readonly Filter[];
  /** Number of rows per page. */
  limit?: number;
  columns: Columns<Row>;
  /** Reads the rows of the table foot. */
  readTotals?: () => Promise<readonly Row[]>;
  keyOf?: (row: Row) => string;
  /** Shown if there are no rows. */
  empty: ComponentChildren;
  /** Whether the newest rows come first. */
  isByTime?: boolean;
  /** Called with the rows of each response. */
  onRows?: (rows: readonly Row[]) => void;
  /** Renders content below the table. */
  renderBelow?: (rows: readonly Row[]) => ComponentChildren;
}

/** A paginated list of a management API. The address has the page and the filters. */
export const List = <Row,>(props: ListProps<Row>) => {
  const { path, filters = [], limit = 25, empty, isByTime = true, readTotals, onRows, renderBelow } = props;
  const { caption, columns, keyOf } = props;
  const session = useSession();
  const address = `${path}${path.includes('?') ? '&' : '?'}${listQuery(filters, limit)}`;
  const content = useLoaded(
    async (showMeanwhile) => {
      const response = await session.ask<ListResponse>(address);
      const rows = rowsOf<Row>(response);
      onRows?.(rows);
      if (rows.length === 0) return typeof empty === 'string' ? emptyNote(empty) : empty;
      const renderPage = (totals?: readonly Row[], failure?: ComponentChildren) => (
        <>
          <Table caption={caption} columns={columns} rows={rows} totals={totals} keyOf={keyOf} />
          {failure}
          {pager(response.page, isByTime ? ['Newer', 'Older'] : ['Previous', 'Next'])}
          {renderBelow?.(rows)}
        </>
      );
      if (readTotals === undefined) return renderPage();
      showMeanwhile(renderPage());
      try {
        return renderPage(await readTotals());
      } catch (error) {
        if (isAbort(error)) throw error;
        // The rows are still useful without totals.
        return renderPage([], failureOf(error, refreshAll, 'The totals could not be loaded. '));
      }
    },
    [address, refreshCount.value],
  );
  return <ContentView content={content} class="list" />;
};
