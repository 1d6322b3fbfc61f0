import type { Engine } from './engine.ts';
import type { Deployment } from './platform.ts';

/**
 * What every container must satisfy: no root, no capability, a read-only file system, a memory limit above its heap's. One
 * line for each that does not.
 */
export const findPrivileges = async (
  { docker }: Engine,
  { containers, services }: Deployment,
): Promise<string[]> => {
  const faults: string[] = [];
  for (const [name, container] of Object.entries(containers)) {
    const processes = await docker('top', container, '-eo', 'pid,uid');
    if (/\s0$/m.test(processes)) faults.push(`${name} has a process of root`);
    const status = await docker('exec', container, 'cat', '/proc/1/status');
    for (const set of ['CapPrm', 'CapEff', 'CapBnd'])
      if (!new RegExp(`^${set}:\\s+0+$`, 'm').test(status)) faults.push(`${name} has capabilities (${set})`);
    if (!/^NoNewPrivs:\s+1$/m.test(status)) faults.push(`${name} can gain privileges`);
    const written = await docker('exec', container, 'sh', '-c', 'touch /written && echo yes || true');
    if (written.includes('yes')) faults.push(`${name} can write to its file system`);
    const limit = Number(await docker('inspect', '--format', '{{.HostConfig.Memory}}', container));
    if (!(limit > 0)) faults.push(`${name} has no memory limit`);
    if (!services.includes(name)) continue;
    const heap = Number(
      await docker('exec', container, 'node', '-p', 'v8.getHeapStatistics().heap_size_limit'),
    );
    if (heap > 0.9 * limit) faults.push(`the heap of ${name} may take ${heap} of ${limit} bytes`);
  }
  return faults;
};

/** The containers and images whose description contains a secret. */
export const findSecrets = async (
  { docker }: Engine,
  { containers, images, secrets }: Deployment,
): Promise<string[]> => {
  const described = Object.values(containers).map(async (name) => [name, await docker('inspect', name)]);
  const built = images.map(async (name) => [
    name,
    `${await docker('inspect', name)}${await docker('history', '--no-trunc', name)}`,
  ]);
  return (await Promise.all([...described, ...built]))
    .filter(([, text]) => secrets.some((secret) => text?.includes(secret)))
    .map(([name]) => `docker inspect shows a secret of ${name}`);
};
