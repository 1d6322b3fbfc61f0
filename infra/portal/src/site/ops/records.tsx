import { useSignal } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import { Dialog } from './dialog.tsx';
import { List } from './list.tsx';
import { button, type Columns } from './parts.tsx';
import { changeFilters } from './place.ts';

/** In place of the id of a record that is opened: a new one. */
export const newOne = '+';

/** The address names the record that is open. */
export const open = (id: string): void => changeFilters({ open: id });

/** The record that is open, and what is called after a change of it. */
export interface Opened {
  opened: string;
  changed: () => void;
}

interface RecordsOf<Answer, Row> {
  noun: string;
  path: string;
  rows: (answer: Answer) => readonly Row[];
  columns: Columns<Row>;
  opened: string;
  One: FunctionComponent<Opened>;
}

/** A list of records that are changed in a dialog, and a button for a new one. */
export const Records = <Answer extends { page: { number: number; has_more: boolean } }, Row>({
  noun,
  opened,
  One,
  ...list
}: RecordsOf<Answer, Row>): ComponentChildren => {
  const version = useSignal(0);
  const empty = `There is no ${noun} yet.`;
  return (
    <>
      <div class="actions">{button(`New ${noun} …`, () => open(newOne), 'quiet')}</div>
      <List<Answer, Row>
        caption={`${noun}s`}
        {...list}
        empty={empty}
        version={version.value}
        isByTime={false}
      />
      {opened !== '' && (
        <Dialog title={opened === newOne ? `New ${noun}` : `Change the ${noun}`} closed={() => open('')}>
          <One key={opened} opened={opened} changed={() => version.value++} />
        </Dialog>
      )}
    </>
  );
};
