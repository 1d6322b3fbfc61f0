import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, TargetedEvent } from 'preact';
import type { WalletAnswer } from './api.ts';
import { Shown, readAgain, useContent } from './content.tsx';
import { bytes } from './text.ts';
import { Choice, Input, button, enteredIn } from './parts.tsx';
import { addressOf } from './place.ts';
import { useSession } from './session.ts';
import { columnsOf, likelyColumn, mappingOf, timesOf, type StatementFormat } from './statement-columns.ts';
import { fieldValue, isoOf } from './time.ts';

const delimiters = [
  [',', 'Comma'],
  [';', 'Semicolon'],
  ['\t', 'Tab'],
  ['|', 'Vertical bar'],
] as const;

/** So much of the beginning and of the end of a file is read: enough for the first line and for some times. */
const partBytes = 65_536;

const jsonEndings = ['.jsonl', '.ndjson'];

const typeOf = ({ name }: File): StatementFormat['type'] =>
  jsonEndings.some((ending) => name.toLowerCase().endsWith(ending)) ? 'application/x-ndjson' : 'text/csv';

/** The delimiter that gives the most columns. */
const likelyDelimiter = (begin: string): string => {
  const counted = delimiters.map(([delimiter]) => ({
    delimiter,
    columns: columnsOf(begin, { type: 'text/csv', delimiter }).length,
  }));
  return counted.toSorted((a, b) => b.columns - a.columns)[0]?.delimiter ?? ',';
};

/** A chosen file with its beginning and its end. */
interface Statement {
  file: File;
  parts: readonly [begin: string, end: string];
}

const readStatement = async (file: File): Promise<Statement> => {
  const begin = await file.slice(0, partBytes).text();
  return { file, parts: [begin, await file.slice(Math.max(partBytes, file.size - partBytes)).text()] };
};

/**
 * From and To, with the earliest and the latest time of the file, to the second, and where they come from. A period that
 * is not that of the statement would compare nothing, so it is left empty when the file says none.
 */
const Period = ({ times, children }: { times: ReturnType<typeof timesOf>; children: ComponentChildren }) => {
  const valueOf = (ms: number): string => fieldValue(new Date(ms).toISOString(), true);
  // The end is not part of the period.
  const [from, to] = times ? [valueOf(times.first), valueOf(times.last + 1000)] : ['', ''];
  const look = { type: 'datetime-local', required: true, step: '1' } as const;
  return (
    <>
      <div class="filters">
        <Input key={`from ${from}`} label="From" name="from" defaultValue={from} {...look} />
        <Input key={`to ${to}`} label="To" name="to" defaultValue={to} {...look} />
        {children}
      </div>
      <p class="soft">
        {from === ''
          ? 'No times can be read in the file: fill in the period of the statement.'
          : 'From and To are preset from the times at the beginning and at the end of the file. Lines outside of this period are not compared.'}
      </p>
    </>
  );
};

/** How a chosen file is read: fields whose values become parameters of the request. */
const Reading = ({ file, parts }: Statement) => {
  const delimiter = useSignal(likelyDelimiter(parts[0]));
  const timeColumn = useSignal<string>();
  const format = { type: typeOf(file), delimiter: delimiter.value };
  const columns = columnsOf(parts[0], format);
  const choose = (value: string): void => {
    delimiter.value = value;
    timeColumn.value = undefined;
  };
  return (
    <>
      <Period times={timesOf(parts, timeColumn.value ?? likelyColumn('time', columns), format)}>
        <Input
          label="Tolerance (seconds)"
          name="tolerance"
          type="number"
          required
          min="0"
          max="99999"
          defaultValue="300"
        />
        {format.type === 'text/csv' && (
          <Choice
            label="Columns are separated by"
            name="delimiter"
            options={delimiters}
            value={delimiter}
            onChange={({ currentTarget: { value } }) => choose(value)}
          />
        )}
      </Period>
      <fieldset class="filters" key={columns.join()}>
        <legend>Which column has what</legend>
        {CHOICES.statementFields.map(({ name, isNeeded }) => (
          <Choice
            key={name}
            id={`column-${name}`}
            name={name}
            label={isNeeded ? `${name} (needed)` : name}
            options={[['', '–'], ...columns.map((column) => [column, column] as const)]}
            initial={likelyColumn(name, columns)}
            onChange={({ currentTarget: { value } }) => name === 'time' && (timeColumn.value = value)}
          />
        ))}
      </fieldset>
    </>
  );
};

/** The form that sends a statement of the game server, and then opens its reconciliation. */
export const UploadForm = ({ isSending }: { isSending: Signal<boolean> }) => {
  const session = useSession();
  const result = useContent();
  const chosen = useSignal<Statement>();
  const { value: statement } = chosen;
  const choose = async ({ currentTarget: { files } }: TargetedEvent<HTMLInputElement>): Promise<void> => {
    result.clear();
    const [file] = files ?? [];
    chosen.value = file && (await readStatement(file));
  };
  const send = (
    file: File,
    { delimiter = ',', from = '', to = '', tolerance = '', ...mapping }: Record<string, string>,
  ) =>
    result.show(async (tell) => {
      tell(<p class="note">Sending {bytes(file.size)} …</p>);
      const period = { from: isoOf(from), to: isoOf(to), tolerance };
      const query = new URLSearchParams({ ...period, columns: mappingOf(mapping), delimiter });
      isSending.value = true;
      const { reconciliationId } = await session
        // Its own type depends on the programs of the reader's computer.
        .ask<WalletAnswer<'createReconciliation'>>(
          `/v1/reconciliations?${query}`,
          'POST',
          file.slice(0, file.size, typeOf(file)),
        )
        .finally(() => {
          isSending.value = false;
          readAgain();
        });
      if (result.isOpen()) location.hash = addressOf('reconciliation', { id: reconciliationId });
      return 'The statement was received.';
    });
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    const entered = enteredIn(event);
    if (statement && !isSending.value) void send(statement.file, entered);
  };
  const accept = '.csv,.jsonl,.ndjson,text/csv,application/x-ndjson';
  return (
    <>
      <form aria-label="Compare a statement" onSubmit={submit}>
        <Input label="Statement (CSV or JSONL)" type="file" required accept={accept} onChange={choose} />
        {statement && (
          <div class="more">
            <Reading key={statement} {...statement} />
            <div class="actions">
              {button('Compare', undefined, undefined, { disabled: isSending.value })}
            </div>
          </div>
        )}
      </form>
      <Shown content={result} role="status" />
    </>
  );
};
