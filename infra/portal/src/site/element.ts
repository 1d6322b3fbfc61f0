type Child = Node | string | null;

/**
 * An element with attributes and content. Whatever is text goes in as text: nothing that a page shows can become
 * markup by this way, and there is no other (the policy of the page refuses the rest).
 */
export const element = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Record<string, string> = {},
  ...content: Child[]
): HTMLElementTagNameMap[Name] => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content.filter((child) => child !== null));
  return made;
};

/**
 * The element of a page's own markup with this id.
 * @throws when the page has none of this kind
 */
export const byId = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
};

/** A button that does something. */
export const button = (text: string, look: string, press: () => void): HTMLButtonElement => {
  const made = element('button', { type: 'button', class: look }, text);
  made.addEventListener('click', press);
  return made;
};

/** A button that copies a text, and says so for a moment. */
export const copyOnPress = (target: HTMLButtonElement, text: string): void => {
  const name = target.textContent;
  target.addEventListener('click', () => {
    void navigator.clipboard.writeText(text).then(() => {
      target.textContent = 'Copied';
      setTimeout(() => (target.textContent = name), 1500);
    });
  });
};
