import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startServiceProcess, type ServiceProcess } from '@platform/service-kit/testing';

const folder = new URL('..', import.meta.url).pathname;
const baseEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin' };

/** Runs a script of the service and returns its output. Rejects when it fails. */
export const runScript = async (script: string, variables: Record<string, string>): Promise<string> => {
  const child = spawn(process.execPath, [script], { cwd: folder, env: { ...baseEnvironment, ...variables } });
  const closed = once(child, 'close');
  let output = '';
  let errorOutput = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (errorOutput += String(chunk)));
  const [code] = (await closed) as [number];
  if (code !== 0) throw new Error(`${script} exited with code ${code}: ${errorOutput}`);
  return output;
};

/** Starts the service as a separate process; disposal kills it with SIGKILL. */
export const startProcess = (
  variables: Record<string, string>,
  nodeArguments: readonly string[] = [],
): Promise<ServiceProcess> => startServiceProcess({ folder, variables, nodeArguments });
