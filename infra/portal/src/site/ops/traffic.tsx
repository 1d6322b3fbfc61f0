import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Chart, type Points } from './chart.tsx';
import { usePolling } from './content.tsx';
import { createReader, readiness, type Statement } from './health-data.ts';
import { state } from './parts.tsx';
import { Refused, useSession } from './session.ts';
import { errorText } from './text.ts';
import { combine, sourceOf } from './traffic-data.ts';

const refreshMs = 10_000;

/** A process that has ended is shown with its last half hour, too. */
const keepMs = 1_800_000;

const reasonOf = (error: unknown): string => (error instanceof Refused ? error.reason : errorText(error));

/** An error that all services have in common; undefined when they have none, or others. */
const sharedError = (errors: readonly unknown[]): unknown =>
  errors.every((error) => error !== undefined && reasonOf(error) === reasonOf(errors[0]))
    ? errors[0]
    : undefined;

interface ServiceRow {
  name: string;
  title: string;
  /** Undefined before it was asked. */
  statements: Statement[] | undefined;
  error: unknown;
}

const Service = ({ name, title, statements, error }: ServiceRow) => {
  const charts = useMemo((): Partial<Record<'requests' | 'errors' | 'p99', Points>> => {
    if (!statements?.length) return {};
    const { times, requests, errors, p99 } = combine(statements);
    return { requests: [times, requests], errors: [times, errors], p99: [times, p99] };
  }, [statements]);
  const now = readiness.value.find(({ service }) => service === name)?.state;
  return (
    <li class="service">
      <div class="service-head">
        <h2>{title}</h2>
        {now ? state(now.look, now.text) : state('plain', 'Checking')}
        <p class={error === undefined ? 'soft instances' : 'soft instances error'}>
          {error === undefined ? sourceOf(statements ?? []) : errorText(error)}
        </p>
      </div>
      <Chart name="Requests" unit="/s" floor={1} points={charts.requests} />
      <Chart name="Errors" unit=" %" floor={5} points={charts.errors} areBars />
      <Chart name="p99" unit=" ms" floor={10} points={charts.p99} />
    </li>
  );
};

/** Whether the gateway says that there is no such service: it is not deployed. */
const isMissing = (error: unknown): boolean => error instanceof Refused && error.status === 404;

/** Request rate, errors and p99 of each deployed service. */
export const View = () => {
  const session = useSession();
  const readers = useMemo(() => SERVICES.map(({ name }) => createReader(session, name, keepMs)), [session]);
  const answers = useSignal<readonly (Statement[] | undefined)[]>(SERVICES.map(() => undefined));
  const errors = useSignal<readonly unknown[]>([]);
  usePolling(async () => {
    errors.value = await Promise.all(
      readers.map(async (read, at) => {
        const { statements, error } = await read();
        // A service that answers late does not hold up the others.
        answers.value = answers.value.with(at, statements);
        return error;
      }),
    );
  }, refreshMs);
  const shared = sharedError(errors.value);
  return (
    <>
      <p class="soft">
        The last half hour, measured by the services (or Prometheus, where they know one), refreshed every ten
        seconds. p99: 99 of 100 requests were answered within this time.
      </p>
      <div role="alert">{shared !== undefined && <p class="error note">{errorText(shared)}</p>}</div>
      <ul class="services">
        {SERVICES.map(({ name, title }, at) =>
          isMissing(errors.value[at]) ? undefined : (
            <Service
              key={name}
              name={name}
              title={title}
              statements={answers.value[at]}
              error={shared === undefined ? errors.value[at] : undefined}
            />
          ),
        )}
      </ul>
    </>
  );
};
