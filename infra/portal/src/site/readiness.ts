/** What the gateway answers for `/docs/status/<service>`. */
interface Status {
  ready: boolean;
  degraded: boolean;
}

/** How a service is, with the look that goes with it. */
export interface Wellness {
  state: 'good' | 'warn' | 'bad';
  text: string;
}

/** Asks whether a service is ready; one that cannot be asked is away. */
export const askReadiness = async (service: string): Promise<Wellness> => {
  try {
    const answer = await fetch(`/docs/status/${service}`, { credentials: 'omit', cache: 'no-store' });
    if (!answer.ok) return { state: 'bad', text: 'Away' };
    const { ready, degraded } = (await answer.json()) as Status;
    if (!ready) return { state: 'bad', text: 'Not ready' };
    return degraded ? { state: 'warn', text: 'Degraded' } : { state: 'good', text: 'Ready' };
  } catch {
    return { state: 'bad', text: 'Away' };
  }
};

/** Shows it in an element of the look `state`. */
export const showWellness = (target: Element, { state, text }: Wellness): void => {
  target.setAttribute('data-state', state);
  target.textContent = text;
};
