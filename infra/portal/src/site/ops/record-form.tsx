import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import {
  Shown,
  failureOf,
  readAgain,
  reads,
  useContent,
  useLoaded,
  type Content,
  type Load,
} from './content.tsx';
import {
  changesOf,
  initialText,
  optionsOf,
  patchOf,
  type Difference,
  type Field,
  type FieldGroup,
} from './fields.ts';
import { Refused, isAbort, useSession } from './session.ts';
import { Choice, Input, button, enteredIn, nothing, takeFocus, type Columns } from './parts.tsx';
import { Table } from './list.tsx';

/** What will change, or has changed; `names` are those of the two states. */
export const diff = (
  differences: readonly Difference[],
  caption = 'Changes',
  names: readonly [before: string, after: string] = ['Before', 'After'],
) => {
  const columns: Columns<Difference> = {
    Field: ({ label }) => label,
    [names[0]]: ({ before }) => <del>{before}</del>,
    [names[1]]: ({ after }) => <ins>{after}</ins>,
  };
  return <Table caption={caption} columns={columns} rows={differences} />;
};

type Tell = Parameters<Load>[0];

interface Reviewed {
  /** The button that makes the change. */
  verb?: string;
  /** Makes the change; resolves to what is said then, if it is more than that it is saved. */
  save: Load;
}

/** Somebody else has changed the record meanwhile (412). */
const staleText = 'Somebody else has changed this since you opened it, so nothing was saved.';

/** Shows a change before it is made, with the buttons that make or drop it. */
const review = (
  result: Content,
  differences: readonly Difference[],
  { verb = 'Save', save }: Reviewed,
  more?: ComponentChildren,
  reset = readAgain,
) => {
  const showNewest = (): void => {
    result.clear();
    reset();
  };
  const confirm: Load = async (tell) => {
    try {
      const saved = await save(tell);
      reset();
      return saved ?? <p class="note">Saved.</p>;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 412)) throw error;
      return (
        <div class="note failure">
          <p class="error" role="alert">
            {staleText}
          </p>
          {button('Show the newest version', showNewest, 'quiet')}
        </div>
      );
    }
  };
  return (
    <div class="note">
      {diff(differences)}
      {more}
      <div class="actions">
        {button(verb, () => result.show(confirm), undefined, { ref: takeFocus })}
        {button('Cancel', result.clear, 'quiet')}
      </div>
    </div>
  );
};

/** A button for a change without entries, which is shown before it is made. */
export const Confirmed = ({
  difference,
  ...reviewed
}: Reviewed & { verb: string; difference: Difference }) => {
  const result = useContent();
  const ask = () => result.show(async () => review(result, [difference], reviewed));
  return (
    <>
      <div class="actions">{button(`${reviewed.verb} …`, ask, 'quiet')}</div>
      <Shown content={result} role="status" />
    </>
  );
};

interface Entered {
  entry: Field;
  id: string;
  initial: string;
  about: (entry: Field, text: string) => ComponentChildren;
}

/** The control of a field, with its help and what is said of its text. */
const Entry = ({ entry, id, initial, about }: Entered) => {
  const { name, label, kind, isRequired, help, placeholder } = entry;
  const options = optionsOf(entry);
  const text = useSignal(initial);
  const shared = { id, name, placeholder, required: isRequired, spellcheck: false };
  const described = { ...shared, 'aria-describedby': `${id}-about` };
  return (
    <div class="record-field" onInput={({ target }) => (text.value = (target as HTMLInputElement).value)}>
      {options && <Choice {...described} label={label} options={options} initial={initial} />}
      {kind === 'lines' && (
        <div class="field">
          <label htmlFor={id}>{label}</label>
          <textarea {...described} rows={3} defaultValue={initial} />
        </div>
      )}
      {!options && kind !== 'lines' && (
        <Input
          {...described}
          {...(kind === 'time' && { type: 'datetime-local' as const })}
          label={label}
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          class={kind === 'secret' ? 'masked' : undefined}
          defaultValue={initial}
        />
      )}
      <p class="soft" id={`${id}-about`}>
        {about(entry, text.value)} {help}
      </p>
    </div>
  );
};

/** A form for a record. */
export interface FormOf extends Omit<Reviewed, 'save'> {
  /** Names the form. */
  label: string;
  groups: readonly FieldGroup[];
  /** The record with the values now; of a new one, those at first. */
  record: object;
  /** What else is shown with the changes. */
  preview?: (patch: object, tell: Tell) => ReturnType<Load>;
  /** Makes the change, a merge patch; see `Reviewed`. */
  save: (patch: object, tell: Tell) => ReturnType<Load>;
  /** What is said of the text of a field. */
  about?: Entered['about'];
}

/** A form for a record. A change is shown before it is saved, and a secret never. */
export const RecordForm = ({ label, groups, record, preview, about = () => null, ...reviewed }: FormOf) => {
  const result = useContent();
  /** Counts the forms: a new one shows the record as it is, and no secret. */
  const forms = useSignal(0);
  const reset = (): void => {
    forms.value++;
    readAgain();
  };
  const ask = (entered: Record<string, string>) =>
    result.show(async (tell) => {
      const changes = changesOf(
        groups.flatMap(({ fields }) => fields),
        record,
        entered,
      );
      if (changes.length === 0) return nothing('Nothing was changed.');
      const patch = patchOf(changes);
      const save: Load = (report) => reviewed.save(patch, report);
      return review(result, changes, { ...reviewed, save }, await preview?.(patch, tell), reset);
    });
  return (
    <>
      {/* A confirmation is for what was entered, so a change removes it. */}
      <form
        key={`${forms.value} ${JSON.stringify(record)}`}
        class="record"
        aria-label={label}
        onInput={result.clear}
        onSubmit={(event) => ask(enteredIn(event))}
      >
        {groups.map(({ title, fields, isFolded }) => (
          <details key={title} open={!isFolded}>
            <summary>{title}</summary>
            <div class="record-fields">
              {fields.map((entry) => (
                <Entry
                  key={entry.name}
                  entry={entry}
                  id={`${label}-${entry.name}`.replaceAll(/\W+/g, '-')}
                  initial={initialText(entry, record)}
                  about={about}
                />
              ))}
            </div>
          </details>
        ))}
        <div class="actions">
          {button(preview ? 'Try the changes' : 'Review changes', undefined, 'quiet')}
        </div>
      </form>
      <Shown content={result} role="status" />
    </>
  );
};

/** Sends a request that changes the version of a record which is shown, and no other one. */
export type Send = (method: 'PATCH' | 'DELETE', body?: object) => Promise<unknown>;

interface EditableOf<T> {
  path: string;
  /** Whether it is not read again after a change. */
  isReadOnce?: boolean | undefined;
  children: (record: T, send: Send) => ComponentChildren;
}

/** Reads a record, and shows it with what changes it. What was entered stays when the record cannot be read again. */
export const Editable = <T,>({ path, isReadOnce = false, children }: EditableOf<T>) => {
  const session = useSession();
  const shown = useRef<ComponentChildren>(undefined);
  const content = useLoaded(async () => {
    let failure: ComponentChildren;
    try {
      const { value, version } = await session.record(path);
      const send: Send = (method, body) => session.ask(path, method, body, version);
      shown.current = children(value as T, send);
    } catch (error) {
      if (shown.current === undefined || isAbort(error)) throw error;
      failure = failureOf(error, readAgain);
    }
    return (
      <>
        {shown.current}
        {failure}
      </>
    );
  }, [path, isReadOnce || reads.value]);
  return <Shown content={content} />;
};
