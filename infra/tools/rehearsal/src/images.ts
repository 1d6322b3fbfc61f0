/** Checks of the images. Each check returns one line for each fault. */
import { chmod, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './command.ts';
import type { Engine } from './engine.ts';
import { imageOf, INNER_NETWORK, type Deployment } from './platform.ts';

/** Tag of the images that the commands of docs/deploy.md, "Images", build. */
const DOCUMENTED_TAG = '1.0.0';
/** Images that are neither a service nor nginx. */
const HELPER_IMAGES = ['gateway-telemetry', 'gateway-config'];

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** Runs shell commands in an image, as its user. */
const inImage = async ({ docker }: Engine, image: string, command: string): Promise<string[]> =>
  lines(await docker('run', '--rm', '--entrypoint', 'sh', image, '-c', command));

/** Finds files that a Node.js image must not contain, or that its user could change. */
const findUnwantedFiles = async (engine: Engine, image: string, service?: string): Promise<string[]> => {
  const run = (command: string): Promise<string[]> => inImage(engine, image, command);
  const unwanted = await run(
    `find /repo -path '*/node_modules' -prune -o -type f '(' -name '*.test.ts' -o -name '.env*' -o -name '*.pem' ')' -print
     ls /repo/node_modules/.pnpm | grep -E '^(vitest|turbo|drizzle-kit)@' || true`,
  );
  const services = await run('ls /repo/services 2>/dev/null || true');
  const otherServices = services.filter((name) => name !== service);
  const writable = await run(
    "find /repo '(' -path /repo/.compile-cache -o -path /repo/data ')' -prune -o ! -type l -writable -print",
  );
  return [
    ...[...unwanted, ...otherServices].map((file) => `${image} contains ${file}`),
    ...writable.map((file) => `${image} lets its user change ${file}`),
  ];
};

/** Finds installed packages that the SBOM of an image lacks. */
const findUnlistedPackages = async (engine: Engine, image: string): Promise<string[]> => {
  const sbom = (await inImage(engine, image, 'cat /repo/sbom.cdx.json')).join('\n');
  const { bomFormat, specVersion, components } = JSON.parse(sbom) as {
    bomFormat: string;
    specVersion: string;
    components: { purl: string }[];
  };
  if (bomFormat !== 'CycloneDX' || specVersion !== '1.6') return [`${image} has an SBOM of another format`];
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)));
  const faults: string[] = [];
  for (const folder of await inImage(engine, image, 'ls /repo/node_modules/.pnpm 2>/dev/null || true')) {
    // express@5.2.1 or @scope+name@1.0.0_peers
    const [, name, version] = /^(@?[^@]+)@([^_(]+)/.exec(folder) ?? [];
    const purl = `pkg:npm/${name?.replace('+', '/')}@${version}`;
    if (name !== undefined && !listed.has(purl)) faults.push(`the SBOM of ${image} lacks ${purl}`);
  }
  return faults;
};

/** Finds wrong labels and a wrong user of an image. */
const findWrongLabels = async (
  { docker }: Engine,
  image: string,
  user: string,
  labels: Record<string, string>,
): Promise<string[]> => {
  const text = await docker('inspect', '--format', '{{json .Config}}', image);
  const config = JSON.parse(text) as { User: string; Labels: Record<string, string> };
  const wrong = Object.entries(labels).filter(
    ([label, value]) => config.Labels[`org.opencontainers.image.${label}`] !== value,
  );
  return [
    ...wrong.map(([label, value]) => `the label ${label} of ${image} is not ${value}`),
    ...(config.User === user ? [] : [`${image} runs as ${config.User} instead of ${user}`]),
  ];
};

/** Checks labels, users, files and SBOMs of the images that compose runs. */
export const findImageFaults = async (
  engine: Engine,
  { services, labels }: Deployment,
): Promise<string[]> => {
  const faults: string[] = [];
  for (const name of [...services, 'gateway']) {
    const image = `${imageOf(name)}:latest`;
    const user = name === 'gateway' ? '101:101' : '1000:1000';
    faults.push(...(await findWrongLabels(engine, image, user, { ...labels, title: name })));
    faults.push(...(await findUnlistedPackages(engine, image)));
    if (name !== 'gateway') faults.push(...(await findUnwantedFiles(engine, image, name)));
  }
  return faults;
};

/** Finds services whose container does not exit with 0 when it is stopped. */
export const findWrongExitCodes = async (
  { docker }: Engine,
  { services, containers, ready }: Deployment,
): Promise<string[]> => {
  const names = services.map((name) => containers[name] ?? '');
  await docker('stop', ...names);
  const codes = lines(await docker('inspect', '--format', '{{.State.ExitCode}}', ...names));
  await docker('start', ...names);
  await ready();
  return services
    .filter((_, index) => codes[index] !== '0')
    .map((name) => `${name} does not exit with 0 when it is stopped`);
};

/** Finds pages of the portal, and files that they load, that the gateway's image lacks. */
export const findMissingPages = async ({ access, portal }: Deployment): Promise<string[]> => {
  const faults: string[] = [];
  if ((await fetch(`${access.gateway}/docs/`)).status !== 404)
    faults.push('the public address shows the portal');
  for (const [page, title] of [
    ['/docs/', 'Platform'],
    ['/docs/guides/', 'Guides · Platform'],
    ['/docs/reference/', 'Reference · Platform'],
    ['/docs/ops/', 'Operations · Platform'],
  ] as const) {
    const text = await (await fetch(`${portal}${page}`)).text();
    if (!text.includes(`<title>${title}</title>`)) faults.push(`${page} does not have the title "${title}"`);
    for (const [, asset = ''] of text.matchAll(/(?:src|href)="(\/docs\/[^"]+\.\w+)"/g))
      if (!(await fetch(`${portal}${asset}`)).ok) faults.push(`${page} lacks ${asset}`);
  }
  // A deployment must not serve demo credentials.
  if ((await fetch(`${portal}/docs/demo.json`)).status !== 404) faults.push('/docs/demo.json exists');
  return faults;
};

/** Checks that nginx accepts the configuration that gateway-config writes for the chart, with the rights of the pod. */
const findConfigFaults = async ({ docker }: Engine, { services }: Deployment): Promise<string[]> => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'rehearsal-config-'));
  const folder = temporary.path;
  // The user of the pod writes to it.
  await chmod(folder, 0o777);
  const secret = join(folder, 'secret');
  await writeFile(secret, 'a'.repeat(32), { mode: 0o644 });
  const options = JSON.stringify({ services });
  const rights = ['--read-only', '--cap-drop', 'ALL', '--user', '101:101'];
  const pod = ['run', '--rm', ...rights, '--network', INNER_NETWORK];
  const render = ['node', 'src/render.ts', '--out', '/etc/gateway', '--options', options];
  const config = `${imageOf('gateway-config')}:${DOCUMENTED_TAG}`;
  await docker(...pod, '--volume', `${folder}:/etc/gateway`, config, ...render);
  const volumes = ['--volume', `${folder}:/etc/gateway:ro`, '--tmpfs', '/tmp/nginx:mode=1777'];
  const env = ['--env', 'GATEWAY_SECRET_FILE=/etc/gateway/secret'];
  const test = docker(...pod, ...volumes, ...env, `${imageOf('gateway')}:${DOCUMENTED_TAG}`, '-t');
  // `await`, because the folder is removed when the function returns.
  return await test.then(
    () => [],
    (error: Error) => [`nginx rejects the configuration of gateway-config: ${error.message}`],
  );
};

/** Checks that gateway-telemetry becomes healthy on a read-only file system and exits with 0 when it is stopped. */
const findTelemetryFaults = async ({ docker }: Engine): Promise<string[]> => {
  const image = `${imageOf('gateway-telemetry')}:${DOCUMENTED_TAG}`;
  const id = (await docker('run', '--detach', '--read-only', '--cap-drop', 'ALL', image)).trim();
  try {
    const health = async (): Promise<string> =>
      (await docker('inspect', '--format', '{{.State.Health.Status}}', id)).trim();
    await waitFor('gateway-telemetry is healthy', async () => (await health()) === 'healthy');
    await docker('stop', id);
    const code = (await docker('inspect', '--format', '{{.State.ExitCode}}', id)).trim();
    return code === '0' ? [] : [`gateway-telemetry exits with ${code} when it is stopped`];
  } finally {
    await docker('rm', '--force', id);
  }
};

/** Builds all images with the commands of docs/deploy.md, and checks those that compose does not run. */
export const rehearseImages = async (engine: Engine, platform: Deployment): Promise<string[]> => {
  await platform.runDocumented('deploy.md', 'Images', {}, [['registry.example.test/platform/', imageOf('')]]);
  const faults: string[] = [];
  for (const name of HELPER_IMAGES) {
    const image = `${imageOf(name)}:${DOCUMENTED_TAG}`;
    faults.push(
      ...(await findWrongLabels(engine, image, '1000:1000', { title: name, version: DOCUMENTED_TAG })),
    );
    faults.push(...(await findUnlistedPackages(engine, image)), ...(await findUnwantedFiles(engine, image)));
  }
  faults.push(...(await findConfigFaults(engine, platform)));
  faults.push(...(await findTelemetryFaults(engine)));
  return faults;
};
