import { block, linesOf } from './directives.ts';
import type { GatewaySettings } from './options.ts';

/** A gauge of Prometheus whose value is a variable of nginx. */
const gauge = (name: string, help: string, variable: string): string =>
  `# HELP ${name} ${help}\\n# TYPE ${name} gauge\\n${name} $${variable}\\n`;

const page = [
  gauge('nginx_connections_active', 'Open connections of clients', 'connections_active'),
  gauge('nginx_connections_waiting', 'Connections that wait for a request', 'connections_waiting'),
].join('');

/**
 * metrics.conf: a server that nginx answers by itself, so that Prometheus knows whether nginx runs. What its requests were
 * answered is counted by infra/gateway-telemetry.
 */
export const metricsFile = ({ metrics = [] }: GatewaySettings): string[] =>
  metrics.length === 0
    ? []
    : linesOf(
        block(
          'server',
          metrics.map((address) => `listen ${address};`),
          'access_log off;',
          block('location = /metrics', 'default_type "text/plain; version=0.0.4";', `return 200 "${page}";`),
          block('location /', 'return 404;'),
        ),
      );
