/** Response of `/docs/status/<service>`. */
interface Status {
  ready: boolean;
  degraded: boolean;
}

/** Readiness of a service: how it looks, and its text. */
export interface Readiness {
  look: 'good' | 'warn' | 'bad' | 'plain';
  text: string;
  /** Whether the service answers; undefined when the gateway refused the request for its rate (429). */
  isUp: boolean | undefined;
}

const unavailable: Readiness = { look: 'bad', text: 'Unavailable', isUp: false };

/** Whether the service of a state takes requests. */
export const isReady = ({ look }: Readiness): boolean => look === 'good' || look === 'warn';

/** Whether a service is ready; unavailable when it does not answer, undefined when it is not deployed (404 of the gateway). */
export const askReadiness = async (
  service: string,
  path = `/docs/status/${service}`,
): Promise<Readiness | undefined> => {
  try {
    const answer = await fetch(path, { credentials: 'omit', cache: 'no-store' });
    if (answer.status === 404) return undefined;
    if (answer.status === 429) return { look: 'plain', text: 'Unknown', isUp: undefined };
    const { ready, degraded, code } = (await answer.json()) as Partial<Status & { code: string }>;
    // The service itself says so: too much else asks it.
    if (code === 'too_busy') return { look: 'plain', text: 'Overloaded', isUp: true };
    if (!answer.ok) return unavailable;
    if (!ready) return { look: 'bad', text: 'Not ready', isUp: true };
    return degraded
      ? { look: 'warn', text: 'Degraded', isUp: true }
      : { look: 'good', text: 'Ready', isUp: true };
  } catch {
    return unavailable;
  }
};

/** Shows the state in an element of the class `state`. */
export const showHealth = (target: Element, { look, text }: Readiness): void => {
  target.setAttribute('data-state', look);
  target.textContent = text;
};
