import { element } from '../element.ts';
import type { WalletAnswer } from './api.ts';
import { bytes } from './health-text.ts';
import { choice, field, replaceContent, show } from './parts.ts';
import { addressOf } from './place.ts';
import type { Session } from './session.ts';
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

/** A select element for each field of a statement, with the columns of the file. */
const createMapping = () => {
  const selects = new Map(STATEMENT_FIELDS.map(({ name }) => [name, element('select')]));
  const fields = STATEMENT_FIELDS.map(({ name, isNeeded }) => {
    const select = selects.get(name) as HTMLSelectElement;
    select.id = `column-${name}`;
    return field(isNeeded ? `${name} (needed)` : name, select);
  });
  const legend = element('legend', {}, 'Which column has what');
  return {
    box: element('fieldset', { class: 'filters' }, legend, ...fields),
    offer: (columns: readonly string[]): void => {
      const options = columns.map((name) => [name, name] as const);
      for (const [name, select] of selects) {
        select.replaceChildren(...choice([['', '–'], ...options]).children);
        select.value = likelyColumn(name, columns);
      }
    },
    time: selects.get('time') as HTMLSelectElement,
    value: () => mappingOf(Object.fromEntries([...selects].map(([name, { value }]) => [name, value]))),
  };
};

/**
 * The form that sends a statement of the game server, and then opens its reconciliation. `changed` is called when it
 * begins and ends to send.
 */
export const uploadForm = (session: Session, changed: (isSending: boolean) => void): HTMLElement => {
  const file = element('input', {
    type: 'file',
    required: '',
    accept: '.csv,.jsonl,.ndjson,text/csv,application/x-ndjson',
  });
  const timeInput = () => element('input', { type: 'datetime-local', required: '', step: '1' });
  const [from, to, hint] = [timeInput(), timeInput(), element('p', { class: 'soft' })];
  const tolerance = element('input', { type: 'number', required: '', min: '0', max: '99999', value: '300' });
  const delimiter = choice(delimiters);
  const delimiterField = field('Columns are separated by', delimiter);
  const mapping = createMapping();
  const send = element('button', { type: 'submit' }, 'Compare');
  const fieldsOfPeriod = [field('From', from), field('To', to), field('Tolerance (seconds)', tolerance)];
  const more = element(
    'div',
    { class: 'more' },
    element('div', { class: 'filters' }, ...fieldsOfPeriod, delimiterField),
    hint,
    mapping.box,
    element('div', { class: 'actions' }, send),
  );
  more.hidden = true;
  const result = element('div', { role: 'status' });
  const form = element(
    'form',
    { 'aria-label': 'Compare a statement' },
    field('Statement (CSV or JSONL)', file),
    more,
  );

  const chosen = (): File | undefined => file.files?.[0];
  let parts: [begin: string, end: string] = ['', ''];
  const formatOf = (given: File) => ({ type: typeOf(given), delimiter: delimiter.value });
  /** A period that is not that of the statement would compare nothing, so it is taken from the file, or left empty. */
  const presetPeriod = (given: File): void => {
    const times = timesOf(parts, mapping.time.value, formatOf(given));
    const valueOf = (ms: number): string => fieldValue(new Date(ms).toISOString(), true);
    from.value = times === undefined ? '' : valueOf(times.first);
    // The end is not part of the period.
    to.value = times === undefined ? '' : valueOf(times.last + 1000);
    hint.textContent =
      times === undefined
        ? 'No times can be read in the file: fill in the period of the statement.'
        : 'From and To are preset from the times at the beginning and at the end of the file. Lines outside of this period are not compared.';
  };
  const readColumns = async (isNewFile: boolean): Promise<void> => {
    const given = chosen();
    more.hidden = given === undefined;
    if (given === undefined) return;
    const begin = await given.slice(0, partBytes).text();
    parts = [begin, await given.slice(Math.max(partBytes, given.size - partBytes)).text()];
    if (isNewFile) delimiter.value = likelyDelimiter(begin);
    delimiterField.hidden = typeOf(given) !== 'text/csv';
    mapping.offer(columnsOf(begin, formatOf(given)));
    presetPeriod(given);
  };
  mapping.time.addEventListener('change', () => {
    const given = chosen();
    if (given !== undefined) presetPeriod(given);
  });
  file.addEventListener('change', () => {
    result.replaceChildren();
    void readColumns(true);
  });
  delimiter.addEventListener('change', () => void readColumns(false));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const given = chosen();
    if (given === undefined || send.disabled) return;
    const query = new URLSearchParams({
      from: isoOf(from.value),
      to: isoOf(to.value),
      tolerance: tolerance.value,
      columns: mapping.value(),
      delimiter: delimiter.value,
    });
    const setSending = (isSending: boolean): void => {
      send.disabled = isSending;
      changed(isSending);
    };
    void show(result, async () => {
      replaceContent(result, element('p', { class: 'note' }, `Sending ${bytes(given.size)} …`));
      // Its own type depends on the programs of the reader's computer.
      const statement = given.slice(0, given.size, typeOf(given));
      const sent = session.ask<WalletAnswer<'createReconciliation'>>(
        `/v1/reconciliations?${query}`,
        'POST',
        statement,
      );
      setSending(true);
      const { reconciliationId } = await sent.finally(() => setSending(false));
      if (form.isConnected) location.hash = addressOf('reconciliation', { id: reconciliationId });
      return 'The statement was received.';
    });
  });
  return element('div', {}, form, result);
};
