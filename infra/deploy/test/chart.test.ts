import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { chartFiles } from '../src/chart.ts';
import { folders, yamlOf } from '../src/kubernetes/folders.ts';
import { readPlatform, readServices, root, type Platform } from '../src/values.ts';
import { hasHelm, run } from './helm.ts';

interface Document {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  spec?: { template?: { metadata?: { annotations?: Record<string, string> } } };
}

const chart = join(root, 'infra/deploy/chart');
const services = readServices();
const platform = readPlatform();

const documentsOf = (text: string): Document[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() as Document | null) ?? []);

/** Manifests by kind and name, without what must differ: hooks of Helm and of Argo CD, and the digest of the configuration. */
const byName = (documents: readonly Document[]): Record<string, Document> =>
  Object.fromEntries(
    documents.map((document) => {
      const { annotations: _hooks, ...metadata } = document.metadata;
      const annotations = document.spec?.template?.metadata?.annotations;
      if (annotations && 'platform/config' in annotations) annotations['platform/config'] = 'digest';
      return [`${document.kind} ${metadata.name}`, { ...document, metadata }];
    }),
  );

const rendered = (of: Platform): Record<string, Document> => {
  const { migrations = {}, services: running = {} } = folders(services, of);
  return byName(
    Object.entries({ ...migrations, 'services.yaml': Object.values(running).flat() })
      .filter(([file]) => file !== 'kustomization.yaml')
      .flatMap(([, documents]) => documentsOf(yamlOf(documents)))
      .filter(({ kind }) => kind !== 'Kustomization'),
  );
};

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
};
const newFile = (name: string, text: string): string => {
  const file = join(newFolder(), name);
  writeFileSync(file, text);
  return file;
};
/** What helm makes of the chart, or of the one in another folder, with some values. */
const template = async (values: object, folder = chart): Promise<Record<string, Document>> =>
  byName(
    documentsOf(
      await run('helm', 'template', 'platform', folder, '-f', newFile('v.yaml', stringify(values))),
    ),
  );

test.each(Object.entries(chartFiles(services, platform)))(
  '%s of the chart is what render writes: after a change, run render again (infra/deploy/kubernetes/README.md)',
  (name, text) => {
    expect(readFileSync(join(chart, name), 'utf8')).toBe(text);
  },
);

const { nginx: _nginx, ...changed } = {
  ...platform,
  registry: 'other.test/p',
  tag: 'V1.2_3',
  imagePullSecrets: ['registry'],
  collector: 'https://collector.test',
  traceRatio: 1,
  ports: { database: [6543], redis: [443], identityProvider: [443] },
  gateway: { ...platform.gateway, serviceType: 'LoadBalancer' as const, ingressNamespace: 'ingress-nginx' },
};
const { collector: _collector, ...untraced } = platform;

describe.runIf(hasHelm)('helm makes of the chart the same manifests as render', () => {
  test('with the default values', async () => {
    const expected = rendered(platform);
    expect(Object.keys(expected).length).toBeGreaterThan(40);
    expect(await template({})).toEqual(expected);
  });

  test('with other values', async () => {
    const { namespace: _namespace, connections: _connections, ...values } = changed;
    expect(await template(values)).toEqual(rendered({ ...changed, nginx: platform.nginx }));
  });

  test('without a collector', async () => {
    expect(await template({ collector: null })).toEqual(rendered(untraced));
  });

  test('with TLS and IPv6 listeners in the configuration of nginx', async () => {
    const nginx = { ...platform.nginx, ipv6: true, tls: { redirectTo: 'https://api.example.test' } };
    const folder = join(newFolder(), 'chart');
    cpSync(chart, folder, { recursive: true });
    for (const [name, text] of Object.entries(chartFiles(services, { ...platform, nginx })))
      writeFileSync(join(folder, name), text);
    expect(await template({}, folder)).toEqual(rendered({ ...platform, nginx }));
  });

  test('and runs the migrations before an installation or an upgrade', async () => {
    const text = await run('helm', 'template', 'platform', chart);
    const jobs = documentsOf(text).filter(({ kind }) => kind === 'Job');
    expect(jobs).toHaveLength(services.length);
    for (const { metadata } of jobs)
      expect(metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' });
  });

  test.each([
    ['an unknown value', { registryy: 'x' }],
    ['TLS as a value, without a listener in the configuration of nginx', { tls: true }],
    ['a number of replicas that is a text', { gateway: { replicas: { min: 'two' } } }],
    ['a service without a pool', { services: { 'quest-service': { pool: null } } }],
  ])('and rejects %s', async (_what, values) => {
    await expect(template(values)).rejects.toThrow(/values don't meet the specifications/);
  });

  test('and lint finds no fault', async () => {
    expect(await run('helm', 'lint', chart)).toContain('0 chart(s) failed');
  });
});

describe.runIf(hasHelm)('kubectl kustomize', () => {
  test.each(['small', 'large'])('accepts the overlay %s', async (name) => {
    const folder = join(root, 'infra/deploy/kubernetes');
    const documents = documentsOf(await run('kubectl', 'kustomize', join(folder, 'overlays', name)));
    const overlay = parse(
      readFileSync(join(folder, 'overlays', name, 'kustomization.yaml'), 'utf8'),
    ) as object;
    expect(overlay).toHaveProperty('patches');
    const autoscalers = documents.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    expect(autoscalers).toHaveLength(services.length);
    for (const { spec } of autoscalers)
      expect(spec).toMatchObject({ maxReplicas: name === 'small' ? 2 : 12 });
  });
});
