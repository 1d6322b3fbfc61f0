import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { Secret } from 'kubernetes-models/v1/Secret';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { folders, yamlOf } from '../src/kubernetes/folders.ts';
import { readPlatform, readServices, root } from '../src/values.ts';

const committed = join(root, 'infra/deploy/kubernetes');
const read = (file: string): string => readFileSync(join(committed, file), 'utf8');
const services = readServices();
const rendered = folders(services, readPlatform());

test('the committed base is what render writes: after a change, run render again (infra/deploy/kubernetes/README.md)', () => {
  const files = Object.fromEntries(
    Object.entries(rendered).flatMap(([folder, contents]) =>
      Object.entries(contents).map(([file, documents]) => [join(folder, file), yamlOf(documents)]),
    ),
  );
  const found = readdirSync(join(committed, 'base'), { recursive: true, encoding: 'utf8' });
  expect(found.filter((file) => file.endsWith('.yaml')).toSorted()).toEqual(Object.keys(files).toSorted());
  for (const [file, text] of Object.entries(files))
    expect([file, read(`base/${file}`)]).toEqual([file, text]);
});

interface Operation {
  op: string;
  path: string;
  value: unknown;
}
interface Overlay {
  resources: string[];
  patches: { target: { kind: string }; patch: string }[];
}

/** Applies one operation of a JSON patch, of the kind that the overlays use. */
const replaceAt = (document: unknown, { op, path, value }: Operation): void => {
  expect(op).toBe('replace');
  const names = path.slice(1).split('/');
  const last = names.pop() ?? '';
  const parent = names.reduce<Record<string, unknown>>(
    (at, name) => at[name] as Record<string, unknown>,
    document as Record<string, unknown>,
  );
  expect(parent).toHaveProperty(last);
  parent[last] = value;
};

const models = { Deployment, HorizontalPodAutoscaler, StatefulSet };

describe.each([
  ['small', 200],
  ['large', 1_200],
])('the overlay %s', (name, maxConnections) => {
  const overlay = parse(read(`overlays/${name}/kustomization.yaml`)) as Overlay;
  const documents = Object.entries(rendered['services'] ?? {})
    .filter(([file]) => file !== 'kustomization.yaml')
    .flatMap(([, contents]) => structuredClone(contents));
  for (const { target, patch } of overlay.patches)
    for (const document of documents.filter(({ kind }) => target.kind.split('|').includes(kind)))
      for (const operation of parse(patch) as Operation[]) replaceAt(document, operation);

  test('changes what is in the base, into valid manifests', () => {
    expect(overlay.resources).toEqual(['../../base/services']);
    const patched = documents.filter(({ kind }) => kind in models);
    expect(patched).toHaveLength(2 * services.length + 1);
    for (const document of patched) {
      const Model = models[document.kind as keyof typeof models] as typeof Deployment;
      expect(() => new Model(document as never).validate()).not.toThrow();
    }
  });

  test(`needs at most ${maxConnections} connections, as its README says`, () => {
    const replicas = (service: string): number => {
      const of = documents.filter(({ metadata }) => metadata?.name === service) as unknown as {
        spec: { replicas?: number; maxReplicas?: number };
      }[];
      return Math.max(...of.map(({ spec }) => spec.maxReplicas ?? spec.replicas ?? 0));
    };
    const wanted = services.map(
      ({ name: service, pool, connectionsBesidePool }) =>
        (replicas(service) + 1) * (pool + connectionsBesidePool + 1),
    );
    expect(wanted.reduce((sum, some) => sum + some, 0)).toBeLessThan(maxConnections);
    expect(read('README.md')).toContain(`\`max_connections\` ${maxConnections.toLocaleString('en')}`);
  });
});

const documentsOf = (file: string): Record<string, unknown>[] =>
  parseAllDocuments(read(file)).map((document) => document.toJS() as Record<string, unknown>);

describe('the examples', () => {
  test('have a Secret with every value that is read, and no working value', () => {
    const secrets = documentsOf('examples/secrets.yaml') as {
      metadata: { name: string };
      stringData: Record<string, string>;
    }[];
    const keys = Object.fromEntries(
      secrets.map(({ metadata, stringData }) => [metadata.name, Object.keys(stringData)]),
    );
    for (const { name, secrets: wanted } of services) {
      expect(keys[name]).toEqual(expect.arrayContaining(wanted));
      expect(keys[`${name}-owner`]).toEqual(['MIGRATION_DATABASE_URL']);
    }
    expect(keys['gateway']).toEqual(['GATEWAY_SECRET']);
    for (const secret of secrets) {
      expect(() => new Secret(secret as never).validate()).not.toThrow();
      for (const value of Object.values(secret.stringData)) expect(value).toContain('REPLACE');
    }
  });

  test('have a valid Ingress with TLS, a certificate from cert-manager, and the gateway behind it', () => {
    const [ingress] = documentsOf('examples/ingress.yaml');
    expect(() => new Ingress(ingress as never).validate()).not.toThrow();
    expect(ingress).toMatchObject({
      metadata: { annotations: { 'cert-manager.io/cluster-issuer': expect.any(String) } },
      spec: {
        tls: [{ hosts: ['api.example.test'] }],
        rules: [{ http: { paths: [{ backend: { service: { name: 'gateway', port: { name: 'http' } } } }] } }],
      },
    });
  });
});
