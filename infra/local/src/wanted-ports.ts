import { isFree } from './ports.ts';

/** A port that the stack needs. */
export interface WantedPort {
  port: number;
  /** What wants it, as a person calls it. */
  by: string;
  /** The variable that moves it. */
  variable: 'GATEWAY_PORT' | 'PORT_BASE';
}

/**
 * Makes sure that all ports can be had.
 * @throws naming each taken port, what wants it and the variable that moves it
 */
export const ensurePorts = async (wanted: readonly WantedPort[]): Promise<void> => {
  const free = await Promise.all(wanted.map(({ port }) => isFree(port)));
  const complaints = wanted.flatMap(({ port, by, variable }, index) => {
    const rival = wanted.slice(0, index).find((other) => other.port === port);
    if (rival) return [`port ${port} is wanted by ${rival.by} and by ${by}; move one with ${variable}=…`];
    return free[index] ? [] : [`port ${port} for ${by} is taken or not allowed; move it with ${variable}=…`];
  });
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
};
