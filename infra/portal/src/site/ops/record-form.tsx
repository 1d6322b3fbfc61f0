import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import {
  ContentView,
  failureOf,
  refreshAll,
  refreshCount,
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
import { Choice, Input, button, formValues, emptyNote, takeFocus, type Columns } from './parts.tsx';
import { Table } from './list.tsx';

/** A table of changed values; `names` are the titles of the two value columns. */
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

type ShowMeanwhile = Parameters<Load>[0];

interface ReviewOptions {
  /** Label of the button that makes the change. */
  verb?: string;
  /** Makes the change. May resolve to content that replaces the text "Saved.". */
  save: Load;
}

/** Shown if another user has changed the record meanwhile (412). */
const staleText = 'Another user has changed this since you opened it, so nothing was saved.';

/** Shows a change before it is made, with buttons to confirm or cancel it. */
const review = (
  result: Content,
  differences: readonly Difference[],
  { verb = 'Save', save }: ReviewOptions,
  more?: ComponentChildren,
  reset = refreshAll,
) => {
  const showNewest = (): void => {
    result.clear();
    reset();
  };
  const confirm: Load = async (showMeanwhile) => {
    try {
      const saved = await save(showMeanwhile);
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

/** A button for a change without input fields. The change is shown for confirmation first. */
export const ConfirmedChange = ({
  difference,
  ...reviewed
}: ReviewOptions & { verb: string; difference: Difference }) => {
  const result = useContent();
  const ask = () => result.show(async () => review(result, [difference], reviewed));
  return (
    <>
      <div class="actions">{button(`${reviewed.verb} …`, ask, 'quiet')}</div>
      <ContentView content={result} role="status" />
    </>
  );
};

interface EntryProps {
  entry: Field;
  id: string;
  initial: string;
  about: (entry: Field, text: string) => ComponentChildren;
}

/** The control of a field, with its help and a comment on its text. */
const Entry = ({ entry, id, initial, about }: EntryProps) => {
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
export interface FormProps extends Omit<ReviewOptions, 'save'> {
  /** Accessible name of the form. */
  label: string;
  groups: readonly FieldGroup[];
  /** The record with its current values, or the initial values of a new one. */
  record: object;
  /** Content that is shown with the changes. */
  preview?: (patch: object, showMeanwhile: ShowMeanwhile) => ReturnType<Load>;
  /** Saves the change, a merge patch; see `ReviewOptions`. */
  save: (patch: object, showMeanwhile: ShowMeanwhile) => ReturnType<Load>;
  /** Comment on the text of a field. */
  about?: EntryProps['about'];
}

/** A form for a record. Changes are shown before they are saved; secrets are never shown. */
export const RecordForm = ({
  label,
  groups,
  record,
  preview,
  about = () => null,
  ...reviewed
}: FormProps) => {
  const result = useContent();
  /** Incremented to render a new form, with the current record and empty secrets. */
  const formCount = useSignal(0);
  const reset = (): void => {
    formCount.value++;
    refreshAll();
  };
  const showReview = (values: Record<string, string>) =>
    result.show(async (showMeanwhile) => {
      const changes = changesOf(
        groups.flatMap(({ fields }) => fields),
        record,
        values,
      );
      if (changes.length === 0) return emptyNote('Nothing was changed.');
      const patch = patchOf(changes);
      const save: Load = (report) => reviewed.save(patch, report);
      return review(result, changes, { ...reviewed, save }, await preview?.(patch, showMeanwhile), reset);
    });
  return (
    <>
      {/* A confirmation applies only to the reviewed values, so a change removes it. */}
      <form
        key={`${formCount.value} ${JSON.stringify(record)}`}
        class="record"
        aria-label={label}
        onInput={result.clear}
        onSubmit={(event) => showReview(formValues(event))}
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
      <ContentView content={result} role="status" />
    </>
  );
};

/** Sends a request that changes a record only if its version is still the shown one. */
export type Send = (method: 'PATCH' | 'DELETE', body?: object) => Promise<unknown>;

interface EditableProps<T> {
  path: string;
  /** Whether it is not reloaded after a change. */
  isReadOnce?: boolean | undefined;
  children: (record: T, send: Send) => ComponentChildren;
}

/** Reads a record and renders it with its form. If a reload fails, the form keeps its values. */
export const Editable = <T,>({ path, isReadOnce = false, children }: EditableProps<T>) => {
  const session = useSession();
  const rendered = useRef<ComponentChildren>(undefined);
  const content = useLoaded(async () => {
    let failure: ComponentChildren;
    try {
      const { value, version } = await session.record(path);
      const send: Send = (method, body) => session.ask(path, method, body, version);
      rendered.current = children(value as T, send);
    } catch (error) {
      if (rendered.current === undefined || isAbort(error)) throw error;
      failure = failureOf(error, refreshAll);
    }
    return (
      <>
        {rendered.current}
        {failure}
      </>
    );
  }, [path, isReadOnce || refreshCount.value]);
  return <ContentView content={content} />;
};
