/** `pnpm --filter @platform/e2e restarts --connections 16`: restarts every service under load and counts failed requests. */
import { parseArgs } from 'node:util';
import { restartUnderLoad } from './restarts.ts';

const { values } = parseArgs({ options: { connections: { type: 'string', default: '8' } } });
const { sent, restarts, errors } = await restartUnderLoad(Number(values.connections));
for (const [service, { requests, failures }] of Object.entries(sent))
  process.stdout.write(
    `${service}: ${requests} requests, ${failures.length} failed, ${restarts[service]} restarts\n`,
  );
for (const line of [...Object.values(sent).flatMap(({ failures }) => failures), ...errors])
  process.stdout.write(`  ${line}\n`);
process.exitCode =
  errors.length === 0 && Object.values(sent).every(({ failures }) => failures.length === 0) ? 0 : 1;
