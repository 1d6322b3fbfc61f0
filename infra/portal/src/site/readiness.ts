/** Response of `/docs/status/<service>`. */
interface Status {
  ready: boolean;
  degraded: boolean;
}

/** State of a service and its text. */
export interface Health {
  state: 'good' | 'warn' | 'bad' | 'plain';
  text: string;
  /** Whether the service answers; undefined when the gateway refused the request for its rate (429). */
  isUp: boolean | undefined;
}

const unavailable: Health = { state: 'bad', text: 'Unavailable', isUp: false };

/** Whether the service of a state takes requests. */
export const isReady = ({ state }: Health): boolean => state === 'good' || state === 'warn';

/** Whether a service is ready; unavailable when it does not answer. */
export const askReadiness = async (service: string): Promise<Health> => {
  try {
    const answer = await fetch(`/docs/status/${service}`, { credentials: 'omit', cache: 'no-store' });
    if (answer.status === 429) return { state: 'plain', text: 'Unknown', isUp: undefined };
    const { ready, degraded, code } = (await answer.json()) as Partial<Status & { code: string }>;
    // The service itself says so: too much else asks it.
    if (code === 'too_busy') return { state: 'plain', text: 'Overloaded', isUp: true };
    if (!answer.ok) return unavailable;
    if (!ready) return { state: 'bad', text: 'Not ready', isUp: true };
    return degraded
      ? { state: 'warn', text: 'Degraded', isUp: true }
      : { state: 'good', text: 'Ready', isUp: true };
  } catch {
    return unavailable;
  }
};

/** Shows the state in an element of the class `state`. */
export const showHealth = (target: Element, { state, text }: Health): void => {
  target.setAttribute('data-state', state);
  target.textContent = text;
};
