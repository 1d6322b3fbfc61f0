import { signal } from '@preact/signals';
import type { ComponentChildren, HTMLAttributes, JSX, RefObject } from 'preact';
import { useCallback, useEffect, useErrorBoundary, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { isAbort, useSession } from './session.ts';
import { button, takeFocus } from './parts.tsx';
import { errorText, isTemporary, mistakesOf } from './text.ts';

/** Incremented to reload content: each view of changeable data passes it to `useLoaded` as an input. */
export const refreshCount = signal(0);

/** Reloads all content, after a change or on request of the user. */
export const refreshAll = (): void => void refreshCount.value++;

interface State {
  isLoading: boolean;
  shown?: ComponentChildren;
  failure?: JSX.Element;
}

/** Shows content until the promise of a `Load` resolves. */
export type ShowMeanwhile = (shown: ComponentChildren) => void;

export type Load = (showMeanwhile: ShowMeanwhile) => Promise<ComponentChildren>;

/** Renders an error, with a retry button if the same request may succeed later. */
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
  /** The element that contains the content. */
  const box: RefObject<HTMLDivElement | null> = { current: null };
  let latest: object | undefined;
  let isClosed = false;
  /** Shows the result of `load`, or its error with a retry button. A later call replaces it. */
  const show = async (load: Load): Promise<void> => {
    const request = {};
    latest = request;
    // Ignores an earlier request that responds later.
    const set = (change: State): void => {
      if (latest === request) state.value = change;
    };
    // Old content stays visible until the new content has arrived; an old error disappears.
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
  /** False after the component was removed from the page. */
  const isOpen = (): boolean => !isClosed;
  return { state, box, show, clear, close, isOpen };
};

/** State of a part of the page that shows the result of a request. */
export type Content = ReturnType<typeof createContent>;

/** Creates a part of the page that is empty until `show` is called. */
export const useContent = (): Content => {
  const content = useMemo(createContent, []);
  useEffect(() => content.close, [content]);
  return content;
};

/** Creates a part of the page that loads at once, and again if one of the inputs changes or `reload` is called. */
export const useLoaded = (load: Load, inputs: readonly unknown[]): Content & { reload: () => void } => {
  const content = useContent();
  const latestLoad = useRef(load);
  latestLoad.current = load;
  const reload = useCallback(
    () => void content.show((showMeanwhile) => latestLoad.current(showMeanwhile)),
    [content],
  );
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- the caller passes the inputs
  useLayoutEffect(reload, [reload, ...inputs]);
  return { ...content, reload };
};

type Attributes = Partial<Pick<HTMLAttributes<HTMLDivElement>, 'class' | 'role' | 'tabIndex'>>;

/**
 * Renders content, or the error if rendering fails. If the focused control disappears, the containing element gets the
 * focus, so that the next Tab continues there.
 */
export const ContentView = ({
  content: { state, box },
  ...attributes
}: { content: Content } & Attributes) => {
  const { isLoading, shown, failure } = state.value;
  /** Content whose rendering failed. */
  const failedContent = useRef<ComponentChildren>(undefined);
  const [error] = useErrorBoundary(() => {
    failedContent.current = state.peek().shown;
  });
  const renderFailure = error !== undefined && failedContent.current === shown && failureOf(error, () => {});
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
        (failure ?? (renderFailure || shown))
      )}
    </div>
  );
};

interface LoadedProps<Response> extends Attributes {
  path: string;
  children: (response: Response) => ComponentChildren;
}

/** Renders the response of a request, which is sent again after each change. */
export const Loaded = <Response,>({ path, children, ...attributes }: LoadedProps<Response>) => {
  const session = useSession();
  const content = useLoaded(
    async () => children(await session.ask<Response>(path)),
    [path, refreshCount.value],
  );
  return <ContentView content={content} {...attributes} />;
};

interface ActionProps {
  name: string;
  cssClass?: string;
  run: Load;
  /** Whether it takes the focus when it appears. */
  isFocused?: boolean;
}

/** A button with the result of its action below. */
export const Action = ({ name, cssClass, run, isFocused = false }: ActionProps) => {
  const result = useContent();
  const press = (): void => {
    if (!result.state.peek().isLoading) void result.show(run);
  };
  return (
    <>
      <div class="actions">{button(name, press, cssClass, { ref: isFocused ? takeFocus : null })}</div>
      <ContentView content={result} role="status" />
    </>
  );
};

const refreshMs = 2000;

/** Reloads the content while a background task changes it, each time after a pause that starts with new content (`latest`). */
export const useRefresh = (isChanging: boolean, latest: unknown): void =>
  useEffect(() => {
    if (!isChanging) return undefined;
    const timer = setTimeout(refreshAll, refreshMs);
    return () => clearTimeout(timer);
  }, [isChanging, latest]);

/** Calls a function repeatedly while the page is visible, with a pause after each call. */
export const usePolling = (refresh: () => Promise<void>, pauseMs: number): void => {
  const latestRefresh = useRef(refresh);
  latestRefresh.current = refresh;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    const poll = async (): Promise<void> => {
      if (!document.hidden) await latestRefresh.current();
      if (!isStopped) timer = setTimeout(() => void poll(), pauseMs);
    };
    void poll();
    return () => {
      isStopped = true;
      clearTimeout(timer);
    };
  }, [pauseMs]);
};
