import { runGameServer } from '@platform/e2e/game-server';
import { arrange } from '@platform/e2e/subjects';
import { callEachOperation } from '@platform/openapi-tests/call-each';
import type { Deployment } from './platform.ts';

/**
 * Calls every operation of every OpenAPI document through the gateway until it succeeds. One line for each that answered
 * 5xx or what its document lacks, or that never succeeded.
 */
export const findFailingOperations = async ({
  access,
  gameServer,
  services,
}: Pick<Deployment, 'access' | 'gameServer' | 'services'>): Promise<string[]> => {
  const { gateway, demo } = access;
  const { hmacSecret } = demo.wallet;
  await using _game = runGameServer(gameServer, gateway, hmacSecret, 0);
  const faults: string[] = [];
  for (const service of services) {
    const arranged = await arrange(service, { url: gateway, token: demo.adminToken, hmacSecret });
    const subject = { url: gateway, documentPath: `/openapi/${service}.json`, ...arranged };
    for (const fault of await callEachOperation(subject)) faults.push(`${service}: ${fault}`);
  }
  return faults;
};
