/** Response of `/docs/status/<service>`. */
interface Status {
  ready: boolean;
  degraded: boolean;
}

/** State of a service and its text. */
export interface Health {
  state: 'good' | 'warn' | 'bad';
  text: string;
}

/** Whether a service is ready; unavailable when it does not answer. */
export const askReadiness = async (service: string): Promise<Health> => {
  try {
    const answer = await fetch(`/docs/status/${service}`, { credentials: 'omit', cache: 'no-store' });
    if (!answer.ok) return { state: 'bad', text: 'Unavailable' };
    const { ready, degraded } = (await answer.json()) as Status;
    if (!ready) return { state: 'bad', text: 'Not ready' };
    return degraded ? { state: 'warn', text: 'Degraded' } : { state: 'good', text: 'Ready' };
  } catch {
    return { state: 'bad', text: 'Unavailable' };
  }
};

/** Shows the state in an element of the class `state`. */
export const showHealth = (target: Element, { state, text }: Health): void => {
  target.setAttribute('data-state', state);
  target.textContent = text;
};
