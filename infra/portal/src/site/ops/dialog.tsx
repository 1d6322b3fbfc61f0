import { createPortal, type ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { button } from './parts.tsx';

/** The browser returns the focus to what opened a dialog, unless that was drawn again meanwhile. */
const returnFocus = (opener: Element | null): void => {
  if (!(opener instanceof HTMLElement) || opener.isConnected) return;
  const key = CSS.escape(opener.dataset['key'] ?? '');
  document.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
};

interface OpenDialog {
  title: string;
  actions?: ComponentChildren;
  closed: () => void;
  children: ComponentChildren;
}

/**
 * A modal dialog: a heading, content that scrolls, and actions that stay visible. The browser manages the focus and
 * closes it on Escape; then `closed` is called.
 */
export const Dialog = ({ title, actions, closed, children }: OpenDialog) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const opener = useRef<Element | null>(null);
  useLayoutEffect(() => {
    opener.current = document.activeElement;
    dialog.current?.showModal();
  }, []);
  const onClose = (): void => {
    closed();
    returnFocus(opener.current);
  };
  // Outside of the view, whose styles are not those of a dialog.
  return createPortal(
    <dialog ref={dialog} aria-labelledby="dialog-heading" onClose={onClose}>
      <div class="dialog-head">
        <h2 id="dialog-heading">{title}</h2>
        {button('Close', () => dialog.current?.close(), 'quiet')}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls with the keyboard */}
      <div class="dialog-content" tabIndex={0}>
        {children}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </dialog>,
    document.body,
  );
};
