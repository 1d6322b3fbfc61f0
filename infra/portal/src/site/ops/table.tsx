/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- browsers ignore
   tables that styles draw differently, as on a phone, unless they have roles */
import { CopyableId } from './links.tsx';
import type { Cell, Columns } from './parts.tsx';

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
