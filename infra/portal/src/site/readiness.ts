/** Response of `/docs/status/<service>`. */
interface Status {
  ready: boolean;
  degraded: boolean;
}

/** Readiness of a service, with its colour and text. */
export interface Readiness {
  color: 'good' | 'warn' | 'bad' | 'plain';
  text: string;
  /** Whether the service responds; undefined if the gateway rejected the request because of its rate (429). */
  isUp: boolean | undefined;
}

const unavailable: Readiness = { color: 'bad', text: 'Unavailable', isUp: false };

/** Whether a service with this readiness accepts requests. */
export const isReady = ({ color }: Readiness): boolean => color === 'good' || color === 'warn';

/** Fetches the readiness of a service: unavailable if it does not respond, undefined if it is not deployed (404 from the gateway). */
export const fetchReadiness = async (
  service: string,
  path = `/docs/status/${service}`,
): Promise<Readiness | undefined> => {
  try {
    const response = await fetch(path, { credentials: 'omit', cache: 'no-store' });
    if (response.status === 404) return undefined;
    if (response.status === 429) return { color: 'plain', text: 'Unknown', isUp: undefined };
    const { ready, degraded, code } = (await response.json()) as Partial<Status & { code: string }>;
    // The service itself reports that it has too many requests.
    if (code === 'too_busy') return { color: 'plain', text: 'Overloaded', isUp: true };
    if (!response.ok) return unavailable;
    if (!ready) return { color: 'bad', text: 'Not ready', isUp: true };
    return degraded
      ? { color: 'warn', text: 'Degraded', isUp: true }
      : { color: 'good', text: 'Ready', isUp: true };
  } catch {
    return unavailable;
  }
};

/** Shows the state in an element of the class `state`. */
export const showHealth = (target: Element, { color, text }: Readiness): void => {
  target.setAttribute('data-state', color);
  target.textContent = text;
};
