import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, TargetedEvent } from 'preact';
import type { WalletResponse } from './api.ts';
import { ContentView, refreshAll, useContent } from './content.tsx';
import { bytes } from './text.ts';
import { Choice, Input, button, formValues } from './parts.tsx';
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

/** Bytes that are read at the start and at the end of a file, for the names of the columns and some times. */
const partBytes = 65_536;

const jsonEndings = ['.jsonl', '.ndjson'];

const typeOf = ({ name }: File): StatementFormat['type'] =>
  jsonEndings.some((ending) => name.toLowerCase().endsWith(ending)) ? 'application/x-ndjson' : 'text/csv';

/** The delimiter that results in the most columns. */
const likelyDelimiter = (begin: string): string => {
  const candidates = delimiters.map(([delimiter]) => ({
    delimiter,
    columns: columnsOf(begin, { type: 'text/csv', delimiter }).length,
  }));
  return candidates.toSorted((a, b) => b.columns - a.columns)[0]?.delimiter ?? ',';
};

/** A selected file with its first and last bytes as text. */
interface Statement {
  file: File;
  parts: readonly [begin: string, end: string];
}

const readStatement = async (file: File): Promise<Statement> => {
  const begin = await file.slice(0, partBytes).text();
  return { file, parts: [begin, await file.slice(Math.max(partBytes, file.size - partBytes)).text()] };
};

/**
 * The fields From and To, preset to the earliest and latest time in the file, in seconds. If the file contains no times they
 * stay empty, because a wrong period would compare nothing.
 */
const Period = ({ times, children }: { times: ReturnType<typeof timesOf>; children: ComponentChildren }) => {
  const valueOf = (ms: number): string => fieldValue(new Date(ms).toISOString(), { withSeconds: true });
  // The period does not include its end.
  const [from, to] = times ? [valueOf(times.first), valueOf(times.last + 1000)] : ['', ''];
  const attributes = { type: 'datetime-local', required: true, step: '1' } as const;
  return (
    <>
      <div class="filters">
        <Input key={`from ${from}`} label="From" name="from" defaultValue={from} {...attributes} />
        <Input key={`to ${to}`} label="To" name="to" defaultValue={to} {...attributes} />
        {children}
      </div>
      <p class="soft">
        {from === ''
          ? 'The file contains no readable times: enter the period of the statement.'
          : 'From and To are preset from the times at the start and at the end of the file. Lines outside this period are not compared.'}
      </p>
    </>
  );
};

/** Fields for the format of the selected file. Their values become parameters of the request. */
const FormatFields = ({ file, parts }: Statement) => {
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
            label="Column separator"
            name="delimiter"
            options={delimiters}
            value={delimiter}
            onChange={({ currentTarget: { value } }) => choose(value)}
          />
        )}
      </Period>
      <fieldset class="filters" key={columns.join()}>
        <legend>Columns of the statement</legend>
        {CHOICES.statementFields.map(({ name, isRequired }) => (
          <Choice
            key={name}
            id={`column-${name}`}
            name={name}
            label={isRequired ? `${name} (required)` : name}
            options={[['', '–'], ...columns.map((column) => [column, column] as const)]}
            initial={likelyColumn(name, columns)}
            onChange={({ currentTarget: { value } }) => name === 'time' && (timeColumn.value = value)}
          />
        ))}
      </fieldset>
    </>
  );
};

/** A form that sends a statement of the game server and then opens its reconciliation. */
export const UploadForm = ({ isSending }: { isSending: Signal<boolean> }) => {
  const session = useSession();
  const result = useContent();
  const selectedStatement = useSignal<Statement>();
  const { value: statement } = selectedStatement;
  const choose = async ({ currentTarget: { files } }: TargetedEvent<HTMLInputElement>): Promise<void> => {
    result.clear();
    const [file] = files ?? [];
    selectedStatement.value = file && (await readStatement(file));
  };
  const send = (
    file: File,
    { delimiter = ',', from = '', to = '', tolerance = '', ...mapping }: Record<string, string>,
  ) =>
    result.show(async (showMeanwhile) => {
      showMeanwhile(<p class="note">Sending {bytes(file.size)} …</p>);
      const period = { from: isoOf(from), to: isoOf(to), tolerance };
      const query = new URLSearchParams({ ...period, columns: mappingOf(mapping), delimiter });
      isSending.value = true;
      const { reconciliationId } = await session
        // The type that the browser reports depends on the programs on the computer.
        .ask<WalletResponse<'createReconciliation'>>(
          `/v1/reconciliations?${query}`,
          'POST',
          file.slice(0, file.size, typeOf(file)),
        )
        .finally(() => {
          isSending.value = false;
          refreshAll();
        });
      if (result.isOpen()) location.hash = addressOf('reconciliation', { id: reconciliationId });
      return 'The statement was received.';
    });
  const submit = (event: TargetedEvent<HTMLFormElement>): void => {
    const values = formValues(event);
    if (statement && !isSending.value) void send(statement.file, values);
  };
  const accept = '.csv,.jsonl,.ndjson,text/csv,application/x-ndjson';
  return (
    <>
      <form aria-label="Compare a statement" onSubmit={submit}>
        <Input label="Statement (CSV or JSONL)" type="file" required accept={accept} onChange={choose} />
        {statement && (
          <div class="more">
            <FormatFields key={statement} {...statement} />
            <div class="actions">
              {button('Compare', undefined, undefined, { disabled: isSending.value })}
            </div>
          </div>
        )}
      </form>
      <ContentView content={result} role="status" />
    </>
  );
};
