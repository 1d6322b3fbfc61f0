import { signal } from '@preact/signals';
import type { ComponentChildren, HTMLAttributes, JSX, RefObject } from 'preact';
import { useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { isAbort, useSession } from './session.ts';
import { button, takeFocus } from './parts.tsx';
import { errorText, isTemporary, mistakesOf } from './text.ts';

/** Counts how often what is shown is to be read again; an input of what depends on changes. */
export const reads = signal(0);

/** Reads what is shown again, after a change or when somebody asks for it. */
export const readAgain = (): void => void reads.value++;

interface State {
  isLoading: boolean;
  shown?: ComponentChildren;
  failure?: JSX.Element;
}

/** Resolves to what is shown in the end; `tell` shows something else until then. */
export type Load = (tell: (shown: ComponentChildren) => void) => Promise<ComponentChildren>;

/** What is shown for an error, with a button when the same request may succeed later. */
export const failureOf = (error: unknown, retry: () => void, consequence = ''): JSX.Element => (
  <div class="note failure">
    <div class="error" role="alert">
      <p>
        {consequence}
        {errorText(error)}
      </p>
      {mistakesOf(error).map((mistake) => (
        <p key={mistake}>{mistake}</p>
      ))}
    </div>
    {isTemporary(error) && button('Try again', retry, 'quiet')}
  </div>
);

const createContent = () => {
  const state = signal<State>({ isLoading: false });
  /** Its element. */
  const box: RefObject<HTMLDivElement | null> = { current: null };
  let latest: object | undefined;
  let isClosed = false;
  /** Shows the result of a promise, or its error with a button that repeats it. Only the latest call is shown. */
  const show = async (load: Load): Promise<void> => {
    const request = {};
    latest = request;
    // An earlier request may be answered later.
    const set = (change: State): void => {
      if (latest === request) state.value = change;
    };
    // A list stays until the next one has arrived; an error does not.
    set({ isLoading: true, shown: state.value.shown });
    try {
      const shown = await load((meanwhile) => set({ isLoading: true, shown: meanwhile }));
      set({ isLoading: false, shown });
    } catch (error) {
      if (isAbort(error)) return;
      set({ isLoading: false, failure: failureOf(error, () => void show(load)) });
    }
  };
  const clear = (): void => {
    latest = undefined;
    state.value = { isLoading: false };
  };
  const close = (): void => {
    isClosed = true;
    latest = undefined;
  };
  /** False when the page no longer has it. */
  const isOpen = (): boolean => !isClosed;
  return { state, box, show, clear, close, isOpen };
};

/** A part of the page that shows the result of a request. */
export type Content = ReturnType<typeof createContent>;

/** A part of the page that is empty until its `show` is called. */
export const useContent = (): Content => {
  const content = useMemo(createContent, []);
  useEffect(() => content.close, [content]);
  return content;
};

/** A part of the page that loads at once, and again when one of the inputs changes or `reload` is called. */
export const useLoaded = (load: Load, inputs: readonly unknown[]): Content & { reload: () => void } => {
  const content = useContent();
  const newest = useRef(load);
  newest.current = load;
  const reload = useCallback(() => void content.show((tell) => newest.current(tell)), [content]);
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the caller knows them
  useLayoutEffect(reload, [reload, ...inputs]);
  return { ...content, reload };
};

type Attributes = Partial<Pick<HTMLAttributes<HTMLDivElement>, 'class' | 'role' | 'tabIndex'>>;

/**
 * Shows a content, or why it cannot be drawn. A focus on a control that disappears moves to the element itself, so that the next Tab continues
 * there.
 */
export const Shown = ({ content: { state, box }, ...attributes }: { content: Content } & Attributes) => {
  const { isLoading, shown, failure } = state.value;
  /** What could not be drawn. */
  const broken = useRef<ComponentChildren>(undefined);
  const [error] = useErrorBoundary(() => {
    broken.current = state.peek().shown;
  });
  const fault = error !== undefined && broken.current === shown && failureOf(error, () => {});
  const hadFocus = box.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    const { activeElement } = document;
    const { current } = box;
    if (!hadFocus || !current) return;
    if (current.contains(activeElement) && !activeElement?.matches(':disabled')) return;
    current.tabIndex = -1;
    current.focus({ preventScroll: true });
  });
  return (
    <div {...attributes} ref={box} aria-busy={isLoading || undefined}>
      {isLoading && shown === undefined ? (
        <p class="loading soft" role="status">
          Loading …
        </p>
      ) : (
        (failure ?? (fault || shown))
      )}
    </div>
  );
};

interface LoadedFrom<Answer> extends Attributes {
  path: string;
  children: (answer: Answer) => ComponentChildren;
}

/** Shows the answer of a request, which is sent again after each change. */
export const Loaded = <Answer,>({ path, children, ...attributes }: LoadedFrom<Answer>) => {
  const session = useSession();
  const content = useLoaded(async () => children(await session.ask<Answer>(path)), [path, reads.value]);
  return <Shown content={content} {...attributes} />;
};

interface Pressed {
  name: string;
  look?: string;
  run: Load;
  /** Whether it takes the focus when it appears. */
  isFocused?: boolean;
}

/** A button, and below it what comes of pressing it. */
export const Action = ({ name, look, run, isFocused = false }: Pressed) => {
  const outcome = useContent();
  const press = () => outcome.state.peek().isLoading || outcome.show(run);
  return (
    <>
      <div class="actions">{button(name, press, look, { ref: isFocused ? takeFocus : null })}</div>
      <Shown content={outcome} role="status" />
    </>
  );
};

const refreshMs = 2000;

/** Reads what is shown again after a pause, while something changes by itself; `newest` is what was read last. */
export const useRefresh = (isChanging: boolean, newest: unknown): void =>
  useEffect(() => {
    if (!isChanging) return undefined;
    const timer = setTimeout(readAgain, refreshMs);
    return () => clearTimeout(timer);
  }, [isChanging, newest]);

/** Calls a function now and again and again, with a pause after each end, while the page is seen. */
export const usePolling = (refresh: () => Promise<void>, pauseMs: number): void => {
  const newest = useRef(refresh);
  newest.current = refresh;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const poll = async (): Promise<void> => {
      if (!document.hidden) await newest.current();
      if (!isOver) timer = setTimeout(() => void poll(), pauseMs);
    };
    void poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [pauseMs]);
};
