import { useSignal, useSignalEffect } from '@preact/signals';
import { addressOf, place } from './place.ts';

/** The search field above every view. Enter opens the view with the results. */
export const SearchForm = () => {
  const text = useSignal('');
  useSignalEffect(() => {
    const { view, filters } = place.value;
    if (view === 'find') text.value = filters.get('q') ?? '';
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    const query = text.value.trim();
    if (query !== '') location.hash = addressOf('find', { q: query });
  };
  return (
    <form class="find" role="search" onSubmit={submit}>
      <label htmlFor="find" class="unseen">
        Find
      </label>
      <input
        type="search"
        id="find"
        maxLength={255}
        autoComplete="off"
        spellcheck={false}
        aria-keyshortcuts="/"
        placeholder="Find an order number or any id: order, member, job, transaction, player, round, event, request"
        value={text}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
    </form>
  );
};
