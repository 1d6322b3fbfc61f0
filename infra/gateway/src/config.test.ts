import { describe, expect, test } from 'vitest';
import { renderConfig } from './config.ts';
import { imageOptions, type GatewayOptions } from './options.ts';

const validOptions: GatewayOptions = {
  listen: '127.0.0.1:8080',
  upstreams: { 'quest-service': '127.0.0.1:4102' },
  logDir: '/srv/logs',
};

const renderText = (options: GatewayOptions): string => Object.values(renderConfig(options)).join('\n');

describe('the configuration', () => {
  test('writes only into the prefix of nginx and the folder of its logs', () => {
    const text = renderText(validOptions);
    const directives = [
      ...text.matchAll(
        /^\s*(?:\w+_path|pid|lock_file|error_log|access_log) (?<path>(?!off).+?)(?: (?:error|emerg|(?:short|traced|long) .*))?;$/gm,
      ),
    ];
    expect(directives.length).toBeGreaterThanOrEqual(10);
    for (const { groups } of directives) expect(groups?.['path']).toMatch(/^(?:[\w.]+|"\/srv\/logs\/.*")$/);
  });

  test('never excludes a service that has only one server', () => {
    expect(renderText(validOptions)).toContain('server 127.0.0.1:4102 max_fails=0;');
  });

  test('differs only in upstreams and settings when names are looked up again', () => {
    const upstreams = { 'quest-service': ['a:1', 'b:2'], consignments: ['c:3', 'd:4'] };
    const fixed = renderConfig({ ...validOptions, upstreams });
    const resolving = renderConfig({ ...validOptions, upstreams, resolverFile: '/run/resolver.conf' });
    expect(resolving['upstreams.conf']?.replaceAll(' resolve', '')).toBe(fixed['upstreams.conf']);
    expect(resolving['settings.conf']).toContain('include "/run/resolver.conf";');
    const different = Object.keys(fixed).filter((name) => fixed[name] !== resolving[name]);
    expect(different.toSorted()).toEqual(['settings.conf', 'upstreams.conf']);
  });

  test('excludes failing servers, but never all of a service, and none because a streamed request fails', () => {
    const text = renderText({ ...validOptions, upstreams: { consignments: ['c:3', 'd:4'] } });
    const [, servers] = /upstream consignments \{([^}]*)\}/.exec(text) ?? [];
    for (const line of ['server c:3;', 'server c:3 max_fails=0 backup;', 'least_conn;'])
      expect(servers).toContain(line);
    const [, streams] = /upstream consignments-streams \{([^}]*)\}/.exec(text) ?? [];
    expect(streams).not.toMatch(/server [^ ]+;/);
    expect(text).toMatch(
      /location = \/v1\/consignments\/import \{[^}]*proxy_pass http:\/\/consignments-streams;/,
    );
  });

  test('listens on every address of its options', () => {
    const text = renderText({ ...validOptions, listen: ['*:80', '[::1]:8080'] });
    expect(text).toContain('listen *:80 default_server sndbuf=256k;');
    expect(text).toContain('listen [::1]:8080 default_server sndbuf=256k;');
  });

  test('ignores an upstream without a route', () => {
    expect(
      renderText({ ...validOptions, upstreams: { ...validOptions.upstreams, inner: '127.0.0.1:9' } }),
    ).toBe(renderText(validOptions));
  });
});

const tls = { listen: '127.0.0.1:8443', certificate: '/tls/tls.crt', key: '/tls/tls.key' };

describe('invalid options', () => {
  test.each<[string, Partial<GatewayOptions>]>([
    ['listen', { listen: '8080' }],
    ['listen', { listen: [] }],
    ['listen', { listen: '127.0.0.1:0' }],
    ['listen', { listen: '127.0.0.1:80 ssl' }],
    ['upstreams["quest-service"]', { upstreams: { 'quest-service': '127.0.0.1:1;return 200' } }],
    ['upstreams["quest-service"]', { upstreams: { 'quest-service': ['a:1', 'b'] } }],
    ['upstreams["quest-service"]', { upstreams: { 'quest-service': 'a:65536' } }],
    ['logDir', { logDir: 'log' }],
    ['logDir', { logDir: '/a"b' }],
    ['logDir', { logDir: '/a$b' }],
    ['docsDir', { docsDir: '/a\nb' }],
    ['innerListen', { innerListen: '8082' }],
    ['portal', { portal: 'off' as 'public' }],
    ['requestLog', { requestLog: 'some' as 'all' }],
    ...[
      'http://id.example.test',
      'https://id.example.test;script-src *',
      'https://*',
      "https://id.example.test/'",
      'https://ann@id.example.test',
      'https://id.example.test/?a=$host',
      'javascript:alert(1)',
      'http://127.0.0.1.example.test',
    ].map((issuer): [string, Partial<GatewayOptions>] => [
      'signIn.issuer',
      { signIn: { issuer, clientId: 'operations' } },
    ]),
    ...["a'b", 'a"b', String.raw`a\b`, 'a$b', 'a\nb', ''].map(
      (clientId): [string, Partial<GatewayOptions>] => [
        'signIn.clientId',
        { signIn: { issuer: 'https://id.example.test', clientId } },
      ],
    ),
    ['signIn.scope', { signIn: { issuer: 'https://id.example.test', clientId: 'a', scope: "a';}" } }],
    ['signIn.resource', { signIn: { issuer: 'https://id.example.test', clientId: 'a', resource: '' } }],
    ['demoServer', { demoServer: 'demo' }],
    ['listen', { demoServer: 'a:1', listen: ['127.0.0.1:80', '*:8080'] }],
    ['listen', { demoServer: 'a:1', listen: '10.0.0.1:8080' }],
    ['listen', { demoServer: 'a:1', listen: 'localhost.example:8080' }],
    ['secretFile', { secretFile: 'secret.conf' }],
    ['connectionsPerClient', { connectionsPerClient: 0 }],
    ['listen', { demoServer: 'a:1', tls: { ...tls, listen: '*:8443' } }],
    ['tls.listen', { tls: { ...tls, listen: '8443' } }],
    ['tls.certificate', { tls: { ...tls, certificate: 'tls.crt' } }],
    ['tls.key', { tls: { ...tls, key: '/a;b' } }],
    ['tls.redirectTo', { tls: { ...tls, redirectTo: 'http://a.test' } }],
    ['tls.redirectTo', { tls: { ...tls, redirectTo: 'https://a.test/;return 200' } }],
    ['resolverFile', { resolverFile: 'resolver.conf' }],
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
  ])('the error names %s (%j)', (name, invalid) => {
    expect(() => renderConfig({ ...validOptions, ...invalid })).toThrow(`→ at ${name}`);
  });

  test('are all named in one error', () => {
    expect(() => renderConfig({ ...validOptions, listen: 'x', logDir: 'y' })).toThrow(/logDir[^]*listen/);
  });
});

test('no location responds before its limits are checked, and only three locations have limits of their own', () => {
  const listen = '127.0.0.1:8080';
  const upstreams = { 'quest-service': 'quests:80' };
  for (const options of [
    { upstreams },
    { upstreams, docsDir: '/docs', tls: { ...tls, redirectTo: 'https://a.test' } },
    { upstreams: {}, docsDir: '/docs', demoServer: '127.0.0.1:1', resolverFile: '/run/resolver.conf' },
  ]) {
    const files = renderConfig({ listen, ...options });
    const text = ['server.conf', 'gateway-responses.conf', 'portal.conf'].map((name) => files[name]).join('');
    const locations = [...text.matchAll(/^location (?<address>[^\n]+) \{\n(?<content>[^]*?)^\}/gm)];
    expect(locations.length).toBeGreaterThan(30);
    const limited = locations.filter(({ groups }) => groups?.['content']?.includes('limit_conn'));
    expect(limited.map(({ groups }) => groups?.['address'] ?? '').toSorted()).toEqual([
      '/api/v1/hooks',
      '/callback',
      '= /healthz',
    ]);
    const responding = locations.filter(({ groups }) => groups?.['content']?.includes('return'));
    for (const { groups } of responding) expect(groups?.['address']).toMatch(/^@/);
    const outside = text.replaceAll(/^location[^]*?^\}/gm, '').replaceAll(/^#.*$/gm, '');
    expect(outside).toContain('limit_conn connections 256;\nlimit_conn sites 1024;\n');
    expect(outside).not.toContain('return');
  }
});

describe('the options of a gateway in its image', () => {
  const services = ['quest-service', 'consignments'];

  test('use the name of every service as its host, and listen on both address families and for TLS if chosen', () => {
    const text = renderText(
      imageOptions({
        services,
        ipv6: true,
        tls: { redirectTo: 'https://api.example.test' },
      }),
    );
    expect(text).toContain('server quest-service:8080 resolve;');
    for (const address of ['*:8080', '[::]:8080', '*:8443 ssl http2', '[::]:8443 ssl http2'])
      expect(text).toContain(`listen ${address} default_server sndbuf=256k;`);
    expect(text).toContain('ssl_certificate "/etc/gateway-tls/tls.crt";');
    expect(text).toContain('return 308 https://api.example.test$request_uri;');
    expect(text).toContain('syslog:server=gateway-telemetry:9145');
  });

  test('add the domain to the host names of services', () => {
    const text = renderText(imageOptions({ services, domain: 'platform.svc.cluster.local' }));
    expect(text).toContain('server consignments.platform.svc.cluster.local:8080 resolve;');
  });

  test('serve the portal in an inner network, at all addresses or nowhere', () => {
    const portalLocations = (portal?: 'off' | 'internal' | 'public') => {
      const text = renderText(imageOptions({ services, ...(portal && { portal }) }));
      expect(text).toContain('listen *:8082 default_server sndbuf=256k;');
      const [, ports] = /map \$server_port \$has_portal \{\n([^}]*)\}/.exec(text) ?? [];
      return [text.includes('location /docs/'), ports?.trim().split(/\s*\n\s*/)];
    };
    expect(portalLocations()).toEqual(portalLocations('internal'));
    expect(portalLocations('internal')).toEqual([true, ['default 0;', '8082 1;']]);
    expect(portalLocations('public')).toEqual([true, ['default 1;']]);
    expect(portalLocations('off')[0]).toBe(false);
  });

  test('include the rate limit and the timeouts of nginx', () => {
    const nginx = { rateLimit: { perSecond: 7, burst: 9 }, timeouts: { answer: 12_345 } };
    const text = renderText(imageOptions({ services, ...nginx }));
    expect(text).toContain('rate=7r/s');
    expect(text).toContain('proxy_read_timeout 12345ms;');
    expect(text).toContain('client_body_timeout 10000ms;');
  });

  test.each([{ timeout: { answer: 1 } }, { demoServer: '127.0.0.1:1' }, { tls: true }])(
    'are rejected if they are unknown or invalid: %j',
    (invalid) => {
      expect(() => imageOptions({ services, ...invalid })).toThrow(Object.keys(invalid)[0]);
    },
  );
});
