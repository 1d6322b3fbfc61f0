import { Counter, Histogram, Registry } from '@prometheus-io/client';
import type { GatewayRequest } from './receiver.ts';

/** Creates the metrics of the gateway. The label `upstream` is the service; unknown addresses have the route `none`. */
export const createMetrics = () => {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'gateway_requests_total',
    help: 'Requests by route, status, and whether a service or nginx itself responded',
    labelNames: ['upstream', 'route', 'status', 'answered_by'],
    registers,
  });
  const attempts = new Counter({
    name: 'gateway_upstream_attempts_total',
    help: 'Attempts to get a response from an instance; the status is 502 or 504 if it sent none',
    labelNames: ['upstream', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the first byte of a request to the last byte of its response',
    labelNames: ['upstream', 'route'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  return {
    registry,
    record: (request: GatewayRequest): void => {
      const { service, route, status, answeredBy, upstreamStatus, seconds } = request;
      const labels = { upstream: service || 'none', route: route || 'none' };
      requests.inc({ ...labels, status, answered_by: answeredBy });
      duration.observe(labels, seconds);
      for (const [attemptStatus] of upstreamStatus.matchAll(/\d{3}/g))
        attempts.inc({ upstream: labels.upstream, status: attemptStatus });
    },
  };
};
