import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { labelsOf, metadata } from './common.ts';

interface Replicas {
  min: number;
  max: number;
  cpu: number;
}

/** Scales up at once, and down one by one after five minutes, so that replicas remain for the next burst. */
export const autoscaler = (name: string, { min, max, cpu }: Replicas): IHorizontalPodAutoscaler => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: metadata(name),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
    minReplicas: min,
    maxReplicas: max,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpu } },
      },
    ],
    behavior: {
      scaleUp: { policies: [{ type: 'Percent', value: 100, periodSeconds: 30 }] },
      scaleDown: {
        stabilizationWindowSeconds: 300,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 60 }],
      },
    },
  },
});

/** Draining nodes evicts one replica at a time. */
export const disruptionBudget = (name: string): IPodDisruptionBudget => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadata(name),
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(name) } },
});
