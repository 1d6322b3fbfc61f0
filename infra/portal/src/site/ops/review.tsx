import type { ComponentChildren } from 'preact';
import { ContentView, refreshAll, useContent, type Content } from './content.tsx';
import type { Difference } from './fields.ts';
import { Table } from './list.tsx';
import { button, takeFocus, type Columns } from './parts.tsx';
import { Refused } from './session.ts';

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

/** The verb and the action of a change. */
export interface ChangeOptions {
  /** Label of the button that makes the change. */
  verb?: string | undefined;
  /** Makes the change. May resolve to content that replaces the text "Saved.". */
  save: () => Promise<ComponentChildren>;
}

interface ReviewProps extends ChangeOptions {
  /** Shows the review, and after the confirmation the result of the change. */
  result: Content;
  differences: readonly Difference[];
  /** Called after the change. */
  reset?: () => void;
  /** Content that is shown below the differences. */
  children?: ComponentChildren;
}

/** Shows a change before it is made, with buttons to confirm or cancel it. */
export const Review = ({
  result,
  differences,
  verb = 'Save',
  save,
  reset = refreshAll,
  children,
}: ReviewProps) => {
  const showNewest = (): void => {
    result.clear();
    reset();
  };
  const confirm = async (): Promise<ComponentChildren> => {
    try {
      const saved = await save();
      reset();
      return saved ?? <p class="note">Saved.</p>;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 412)) throw error;
      return (
        <div class="note failure">
          <p class="error" role="alert">
            Another user has changed this since you opened it, so nothing was saved.
          </p>
          {button('Show the newest version', showNewest, 'quiet')}
        </div>
      );
    }
  };
  return (
    <div class="note">
      {diff(differences)}
      {children}
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
  ...change
}: ChangeOptions & { verb: string; difference: Difference }) => {
  const result = useContent();
  const ask = () =>
    result.show(async () => <Review result={result} differences={[difference]} {...change} />);
  return (
    <>
      <div class="actions">{button(`${change.verb} …`, ask, 'quiet')}</div>
      <ContentView content={result} role="status" />
    </>
  );
};
