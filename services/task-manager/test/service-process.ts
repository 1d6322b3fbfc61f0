import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';

const folder = new URL('..', import.meta.url).pathname;
const around = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/** Runs one of the service's scripts to its end and returns its output. */
export const runScript = async (script: string, variables: Record<string, string>): Promise<string> => {
  const child = spawn(process.execPath, [script], { cwd: folder, env: { ...around, ...variables } });
  const closed = once(child, 'close');
  let printed = '';
  let complaint = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (complaint += String(chunk)));
  const [code] = (await closed) as [number];
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${complaint}`);
  return printed;
};

/** The service as a separate process; disposal kills it with SIGKILL. */
export const startProcess = (
  variables: Record<string, string>,
  nodeArguments: readonly string[] = [],
): Promise<ServiceProcess> => startServiceProcess({ folder, variables, nodeArguments });
