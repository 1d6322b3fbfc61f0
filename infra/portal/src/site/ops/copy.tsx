import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

const shownMs = 1500;

/** An id, which may be a link, with a button that copies it. */
export const CopyableId = ({ id, children }: { id: string; children?: ComponentChildren }) => {
  const isCopied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(id);
    isCopied.value = true;
    setTimeout(() => (isCopied.value = false), shownMs);
  };
  return (
    <span class="id">
      {children ?? <code>{id}</code>}
      <button
        type="button"
        class="copy"
        aria-label={isCopied.value ? 'Copied' : `Copy ${id}`}
        data-copied={isCopied.value || undefined}
        onClick={() => void copy()}
      />
    </span>
  );
};
