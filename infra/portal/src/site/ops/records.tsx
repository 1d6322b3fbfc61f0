import type { ComponentChildren } from 'preact';
import { Dialog, button, type Columns } from './parts.tsx';
import type { Field } from './fields.ts';
import { List } from './list.tsx';
import { open, place } from './place.ts';
import { Editable, RecordForm, type FormOf, type Send } from './record-form.tsx';

/** In place of the id of a record that is opened: a new one. */
const newOne = '+';

interface RecordsOf<Row> {
  noun: string;
  /** Of the list, and of what is created. */
  path: string;
  /** Of the list. */
  query?: string;
  columns: Columns<Row>;
  /** What is entered for a new record, and how it is created. */
  fields: readonly Field[];
  create: Pick<FormOf, 'record' | 'verb' | 'save'>;
  /** Whether a record that is open stays as it was, so that what a change has answered does. */
  isReadOnce?: boolean;
  /** What changes a record that is open, which is at `path`. */
  children: (record: Row, send: Send, path: string) => ComponentChildren;
}

/** A list of records that are changed in a dialog, and a button for a new one. */
export const Records = <Row,>({ noun, path, query = '', fields, create, ...records }: RecordsOf<Row>) => {
  const opened = place.value.filters.get('open') ?? '';
  const title = `${noun.charAt(0).toUpperCase()}${noun.slice(1)}`;
  const own = `${path}/${encodeURIComponent(opened)}`;
  return (
    <>
      <div class="actions">{button(`New ${noun} …`, () => open(newOne), 'quiet')}</div>
      <List<Row>
        caption={`${noun}s`}
        path={path + query}
        columns={records.columns}
        empty={`There is no ${noun} yet.`}
        isByTime={false}
      />
      {opened !== '' && (
        <Dialog title={opened === newOne ? `New ${noun}` : `Change the ${noun}`} closed={open}>
          {opened === newOne ? (
            <RecordForm label={title} groups={[{ title, fields }]} {...create} />
          ) : (
            <Editable<Row> path={own} isReadOnce={records.isReadOnce}>
              {(record, send) => records.children(record, send, own)}
            </Editable>
          )}
        </Dialog>
      )}
    </>
  );
};
