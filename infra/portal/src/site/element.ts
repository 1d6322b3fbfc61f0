type Child = Node | string | null;

/**
 * An element with attributes and content. Strings become text, never markup; the Content-Security-Policy of the page
 * refuses all other ways to create elements from strings.
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
 * The element with this id.
 * @throws when the page has none of this type
 */
export const byId = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${id}`);
};

/** Makes a button copy a text; its label then says "Copied" for 1.5 s. */
export const copyOnPress = (target: HTMLButtonElement, text: string): void => {
  const name = target.textContent;
  target.addEventListener('click', () => {
    void navigator.clipboard.writeText(text).then(() => {
      target.textContent = 'Copied';
      setTimeout(() => (target.textContent = name), 1500);
    });
  });
};

/** Lets the browser save a file. */
export const download = (name: string, content: Blob): void => {
  const address = URL.createObjectURL(content);
  element('a', { href: address, download: name }).click();
  URL.revokeObjectURL(address);
};
