import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageOptions } from '@platform/gateway/options';
import { services as list } from '@platform/service-list';
import { connectionShare } from '@platform/service-kit/connection-share';
import { describe, expect, test } from 'vitest';
import { hasHelm, manifestsIn, renderChart, validateManifest, type Manifest } from '../src/chart.ts';
import { root } from './service.ts';
import { settingsOf, services, values } from './deployment.ts';

interface Container {
  name: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  ports?: object[];
  volumeMounts?: { name: string; mountPath: string }[];
  securityContext?: object;
  resources?: { requests?: object; limits?: object };
  readinessProbe?: { httpGet: { path: string }; periodSeconds: number; failureThreshold: number };
  livenessProbe?: object;
}
interface PodSpec {
  imagePullSecrets?: object[];
  volumes?: object[];
  initContainers?: Container[];
  containers: Container[];
  securityContext: object;
  terminationGracePeriodSeconds: number;
}
interface Rule {
  ports?: { port: number }[];
  from?: object[];
  to?: object[];
}
interface Document extends Manifest {
  spec: {
    template?: { spec: PodSpec };
    replicas?: number;
    activeDeadlineSeconds?: number;
    maxReplicas?: number;
    ports?: object[];
    ingress?: Rule[];
    egress?: Rule[];
  };
}

/** Renders the chart with changed values and optionally an example. */
const render = async (changed: Record<string, unknown> = {}, example?: string): Promise<Document[]> =>
  (await renderChart(changed, example)) as Document[];
const documents = hasHelm ? await render() : [];
const find = (title: string, from = documents): Document => {
  const document = from.find(({ kind, metadata }) => `${kind} ${metadata.name}` === title);
  if (document === undefined) throw new Error(`there is no ${title}`);
  return document;
};
const pods = documents.flatMap(({ metadata, spec }) =>
  spec.template ? [{ name: metadata.name, pod: spec.template.spec }] : [],
);
/** The options from which the init container of the gateway writes the nginx configuration. */
const nginxOptions = (from: Document[]): unknown => {
  const [configure] = find('Deployment gateway', from).spec.template?.spec.initContainers ?? [];
  expect(configure?.args?.slice(0, -1)).toEqual([
    'node',
    'src/render.ts',
    '--out',
    '/etc/gateway',
    '--options',
  ]);
  return JSON.parse(configure?.args?.at(-1) ?? '');
};
/** Every nginx option of the chart. */
const everyOption = {
  trustedProxies: ['10.0.0.0/8'],
  corsOrigins: ['https://app.example.com'],
  portal: 'internal',
  requestLog: 'failures',
  connectionsPerClient: 9,
  rateLimit: { perSecond: 7, burst: 9 },
  timeouts: { header: 1, body: 2, send: 3, keepAlive: 4, connect: 5, answer: 12_345 },
  signIn: {
    issuer: 'https://id.example.test/',
    clientId: 'operations',
    scope: 'openid offline_access',
    resource: 'urn:platform',
  },
  ipv6: true,
  tls: { redirectTo: 'https://api.example.test' },
};

describe.runIf(hasHelm)('the chart', () => {
  test('renders manifests for every service', () => {
    expect(services.map(({ name }) => name)).toEqual(list.map(({ name }) => name));
    for (const { name, volume } of services) {
      const kinds = documents.filter(({ metadata }) => metadata.name === name).map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual([
        ...(volume ? [] : ['Deployment', 'HorizontalPodAutoscaler']),
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        ...(volume ? ['StatefulSet'] : []),
      ]);
      expect(find(`Job ${name}-migrate-latest`)).toBeDefined();
    }
  });

  test('renders valid manifests, and the validation names the invalid field of an invalid one', async () => {
    for (const document of documents) await validateManifest(document);
    const invalid = structuredClone(find('Deployment quest-service')) as unknown as {
      spec: Record<string, unknown>;
    };
    invalid.spec['replicas'] = 'two';
    await expect(validateManifest(invalid as never)).rejects.toThrow(/replicas/);
  });

  test('can deploy only some services, and the gateway has only these', async () => {
    const others = Object.keys(values.services).filter((name) => name !== 'quest-service');
    const some = await render({ services: Object.fromEntries(others.map((name) => [name, null])) });
    expect(some.filter(({ kind }) => kind === 'Job')).toHaveLength(1);
    expect(nginxOptions(some)).toMatchObject({ services: ['quest-service'] });
  });

  test.each([
    ['an unknown value', { registryy: 'x' }, /registryy/],
    ['an unknown option of nginx', { nginx: { burst: 1 } }, /burst/],
    ['a number of replicas that is a text', { gateway: { replicas: { min: 'two' } } }, /min/],
    ['a service without a pool', { services: { 'quest-service': { pool: null } } }, /pool/],
    ['a signature with a shared secret', { auth: { algorithms: ['HS256'] } }, /algorithms/],
    ['a role without scopes', { auth: { roles: { claim: 'groups', scopes: { a: '' } } } }, /scopes/],
    [
      'a sign-in whose tokens no service accepts',
      { nginx: { signIn: { issuer: 'https://other.example.test/', clientId: 'operations' } } },
      /only tokens of auth.issuer/,
    ],
    [
      'an audience that ID tokens of the sign-in have',
      { nginx: { signIn: { issuer: 'https://id.example.test/', clientId: 'platform' } } },
      /a separate application/,
    ],
    ['replicas for which PostgreSQL has no connections', { connections: 400 }, /need \d+ connections/],
  ])('rejects %s', async (_case, changed, message) => {
    await expect(render(changed)).rejects.toThrow(message);
  });

  test('can set a separate version for a service and for the gateway', async () => {
    const manifests = await render({
      tag: '1.0.0',
      gateway: { tag: '1.2.0' },
      services: { 'quest-service': { tag: '1.1.0' } },
    });
    const images = [...JSON.stringify(manifests).matchAll(/"image":"[^"]+\/([^"/]+)"/g)].map(
      ([, image = '']) => image,
    );
    expect(new Set(images)).toEqual(
      new Set([
        'quest-service:1.1.0',
        'gateway:1.2.0',
        'gateway-config:1.2.0',
        'gateway-telemetry:1.2.0',
        ...list.flatMap(({ name }) => (name === 'quest-service' ? [] : [`${name}:1.0.0`])),
      ]),
    );
    const jobs = manifests.filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name);
    expect(jobs).toContain('quest-service-migrate-1-1-0');
  });

  test('runs the migrations once for each version, before an installation or upgrade', async () => {
    const jobs = (await render({ tag: 'V1.2_3' })).filter(({ kind }) => kind === 'Job');
    expect(jobs.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      services.map(({ name }) => `${name}-migrate-v1-2-3`).toSorted(),
    );
    for (const { metadata } of jobs) {
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/version': 'V1.2_3' });
      expect(metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
    }
  });

  test('creates the network policy of a migration before its job, also under Argo CD, which orders hooks by weight', () => {
    const weightOf = ({ metadata }: Document) => Number(metadata.annotations?.['helm.sh/hook-weight'] ?? 0);
    for (const { name } of services) {
      const [policy, job] = [find(`NetworkPolicy ${name}-migrate`), find(`Job ${name}-migrate-latest`)];
      expect(policy.metadata.annotations?.['helm.sh/hook']).toBe(job.metadata.annotations?.['helm.sh/hook']);
      expect(weightOf(policy)).toBeLessThan(weightOf(job));
    }
  });

  test('limits migrations to less time than the Helm timeout in the guide', () => {
    const guide = readFileSync(join(root, 'docs/deploy.md'), 'utf8');
    const timeouts = [...guide.matchAll(/timeout:? (\d+)m\b/g)].map(([, minutes]) => 60 * Number(minutes));
    expect(timeouts).toHaveLength(2);
    for (const { spec } of documents.filter(({ kind }) => kind === 'Job'))
      for (const timeout of timeouts) expect(spec.activeDeadlineSeconds).toBeLessThan(timeout);
  });

  test('keeps all services ready when their database is slow', () => {
    const workloads = documents.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
    const probes = workloads.flatMap(({ metadata, spec }) =>
      (spec.template?.spec.containers ?? [])
        .filter(({ name }) => name === 'service')
        .map(({ readinessProbe }) => [metadata.name, readinessProbe?.httpGet.path]),
    );
    const expected = services.map(({ name }) => [name, '/readyz?exclude=database']);
    expect(Object.fromEntries(probes)).toEqual(Object.fromEntries(expected));
  });

  test('has a fixed number of replicas for a service with a spool', () => {
    expect(find('StatefulSet store-webhooks').spec.replicas).toBe(3);
    expect(() => find('HorizontalPodAutoscaler store-webhooks')).toThrow('there is no');
  });
});

describe.runIf(hasHelm)('the network', () => {
  const portsOf = ({ spec: { egress = [] } }: Document): number[] =>
    egress.flatMap(({ ports = [] }) => ports.map(({ port }) => port));

  test('lets pods reach the configured ports, and the DNS cache of their node', async () => {
    const ports = { database: [6543], redis: [6390], identityProvider: [8443] };
    const rendered = await render({ ports });
    expect(portsOf(find('NetworkPolicy quest-service', rendered))).toEqual([
      53, 53, 6543, 6390, 8443, 443, 465, 587, 4318,
    ]);
    expect(portsOf(find('NetworkPolicy quest-service-migrate', rendered))).toEqual([53, 53, 6543]);
    expect(find('NetworkPolicy gateway').spec.egress?.[0]?.to).toContainEqual({
      ipBlock: { cidr: '169.254.20.10/32' },
    });
  });

  test('lets services reach the collector only at the port of its address, and no collector if none is set', async () => {
    const collector = 'https://collector.test';
    expect(portsOf(find('NetworkPolicy quest-service', await render({ collector })))).toContain(443);
    const outside = await render({ collector, collectorNetworks: ['203.0.113.0/24'] });
    for (const name of ['quest-service', 'gateway-telemetry'])
      expect(find(`NetworkPolicy ${name}`, outside).spec.egress).toContainEqual({
        to: [{ namespaceSelector: {} }, { ipBlock: { cidr: '203.0.113.0/24' } }],
        ports: [{ protocol: 'TCP', port: 443 }],
      });
    const untraced = find('NetworkPolicy quest-service', await render({ collector: null }));
    expect(portsOf(untraced)).toEqual([53, 53, 5432, 6432, 6379, 443, 465, 587]);
  });

  test('lets services reach the Prometheus of the operations page', async () => {
    const rendered = await render({ prometheus: 'http://prometheus.monitoring.svc:9090' });
    expect(portsOf(find('NetworkPolicy quest-service', rendered))).toContain(9090);
    const [container] = find('Deployment quest-service', rendered).spec.template?.spec.containers ?? [];
    expect(container?.env).toContainEqual({
      name: 'PROMETHEUS_URL',
      value: 'http://prometheus.monitoring.svc:9090',
    });
  });

  test('trusts no proxy by default, and admits only the ingress controller if its namespace is set', async () => {
    expect(values.nginx.trustedProxies).toEqual([]);
    expect(find('NetworkPolicy gateway').spec.ingress?.[0]).not.toHaveProperty('from');
    const rendered = await render({ gateway: { ingressNamespace: 'ingress-nginx' } });
    expect(find('NetworkPolicy gateway', rendered).spec.ingress?.[0]?.from).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } },
    ]);
  });

  test.each(['NodePort', 'LoadBalancer'])(
    'preserves client addresses with a Service of type %s',
    async (serviceType) => {
      const { spec } = find('Service gateway', await render({ gateway: { serviceType } }));
      expect(spec).toMatchObject({ type: serviceType, externalTrafficPolicy: 'Local' });
      expect(find('Service gateway').spec).not.toHaveProperty('externalTrafficPolicy');
    },
  );

  test('lets only Prometheus read the metrics of the gateway', () => {
    const [, metrics] = find('NetworkPolicy gateway').spec.ingress ?? [];
    expect(metrics).toEqual({
      from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
      ports: [8082, 9146].map((port) => ({ protocol: 'TCP', port })),
    });
    for (const [pod, port] of [
      ['gateway', '9146'],
      ['gateway-telemetry', '9145'],
    ])
      expect(find(`Deployment ${pod}`).spec.template).toMatchObject({
        metadata: { annotations: { 'prometheus.io/port': port, 'prometheus.io/scrape': 'true' } },
      });
  });

  test('runs gateway-telemetry in a separate pod, to which only the gateway may send datagrams', () => {
    expect(find('Deployment gateway').spec.template?.spec.containers).toHaveLength(1);
    expect(find('NetworkPolicy gateway-telemetry').spec.ingress?.[0]).toEqual({
      from: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'gateway' } } }],
      ports: [{ protocol: 'UDP', port: 9145 }],
    });
    expect(find('NetworkPolicy gateway').spec.egress).toContainEqual({
      to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'gateway-telemetry' } } }],
      ports: [{ protocol: 'UDP', port: 9145 }],
    });
  });

  test('gives the gateway the addresses of all ready pods of a service', () => {
    for (const { name } of services)
      expect(find(`Service ${name}`).spec).toMatchObject({ clusterIP: 'None' });
  });

  test('annotates each service with an address for probes', () => {
    for (const { name, deploy } of list)
      expect(find(`Service ${name}`).metadata.annotations).toEqual({ 'prometheus.io/probe': deploy.probe });
    expect(find('Service gateway').metadata.annotations).toEqual({ 'prometheus.io/probe': '/healthz' });
  });
});

describe.runIf(hasHelm)('the gateway', () => {
  const mountsOf = (container?: Container): string[] =>
    container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];

  test('is configured from the nginx options and the list of services', () => {
    const options = nginxOptions(documents);
    expect(options).toMatchObject({
      services: services.map(({ name }) => name).toSorted(),
      domain: 'default.svc.cluster.local',
    });
    expect(() => imageOptions(options)).not.toThrow();
    const pod = find('Deployment gateway').spec.template?.spec;
    expect(mountsOf(pod?.initContainers?.[0])).toEqual(['/etc/gateway']);
    expect(mountsOf(pod?.containers[0])).toContain('/etc/gateway');
  });

  test('accepts every nginx option as a plain value', async () => {
    const options = nginxOptions(await render({ nginx: everyOption }));
    expect(options).toMatchObject(everyOption);
    expect(() => imageOptions(options)).not.toThrow();
    const schema = JSON.parse(readFileSync(join(root, 'infra/deploy/chart/values.schema.json'), 'utf8')) as {
      properties: { nginx: { properties: object } };
    };
    expect(Object.keys(schema.properties.nginx.properties).toSorted()).toEqual(
      Object.keys(everyOption).toSorted(),
    );
  });

  test.each([
    ['off', [8080]],
    ['internal', [8080, 8082]],
    ['public', [8080]],
  ])('with a portal that is %s admits clients to the ports %j', async (portal, ports) => {
    const rendered = await render({ nginx: { portal } });
    const [clients] = find('NetworkPolicy gateway', rendered).spec.ingress ?? [];
    expect(clients?.ports?.map(({ port }) => port)).toEqual(ports);
    expect(nginxOptions(rendered)).toMatchObject({ portal });
    // The published Service has no port for the internal portal.
    expect(find('Service gateway', rendered).spec.ports).toEqual([
      { name: 'http', port: 8080, targetPort: 'http' },
    ]);
  });

  test('can terminate TLS with the Secret gateway-tls, on 80 and 443 of both address families', async () => {
    const rendered = await render({ nginx: everyOption });
    for (const document of rendered) await validateManifest(document);
    const pod = find('Deployment gateway', rendered).spec.template?.spec;
    expect(pod?.volumes).toContainEqual({
      name: 'tls',
      secret: { secretName: 'gateway-tls', defaultMode: 0o440 },
    });
    expect(mountsOf(pod?.containers[0])).toContain('/etc/gateway-tls');
    expect(pod?.containers[0]?.ports).toEqual([
      { name: 'http', containerPort: 8080 },
      { name: 'inner', containerPort: 8082 },
      { name: 'metrics', containerPort: 9146 },
      { name: 'https', containerPort: 8443 },
    ]);
    expect(find('Service gateway', rendered).spec).toMatchObject({
      ipFamilyPolicy: 'PreferDualStack',
      ports: [
        { port: 80, targetPort: 'http' },
        { port: 443, targetPort: 'https' },
      ],
    });
    const [clients] = find('NetworkPolicy gateway', rendered).spec.ingress ?? [];
    expect(clients?.ports?.map(({ port }) => port)).toEqual([8080, 8443, 8082]);
  });
});

describe.runIf(hasHelm)('a pod', () => {
  test.each(pods)('of $name has only the rights that it needs', ({ pod }) => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext, resources } of [...(pod.initContainers ?? []), ...pod.containers]) {
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

  test('uses the Secrets for the registry', async () => {
    const specs = (await render({ imagePullSecrets: ['registry'] })).flatMap(({ spec }) =>
      spec.template ? [spec.template.spec] : [],
    );
    expect(specs).toHaveLength(2 * services.length + 2);
    for (const spec of specs) expect(spec.imagePullSecrets).toEqual([{ name: 'registry' }]);
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
    'of $name drains until no more requests arrive, and is not killed before its shutdown ends',
    ({ name }) => {
      const pod = pods.find((candidate) => candidate.name === name)?.pod;
      const [container] = pod?.containers ?? [];
      const ms = (variable: string): number =>
        Number(container?.env?.find(({ name }) => name === variable)?.value);
      const { periodSeconds = 0, failureThreshold = 0 } = container?.readinessProbe ?? {};
      expect(ms('DRAIN_MS')).toBeGreaterThan(periodSeconds * failureThreshold * 1_000);
      expect(ms('SHUTDOWN_TIMEOUT_MS')).toBeGreaterThanOrEqual(ms('DRAIN_MS') + 9_000);
      expect(pod?.terminationGracePeriodSeconds).toBeGreaterThan(ms('SHUTDOWN_TIMEOUT_MS') / 1_000);
    },
  );

  test.each(services)('of $name gets the settings for access tokens of the identity provider', ({ name }) => {
    const [container] = pods.find((candidate) => candidate.name === name)?.pod.containers ?? [];
    expect(container?.env).toEqual(
      expect.arrayContaining([
        { name: 'AUTH_JWKS', value: values.auth.jwks },
        { name: 'AUTH_ISSUER', value: values.auth.issuer },
        { name: 'AUTH_AUDIENCE', value: values.auth.audience },
        { name: 'AUTH_ALGORITHMS', value: 'EdDSA' },
      ]),
    );
  });

  test('gets the algorithms and roles of the provider in the expected format', async () => {
    const roles = { claim: 'groups', scopes: { 'on call': 'ops:read stores:read', admin: 'wallet:admin' } };
    const rendered = await render({ auth: { algorithms: ['RS256', 'ES256'], roles } });
    const [container] = find('Deployment quest-service', rendered).spec.template?.spec?.containers ?? [];
    const valueOf = (variable: string) => container?.env?.find(({ name }) => name === variable)?.value;
    expect(valueOf('AUTH_ALGORITHMS')).toBe('RS256,ES256');
    expect(JSON.parse(valueOf('AUTH_ROLES') ?? '')).toEqual(roles);
  });

  test.each(services)('of $name sets only variables that the service reads', ({ name }) => {
    const [container] = pods.find((candidate) => candidate.name === name)?.pod.containers ?? [];
    const known = settingsOf(name);
    for (const variable of container?.env ?? []) expect(known).toContain(variable.name.replace(/_FILE$/, ''));
  });
});

/** Connections of all replicas and one more per service during a rollout; each replica has one for readiness and metrics. */
const countConnections = (rendered: Document[]): number => {
  const probes = 1;
  return services.reduce((sum, { name, pool, connectionsBesidePool }) => {
    const limits = rendered
      .filter(({ metadata }) => metadata.name === name)
      .map(({ spec }) => spec.maxReplicas ?? spec.replicas ?? 0);
    return sum + connectionShare(Math.max(...limits), pool + connectionsBesidePool + probes);
  }, 0);
};

describe.runIf(hasHelm)('an upgrade', () => {
  // It stops a pod of a StatefulSet before it starts the new one: seen on a cluster, 28 s of refused webhooks with one replica.
  test.each([undefined, 'small', 'large'])(
    'leaves a replica of each StatefulSet (example: %s)',
    async (example) => {
      const sets = (await render({}, example)).filter(({ kind }) => kind === 'StatefulSet');
      expect(sets.map(({ metadata }) => metadata.name)).toEqual(['store-webhooks']);
      for (const { spec } of sets) expect(spec.replicas).toBeGreaterThan(1);
    },
  );
});

describe.runIf(hasHelm)('the connections of PostgreSQL', () => {
  test('are enough for all replicas and for one more of each service during a rollout', () => {
    expect(countConnections(documents)).toBeLessThanOrEqual(values.connections);
  });

  test.each([
    ['small', 250],
    ['large', 1_200],
  ])('are enough in the example %s', async (example, maxConnections) => {
    expect(countConnections(await render({}, example))).toBeLessThan(maxConnections);
    const text = readFileSync(join(root, `infra/deploy/examples/${example}.yaml`), 'utf8');
    expect(text).toContain(`max_connections of ${maxConnections.toLocaleString('en')}`);
  });
});

describe('the examples', () => {
  const read = (name: string): Record<string, unknown>[] =>
    manifestsIn(readFileSync(join(root, 'infra/deploy/examples', `${name}.yaml`), 'utf8')) as never;

  test('contain a Secret with every needed value, and only placeholders', () => {
    const examples = read('secrets') as {
      metadata: { name: string };
      stringData: Record<string, string>;
    }[];
    const keys = Object.fromEntries(
      examples.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]),
    );
    for (const { name, secrets } of services) {
      expect(keys[name]).toEqual(expect.arrayContaining(secrets));
      expect(keys[`${name}-owner`]).toEqual(['MIGRATION_DATABASE_URL']);
    }
    expect(keys['gateway']).toEqual(['GATEWAY_SECRET']);
    for (const { stringData } of examples)
      for (const value of Object.values(stringData)) expect(value).toContain('REPLACE');
    // A JWK without quotes would be a YAML mapping, which the API server rejects.
    const placeholders = new Map(examples.map(({ metadata, stringData }) => [metadata.name, stringData]));
    for (const { name, keys: variables } of list)
      for (const variable of variables)
        expect(JSON.parse(placeholders.get(name)?.[variable] ?? '')).toMatchObject({
          kty: 'OKP',
          crv: 'Ed25519',
        });
  });

  test('contain an Ingress with TLS and cert-manager that routes to the gateway', () => {
    const [ingress] = read('ingress');
    expect(ingress).toMatchObject({
      metadata: { annotations: { 'cert-manager.io/cluster-issuer': expect.any(String) } },
      spec: {
        tls: [{ hosts: ['api.example.test'] }],
        rules: [{ http: { paths: [{ backend: { service: { name: 'gateway', port: { name: 'http' } } } }] } }],
      },
    });
  });

  test('contain a PostgreSQL that is valid for CloudNativePG and commits only with a standby', async () => {
    const [cluster] = read('cloudnativepg') as { spec: Record<string, unknown> }[];
    await validateManifest(cluster as never);
    expect(cluster?.spec).toMatchObject({
      instances: 3,
      postgresql: { synchronous: { number: 1, dataDurability: 'required' } },
    });
    const wrong = { ...cluster, spec: { ...cluster?.spec, instances: 'three' } };
    await expect(validateManifest(wrong as never)).rejects.toThrow('instances');
  });
});
