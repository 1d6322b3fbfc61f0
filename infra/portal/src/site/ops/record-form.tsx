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
  type ShowMeanwhile,
} from './content.tsx';
import { changesOf, initialText, optionsOf, patchOf, type Field, type FieldGroup } from './fields.ts';
import { Choice, Input, emptyNote, button, formValues } from './parts.tsx';
import { Review, type ChangeOptions } from './review.tsx';
import { isAbort, useSession } from './session.ts';

interface EntryProps {
  entry: Field;
  id: string;
  initial: string;
  noteFor: (entry: Field, text: string) => ComponentChildren;
}

/** The control of a field, with its help and the note about its text. */
const Entry = ({ entry, id, initial, noteFor }: EntryProps) => {
  const { name, label, kind, isRequired, help, placeholder } = entry;
  const options = optionsOf(entry);
  const text = useSignal(initial);
  const described = { id, name, 'aria-describedby': `${id}-about` };
  const attributes = { ...described, placeholder, required: isRequired, spellcheck: false };
  return (
    <div class="record-field" onInput={({ target }) => (text.value = (target as HTMLInputElement).value)}>
      {options && <Choice {...attributes} label={label} options={options} initial={initial} />}
      {kind === 'lines' && (
        <div class="field">
          <label htmlFor={id}>{label}</label>
          <textarea {...attributes} rows={3} defaultValue={initial} />
        </div>
      )}
      {!options && kind !== 'lines' && (
        <Input
          {...attributes}
          {...(kind === 'time' && { type: 'datetime-local' as const })}
          label={label}
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          class={kind === 'secret' ? 'masked' : undefined}
          defaultValue={initial}
        />
      )}
      <p class="soft" id={`${id}-about`}>
        {noteFor(entry, text.value)} {help}
      </p>
    </div>
  );
};

/** A form for a record. */
export interface FormProps extends Pick<ChangeOptions, 'verb'> {
  /** Accessible name of the form. */
  label: string;
  groups: readonly FieldGroup[];
  /** The record with its current values, or the initial values of a new one. */
  record: object;
  /** Content that is shown with the changes. */
  preview?: (patch: object, showMeanwhile: ShowMeanwhile) => Promise<ComponentChildren>;
  /** Saves the change, a merge patch; see `ChangeOptions`. */
  save: (patch: object) => Promise<ComponentChildren>;
  /** A note below a field about the typed text, such as the value that a pointer finds. */
  noteFor?: EntryProps['noteFor'];
}

/** A form for a record. Changes are shown before they are saved; secrets are never shown. */
export const RecordForm = ({
  label,
  groups,
  record,
  preview,
  noteFor = () => null,
  verb,
  save,
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
      return (
        <Review result={result} differences={changes} verb={verb} save={() => save(patch)} reset={reset}>
          {await preview?.(patch, showMeanwhile)}
        </Review>
      );
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
                  noteFor={noteFor}
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
  /** Whether it is reloaded after a change; default: true. */
  isReloaded?: boolean | undefined;
  children: (record: T, send: Send) => ComponentChildren;
}

/** Reads a record and renders it with its form. If a reload fails, the form keeps its values. */
export const Editable = <T,>({ path, isReloaded = true, children }: EditableProps<T>) => {
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
  }, [path, isReloaded ? refreshCount.value : 0]);
  return <ContentView content={content} />;
};
