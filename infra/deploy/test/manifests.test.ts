import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Namespace } from 'kubernetes-models/v1/Namespace';
import { Service } from 'kubernetes-models/v1/Service';
import { connectionShare } from '@platform/service-kit/connection-share';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { folders } from '../src/kubernetes/folders.ts';
import { readPlatform, readServices, root, type Platform } from '../src/values.ts';
import { settingsOf } from './settings.ts';

const models = {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  Job,
  Namespace,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
  StatefulSet,
};

interface Container {
  name: string;
  env?: { name: string; value?: string }[];
  ports?: object[];
  volumeMounts?: { name: string; mountPath: string }[];
  securityContext?: object;
  resources?: { requests?: object; limits?: object };
  readinessProbe?: { periodSeconds: number; failureThreshold: number };
  livenessProbe?: object;
}
interface PodSpec {
  imagePullSecrets?: object[];
  volumes?: object[];
  containers: Container[];
  securityContext: object;
  terminationGracePeriodSeconds: number;
}
interface Document {
  kind: keyof typeof models;
  metadata: { name: string; labels?: Record<string, string> };
  spec: { template?: { spec: PodSpec }; replicas?: number; ingress?: Rule[]; egress?: Rule[] };
}
interface Rule {
  ports?: { port: number }[];
  from?: object[];
  to?: object[];
}

/** Throws saying what is wrong with it, by the schemas of Kubernetes' own OpenAPI document. */
const validate = (document: Document): void => {
  const Model = models[document.kind];
  new Model(document as never).validate();
};

const services = readServices();
const platform = readPlatform();
// As they are read from the files: what YAML can't say is not in them.
const render = (of: Platform) =>
  Object.entries(folders(services, of)).flatMap(([folder, files]) =>
    Object.entries(files)
      .filter(([file]) => file !== 'kustomization.yaml')
      .flatMap(([, contents]) =>
        contents.map((document) => ({ folder, document: parse(stringify(document)) as Document })),
      ),
  );
const documents = render(platform);
const named = documents.map(
  ({ folder, document }) => [`${folder}: ${document.kind} ${document.metadata.name}`, document] as const,
);
const pods = documents.flatMap(({ document: { metadata, spec } }) =>
  spec?.template ? [{ name: metadata.name, pod: spec.template.spec }] : [],
);

describe('the manifests', () => {
  test.each(named)('%s is valid', (_name, document) => {
    expect(() => validate(document)).not.toThrow();
  });

  test('are validated: a wrong one is rejected', () => {
    const found = documents.find(({ document }) => document.kind === 'Deployment')?.document;
    const wrong = structuredClone(found) as unknown as { spec: Record<string, unknown> };
    wrong.spec['replicas'] = 'two';
    expect(() => validate(wrong as never)).toThrow(/replicas/);
  });

  test('exist for every service', () => {
    const all = readdirSync(join(root, 'services')).filter((name) => !name.startsWith('.'));
    expect(services.map(({ name }) => name).toSorted()).toEqual(all.toSorted());
    for (const { name, volume } of services) {
      const kinds = named.filter(([title]) => title.endsWith(` ${name}`)).map(([, { kind }]) => kind);
      expect(kinds.toSorted()).toEqual([
        ...(volume ? [] : ['Deployment', 'HorizontalPodAutoscaler']),
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        ...(volume ? ['StatefulSet'] : []),
      ]);
      expect(named.some(([title]) => title.startsWith(`migrations: Job ${name}-migrate-`))).toBe(true);
    }
  });
});

describe('the manifests', () => {
  const find = (title: string, from = documents): Document => {
    const found = from.find(({ document: { kind, metadata } }) => `${kind} ${metadata.name}` === title);
    if (found === undefined) throw new Error(`there is no ${title}`);
    return found.document;
  };
  const portsOf = ({ spec: { egress = [] } }: Document): number[] =>
    egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port));

  test('begin with the namespace, which admits no pod with more rights', () => {
    const [first] = documents;
    expect(first?.folder).toBe('namespace');
    expect(find('Namespace platform').metadata.labels).toEqual({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
  });

  test('never remove a replica that has a spool', () => {
    expect(find('StatefulSet store-webhooks').spec.replicas).toBe(3);
    expect(named.filter(([title]) => title.includes('HorizontalPodAutoscaler store-webhooks'))).toEqual([]);
  });

  test('mark migrations with their version, so that a rollout waits for its own', () => {
    const jobs = render({ ...platform, tag: '1.2.3' }).filter(({ document }) => document.kind === 'Job');
    expect(jobs).toHaveLength(services.length);
    for (const { document } of jobs)
      expect(document.metadata.labels).toMatchObject({ 'app.kubernetes.io/version': '1.2.3' });
    expect(readFileSync(join(root, 'docs/deploy.md'), 'utf8')).toContain('-l app.kubernetes.io/version=');
  });

  test('let pods reach the configured ports, and the DNS cache of their node', () => {
    const ports = { database: [6543], redis: [6390], identityProvider: [8443] };
    const rendered = render({ ...platform, ports });
    expect(portsOf(find('NetworkPolicy quest-service', rendered))).toEqual([53, 53, 6543, 6390, 8443, 4318]);
    expect(portsOf(find('NetworkPolicy quest-service-migrate', rendered))).toEqual([53, 53, 6543]);
    expect(find('NetworkPolicy gateway').spec.egress?.[0]?.to).toContainEqual({
      ipBlock: { cidr: '169.254.20.10/32' },
    });
  });

  test('trust no proxy by default, and admit only the ingress controller when it is named', () => {
    expect(platform.nginx.trustedProxies).toEqual([]);
    expect(find('NetworkPolicy gateway').spec.ingress?.[0]).not.toHaveProperty('from');
    const gateway = { ...platform.gateway, ingressNamespace: 'ingress-nginx' };
    expect(find('NetworkPolicy gateway', render({ ...platform, gateway })).spec.ingress?.[0]?.from).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } },
    ]);
  });

  test.each(['NodePort', 'LoadBalancer'] as const)(
    'keep the addresses of clients that reach the gateway by a %s',
    (serviceType) => {
      const gateway = { ...platform.gateway, serviceType };
      const { spec } = find('Service gateway', render({ ...platform, gateway }));
      expect(spec).toMatchObject({ type: serviceType, externalTrafficPolicy: 'Local' });
      expect(find('Service gateway').spec).not.toHaveProperty('externalTrafficPolicy');
    },
  );

  test('let Prometheus read the metrics of the gateway, and nobody else', () => {
    const [, metrics] = find('NetworkPolicy gateway').spec.ingress ?? [];
    expect(metrics).toEqual({
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [{ protocol: 'TCP', port: 9145 }],
    });
    const { template } = find('Deployment gateway').spec;
    expect(template).toMatchObject({
      metadata: { annotations: { 'prometheus.io/port': '9145', 'prometheus.io/scrape': 'true' } },
    });
    expect(template?.spec.containers.find(({ name }) => name === 'telemetry')?.ports).toEqual([
      { name: 'metrics', containerPort: 9145 },
    ]);
  });

  test('name the Secrets for the registry in every pod', () => {
    const rendered = render({ ...platform, imagePullSecrets: ['registry'] });
    const specs = rendered.flatMap(({ document: { spec } }) => (spec?.template ? [spec.template.spec] : []));
    expect(specs).toHaveLength(2 * services.length + 1);
    for (const spec of specs) expect(spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
  });

  test('give nginx the options of the values', () => {
    const nginx = { ...platform.nginx, rateLimit: { perSecond: 7, burst: 9 }, timeouts: { answer: 12_345 } };
    const config = JSON.stringify(find('ConfigMap gateway', render({ ...platform, nginx })));
    expect(config).toContain('rate=7r/s');
    expect(config).toContain('proxy_read_timeout 12345ms;');
  });
});

describe('with TLS and IPv6 the gateway', () => {
  const nginx = { ...platform.nginx, ipv6: true, tls: { redirectTo: 'https://api.example.test' } };
  const rendered = render({ ...platform, nginx }).map(({ document }) => document);
  const find = (kind: string) => rendered.find((one) => one.kind === kind && one.metadata.name === 'gateway');
  const pod = find('Deployment')?.spec.template?.spec;

  test('is valid, and reads the certificate from the Secret gateway-tls', () => {
    for (const document of rendered) expect(() => validate(document)).not.toThrow();
    expect(pod?.volumes).toContainEqual({
      name: 'tls',
      secret: { secretName: 'gateway-tls', defaultMode: 0o440 },
    });
    const [mount] = pod?.containers[0]?.volumeMounts?.filter(({ name }) => name === 'tls') ?? [];
    expect(mount?.mountPath).toBe('/etc/gateway-tls');
    expect(JSON.stringify(find('ConfigMap'))).toContain(
      String.raw`ssl_certificate \"/etc/gateway-tls/tls.crt\";`,
    );
  });

  test('can be reached on 80 and 443 by both address families', () => {
    expect(find('Service')?.spec).toMatchObject({
      ipFamilyPolicy: 'PreferDualStack',
      ports: [
        { port: 80, targetPort: 'http' },
        { port: 443, targetPort: 'https' },
      ],
    });
    expect(pod?.containers[0]?.ports).toEqual([
      { name: 'http', containerPort: 8080 },
      { name: 'https', containerPort: 8443 },
    ]);
    expect(find('NetworkPolicy')?.spec.ingress?.[0]?.ports?.map(({ port }) => port)).toEqual([8080, 8443]);
    const config = JSON.stringify(find('ConfigMap'));
    for (const at of ['*:8080', '[::]:8080', '*:8443 ssl http2', '[::]:8443 ssl http2'])
      expect(config).toContain(`listen ${at} default_server;`);
  });
});

describe('a pod', () => {
  test.each(pods)('of $name has no right that it does not need', ({ pod }) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext, resources } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources).toMatchObject({
        requests: { cpu: expect.anything(), memory: expect.anything() },
        limits: { memory: expect.anything() },
      });
    }
  });

  test.each(services)('of $name reads its secrets from files', ({ name, secrets }) => {
    const [container] = pods.find((candidate) => candidate.name === name)?.pod.containers ?? [];
    const env = new Map(container?.env?.map((variable) => [variable.name, variable]));
    for (const secret of secrets) {
      expect(env.get(`${secret}_FILE`)?.value).toBe(`/run/secrets/platform/${secret}`);
      expect(env.has(secret)).toBe(false);
    }
    expect(env.has('MIGRATION_DATABASE_URL_FILE')).toBe(false);
    expect(container).toMatchObject({ readinessProbe: expect.anything(), livenessProbe: expect.anything() });
  });

  test.each(services)(
    'of $name drains until no more requests arrive, and is not killed before it has ended',
    ({ name }) => {
      const pod = pods.find((candidate) => candidate.name === name)?.pod;
      const [container] = pod?.containers ?? [];
      const ms = (variable: string): number =>
        Number(container?.env?.find((one) => one.name === variable)?.value);
      const { periodSeconds = 0, failureThreshold = 0 } = container?.readinessProbe ?? {};
      expect(ms('DRAIN_MS')).toBeGreaterThan(periodSeconds * failureThreshold * 1_000);
      expect(ms('SHUTDOWN_TIMEOUT_MS')).toBeGreaterThanOrEqual(ms('DRAIN_MS') + 9_000);
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(ms('SHUTDOWN_TIMEOUT_MS') / 1_000);
    },
  );

  test.each(services)('of $name knows whose tokens open the operations page', ({ name }) => {
    const [container] = pods.find((candidate) => candidate.name === name)?.pod.containers ?? [];
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: 'AUTH_JWKS', value: platform.auth.jwks },
        { name: 'AUTH_ISSUER', value: platform.auth.issuer },
        { name: 'AUTH_AUDIENCE', value: platform.auth.audience },
      ]),
    );
  });

  test.each(services)('of $name sets nothing that the service does not know', ({ name }) => {
    const [container] = pods.find((candidate) => candidate.name === name)?.pod.containers ?? [];
    const known = settingsOf(name);
    for (const variable of container?.env ?? []) expect(known).toContain(variable.name.replace(/_FILE$/, ''));
  });
});

/** Connections of each replica for readiness and metrics. */
const probes = 1;

test('all replicas at once, and one more of each while it is rolled out, fit into the connections', () => {
  const wanted = services.map(({ replicas, pool, connectionsBesidePool }) =>
    connectionShare(replicas.max, pool + connectionsBesidePool + probes),
  );
  expect(wanted.reduce((sum, some) => sum + some, 0)).toBeLessThanOrEqual(platform.connections);
});

test.each(services)('docs/deploy.md has the sizes of $name', ({ name, replicas, resources, ...service }) => {
  const page = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith(`| ${name} `) && line.includes(' Mi'));
  const cells = row?.split('|').map((cell) => cell.trim());
  const memory = [resources.memory, resources.memoryLimit].map((size) => size.replace('Mi', ' Mi'));
  expect(cells?.[3]).toBe(memory.join(', '));
  const { min, max } = replicas;
  expect(cells?.[4]).toBe(min === max ? `${max}` : `${min}–${max}`);
  const connections = [service.pool, service.connectionsBesidePool].filter((count) => count > 0);
  expect(cells?.[5]).toBe(connections.join(' + '));
});

test('the gateway of the manifests knows every service by the name it has there', () => {
  const config = JSON.stringify(named.find(([title]) => title.endsWith('ConfigMap gateway'))?.[1]);
  for (const { name } of services) expect(config).toContain(`server ${name}:8080`);
});

test('a wrong setting is rejected by name', () => {
  const file = join(root, 'infra/deploy/compose.yaml');
  expect(() => readPlatform([file])).toThrow(/services/);
  expect(readFileSync(file, 'utf8')).toContain('services:');
});
