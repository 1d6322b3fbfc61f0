import { stringify } from 'yaml';
import { gatewayConfig } from './kubernetes/gateway.ts';
import { ChartValues, type Platform, type Service } from './values.ts';
import { z } from 'zod';

/** The generated files of the Helm chart, by name; its templates are in infra/deploy/chart. */
export const chartFiles = (services: readonly Service[], platform: Platform): Record<string, string> => {
  const { namespace: _namespace, connections: _connections, nginx, ...shared } = platform;
  const values: z.input<typeof ChartValues> = {
    ...shared,
    services: Object.fromEntries(
      services.map(({ name, scopes: _scopes, connectionsBesidePool: _besidePool, ...service }) => [
        name,
        service,
      ]),
    ),
  };
  const config = gatewayConfig(services, nginx, true);
  return {
    'values.yaml': `# Written by \`render --chart\`. The values are described in infra/deploy/src/values.ts.\n${stringify(values)}`,
    'values.schema.json': `${JSON.stringify(z.toJSONSchema(ChartValues, { target: 'draft-7', io: 'input' }), null, 2)}\n`,
    ...Object.fromEntries(Object.entries(config).map(([name, text]) => [`files/${name}`, text])),
  };
};
