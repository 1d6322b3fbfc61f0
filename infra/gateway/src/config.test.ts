import { describe, expect, test } from 'vitest';
import { renderConfig } from './config.ts';
import type { GatewayOptions } from './options.ts';

const sound: GatewayOptions = {
  listen: '127.0.0.1:8080',
  upstreams: { 'quest-service': '127.0.0.1:4102' },
  runDir: '/srv/gateway run/x',
  logDir: '/srv/logs',
};

const allText = (options: GatewayOptions): string => Object.values(renderConfig(options)).join('\n');

describe('the configuration', () => {
  test('writes only into the folders of its options', () => {
    const text = allText({ ...sound, docsDir: '/srv/docs' });
    const written = [
      ...text.matchAll(
        /^\s*(?:\w+_path|pid|lock_file|error_log|access_log|alias) (?<path>(?!off).+?)(?: (?:error|emerg|(?:short|traced|long) .*))?;$/gm,
      ),
    ];
    expect(written.length).toBeGreaterThanOrEqual(10);
    for (const { groups } of written)
      expect(groups?.['path']).toMatch(/^"\/srv\/(?:gateway run\/x|logs|docs)\/.*"$/);
  });

  test('never excludes the only server of a service', () => {
    expect(allText(sound)).toContain('server 127.0.0.1:4102 max_fails=0;');
  });

  test('looks single names up again when there is a name server', () => {
    const upstreams = {
      'quest-service': 'quests.internal:80',
      consignments: '10.0.0.1:80',
      'task-manager': ['a:1', 'b:2'],
    };
    const text = allText({ ...sound, upstreams, resolver: '127.0.0.11 valid=5s' });
    expect(text).toContain('set $place quests.internal:80;');
    expect(text).not.toContain('upstream quest-service');
    expect(text).toContain('upstream consignments');
    expect(text).toContain('upstream task-manager');
  });

  test('listens on every address of its options', () => {
    const text = allText({ ...sound, listen: ['*:80', '[::1]:8080'] });
    expect(text).toContain('listen *:80 default_server;');
    expect(text).toContain('listen [::1]:8080 default_server;');
  });

  test('ignores an upstream without a route', () => {
    expect(allText({ ...sound, upstreams: { ...sound.upstreams, inner: '127.0.0.1:9' } })).toBe(
      allText(sound),
    );
  });
});

const tls = { listen: '127.0.0.1:8443', certificate: '/tls/tls.crt', key: '/tls/tls.key' };

describe('options that would make another configuration', () => {
  test.each<[string, Partial<GatewayOptions>]>([
    ['listen', { listen: '8080' }],
    ['listen', { listen: [] }],
    ['listen', { listen: '127.0.0.1:0' }],
    ['listen', { listen: '127.0.0.1:80 ssl' }],
    ['the upstream of quest-service', { upstreams: { 'quest-service': '127.0.0.1:1;return 200' } }],
    ['the upstream of quest-service', { upstreams: { 'quest-service': ['a:1', 'b'] } }],
    ['the upstream of quest-service', { upstreams: { 'quest-service': 'a:65536' } }],
    ['runDir', { runDir: 'run' }],
    ['runDir', { runDir: '/a"b' }],
    ['logDir', { logDir: '/a$b' }],
    ['docsDir', { docsDir: '/a\nb' }],
    ['requestLog', { requestLog: 'some' as 'all' }],
    ['demoServer', { demoServer: 'demo' }],
    ['listen', { demoServer: 'a:1', listen: ['127.0.0.1:80', '*:8080'] }],
    ['listen', { demoServer: 'a:1', listen: '10.0.0.1:8080' }],
    ['listen', { demoServer: 'a:1', listen: 'localhost.example:8080' }],
    ['secretFile', { secretFile: 'secret.conf' }],
    ['connectionsPerClient', { connectionsPerClient: 0 }],
    ['listen', { demoServer: 'a:1', tls: { ...tls, listen: '*:8443' } }],
    ['listen', { tls: { ...tls, listen: '8443' } }],
    ['tls.certificate', { tls: { ...tls, certificate: 'tls.crt' } }],
    ['tls.key', { tls: { ...tls, key: '/a;b' } }],
    ['tls.redirectTo', { tls: { ...tls, redirectTo: 'http://a.test' } }],
    ['tls.redirectTo', { tls: { ...tls, redirectTo: 'https://a.test/;return 200' } }],
    ['resolver', { resolver: '1.1.1.1; x' }],
    ['trustedProxies', { trustedProxies: ['everyone'] }],
    ['trustedProxies', { trustedProxies: ['10.0.0.0/33'] }],
    ...['*', 'null', 'https://a.test/', 'https://a.test";'].map(
      (origin): [string, Partial<GatewayOptions>] => ['corsOrigins', { corsOrigins: [origin] }],
    ),
    ['user', { user: 'a;b' }],
    ['telemetry', { telemetry: 'a:1,facility=x' }],
    ['workers', { workers: 0 }],
    ['rateLimit', { rateLimit: { perSecond: 0.5, burst: 1 } }],
    ['timeouts.body', { timeouts: { body: -1 } }],
  ])('%s is refused by name (%j)', (name, wrong) => {
    expect(() => renderConfig({ ...sound, ...wrong })).toThrow(`${name} is `);
  });

  test('are all named at once', () => {
    expect(() => renderConfig({ ...sound, listen: 'x', runDir: 'y' })).toThrow(/listen is .*\n.*runDir is /s);
  });
});

test('every location states its limit and has no answer that comes before it', () => {
  const listen = '127.0.0.1:8080';
  const upstreams = { 'quest-service': 'quests:80' };
  for (const options of [
    { upstreams },
    { upstreams, docsDir: '/docs', tls: { ...tls, redirectTo: 'https://a.test' } },
    { upstreams: {}, docsDir: '/docs', demoServer: '127.0.0.1:1', resolver: '1.1.1.1' },
  ]) {
    const text = renderConfig({ listen, runDir: '/run', ...options })['server.conf'] ?? '';
    const locations = [...text.matchAll(/^location (?<address>[^\n]+) \{\n(?<content>[^]*?)^\}/gm)];
    expect(locations.length).toBeGreaterThan(30);
    for (const { groups } of locations) {
      const { address = '', content = '' } = groups ?? {};
      if (address.startsWith('@')) continue;
      expect(content, address).toMatch(
        /^ {4}limit_conn (?:connections|probes) \d+;\n {4}limit_conn (?:probing_)?sites \d+;$/m,
      );
      expect(content, address).not.toContain('return');
    }
    expect(text.replaceAll(/^location[^]*?^\}/gm, '')).not.toContain('return');
  }
});
